"""`headway worker`: drive the runs that wait, several at once, until told to stop."""

import logging
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import click

from headway.agent.crew import Crew
from headway.agent.working import Bounds, Means, Worker
from headway.application.runs import Held
from headway.bootstrap import crew_for, model_named, open_work
from headway.cli.engine_options import Asked, engine_options, with_engine
from headway.cli.opening import told
from headway.cli.options import examples, exit_words
from headway.cli.refusing import Refusal
from headway.cli.run_lines import line_of
from headway.cli.safe_text import one_line
from headway.cli.terminal import remark
from headway.config import Settings, process_settings
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent
from headway.sealing import keep_to_itself

NAME_CHARACTERS: Final = 13  # task_ and enough of the rest to name a run
LOG_FORMAT: Final = "%(levelname)s %(name)s: %(message)s"
STDIN: Final = 0
READ_BYTES: Final = 4_096


@click.command(
    "worker",
    epilog=examples(
        "headway worker",
        "headway worker --runs 8 --per-workspace 2",
        "headway worker --until-idle",
    )
    + "\n\n"
    + exit_words(
        (0, "told to stop, and stopped; or idle"),
        (1, "not started: the reason and the remedy stand on stderr"),
        (2, "not called rightly"),
    ),
)
@click.option(
    "--runs", type=click.IntRange(1), help="Runs at once in this worker; HEADWAY_WORKER_RUNS, or 3."
)
@click.option(
    "--per-workspace",
    type=click.IntRange(1),
    help="Runs at once in one workspace, of all workers; HEADWAY_WORKSPACE_RUNS_MAX, or any.",
)
@click.option("--until-idle", is_flag=True, help="End when there is nothing to claim.")
@engine_options
@click.option("--until-stdin-ends", is_flag=True, hidden=True)
def command(
    runs: int | None,
    per_workspace: int | None,
    *,
    engine: Asked,
    until_idle: bool,
    until_stdin_ends: bool,
) -> None:
    """Claim and drive the runs that wait, the highest priority first, and those that stalled.

    Start as many as you like, on as many machines as reach the store: each run is driven by one.
    Told to stop (SIGTERM, Ctrl-C) it claims nothing more and lets the turns under way end, for
    HEADWAY_GRACE_SECONDS at most; then, or when told again, it hands its runs back, and other
    workers go on with them at once. HEADWAY_RUNS_MAX bounds the runs of all workers together.
    """
    with told(Refusal):
        settings = with_engine(process_settings(), engine)
        settings = replace(
            settings,
            worker_runs=runs or settings.worker_runs,
            workspace_runs_max=per_workspace or settings.workspace_runs_max,
        )
        logging.basicConfig(stream=sys.stderr, level=settings.log_level.upper(), format=LOG_FORMAT)
        keep_to_itself()
        anyio.run(_work, settings, until_idle, until_stdin_ends)


async def _work(settings: Settings, until_idle: bool, until_stdin_ends: bool) -> None:  # noqa: FBT001 - `anyio.run` passes no names
    with open_work(settings) as (runs, bell):

        def crew(held: Held) -> Crew:
            submitted = held.conversation.submitted
            assert submitted is not None
            return crew_for(
                settings, runs, held, model_named(settings, submitted.model, Path.cwd())
            )

        bounds = Bounds(
            here=settings.worker_runs,
            per_workspace=settings.workspace_runs_max,
            in_all=settings.runs_max,
        )
        worker = Worker(
            Means(
                runs=runs,
                bell=bell,
                crew=crew,
                say=_say,
                tell=_tell,
                bounds=bounds,
                grace_seconds=settings.grace_seconds,
            )
        )
        async with anyio.create_task_group() as beside:
            beside.start_soon(_heed_signals, worker, settings.grace_seconds)
            if until_stdin_ends:
                beside.start_soon(_heed_stdin, worker)
            await worker.run(until_idle=until_idle)
            beside.cancel_scope.cancel()


async def _heed_signals(worker: Worker, grace_seconds: int) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            if worker.drains:
                worker.stop()
                continue
            if worker.driven:
                _say(
                    None,
                    f"Stops. Turns under way ({worker.driven}) may end, for {grace_seconds} s at "
                    "most; told again, it hands its runs back at once.",
                )
            worker.drain()


async def _heed_stdin(worker: Worker) -> None:
    """Drain when whoever started this is gone, however it went: then the pipe is closed."""
    while True:
        await anyio.wait_readable(STDIN)
        if not os.read(STDIN, READ_BYTES):
            worker.drain()
            return


def _tell(run: RunId, now: Conversation, event: RunEvent) -> None:
    line = line_of(now, event)
    if line is not None:
        _say(run, line)


def _say(run: RunId | None, text: str) -> None:
    name = "worker" if run is None else run[:NAME_CHARACTERS]
    remark(f"{name}: {one_line(text)}")

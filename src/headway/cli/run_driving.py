"""Driving a run in the foreground: its progress on stderr, how it ended on stdout."""

import signal
from pathlib import Path

import anyio
import click

from headway.agent.crew import Crew
from headway.agent.driving import drive
from headway.application.claim_run import claim_run
from headway.application.end_run import end_run
from headway.application.hand_back_run import hand_back_run
from headway.application.runs import Held, Runs
from headway.application.show_run import show_run
from headway.bootstrap import crew_for, model_named
from headway.cli.options import print_json
from headway.cli.refusing import Refusal, envelope
from headway.cli.run_drawing import end_lines
from headway.cli.run_exits import EXIT_CODES, EXIT_ELSEWHERE, EXIT_STOPPED
from headway.cli.run_lines import line_of
from headway.cli.run_progress import REDRAWN_SECONDS, Progress
from headway.cli.stop_signals import StopSignals
from headway.cli.terminal import output_style, remark
from headway.cli.user_name import user_name
from headway.config import Settings
from headway.domain.errors import Fault
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent, RunSubmitted
from headway.domain.runs.outcomes import Outcome, Paused, kind_of
from headway.ports.models import Model
from headway.ports.queue import LeaseLost
from headway.sealing import keep_to_itself

__all__ = ["EXIT_STOPPED", "claimed", "drive_here", "model_of"]


def claimed(runs: Runs, run: RunId) -> Held:
    """Return a run that this process holds now. Raises Refusal when somebody else does."""
    held = claim_run(runs, run)
    if held is None:
        raise Refusal(
            envelope(
                f"The run {run} is not to be had: another worker has it, or it has ended.",
                f"Look with: headway runs show {run}",
            )
        )
    return held


def model_of(settings: Settings, runs: Runs, run: RunId) -> Model:
    """Return the model that a run was submitted with. Raises InvalidInput."""
    submitted = runs.queue.scan(run)[0].event
    assert isinstance(submitted, RunSubmitted)
    return model_named(settings, submitted.model, Path.cwd())


def drive_here(  # noqa: PLR0913 - what a run is driven with
    settings: Settings,
    runs: Runs,
    held: Held,
    model: Model,
    signals: StopSignals,
    *,
    as_json: bool = False,
) -> int:
    """Drive a run with lines on stderr, its end on stdout; return the exit code.

    `signals` are held since before the run was claimed.
    """
    keep_to_itself()
    progress = Progress(settings.environment, held.conversation)
    if held.conversation.recovered:
        line = f"{held.run} recovered by another worker (claim {held.fence})"
        progress.show(held.conversation, line)
    crew = crew_for(settings, runs, held, model)
    try:
        outcome = anyio.run(_until_stopped, runs, held, crew, progress, signals)
    finally:
        progress.clear()
    stopped = None if outcome else signals.received
    if outcome is None:
        remark(_let_go(runs, held, stopped, user_name(settings)) if stopped else _lost(held))
    shown = show_run(runs, held.run)
    if as_json:
        print_json(shown)
    elif outcome is not None:
        for line in end_lines(shown, output_style(settings.environment)):
            click.echo(line)
    if outcome is None:
        return EXIT_STOPPED if stopped else EXIT_ELSEWHERE
    return EXIT_CODES[kind_of(outcome)]


def _lost(held: Held) -> str:
    return f"Another worker has the run {held.run}."


def _let_go(runs: Runs, held: Held, stopped: signal.Signals, user: str) -> str:
    """Let go of a run as its user wants, and say so.

    Ctrl-C is a person who wants it to stop: it rests. SIGTERM is a machine that wants this process
    to end: any worker goes on with the run.
    """
    try:
        if stopped == signal.SIGINT:
            end_run(runs, held, Paused(by=user))
            return f"Stopped. Go on with: headway runs resume {held.run}"
        hand_back_run(runs, held)
    except LeaseLost:
        return _lost(held)
    return f"Stopped. A worker goes on with it, or: headway runs resume {held.run}"


async def _until_stopped(
    runs: Runs, held: Held, crew: Crew, progress: Progress, signals: StopSignals
) -> Outcome | None:
    """Drive, and give up at a signal: the turn is left as it is recorded, and tools are ended.

    Return None when it was given up, and when another worker has the run.
    """
    if signals.received:
        return None
    outcome: Outcome | None = None
    failure: Fault | None = None

    def tell(now: Conversation, event: RunEvent) -> None:
        progress.show(now, line_of(now, event))

    async with anyio.create_task_group() as group:

        async def watch() -> None:
            await signals.wait()
            group.cancel_scope.cancel()

        async def redraw() -> None:
            while True:
                progress.draw()
                await anyio.sleep(REDRAWN_SECONDS)

        group.start_soon(watch)
        group.start_soon(redraw)
        try:
            outcome = await drive(runs, held, crew, tell)
        except Fault as fault:  # out of the group, as itself
            failure = fault
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return outcome

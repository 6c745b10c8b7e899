"""Driving a run in the foreground: its lines, and the exit code that says how it ended."""

import signal
from collections.abc import Mapping
from typing import Final

import anyio
import click

from headway.agent.crew import Crew
from headway.agent.driving import drive
from headway.agent.journal import Teller
from headway.application.claim_run import claim_run
from headway.application.runs import Held, Runs
from headway.bootstrap import crew_for
from headway.cli.refusing import Refusal, envelope
from headway.cli.run_lines import line_of, spent_line
from headway.config import Settings
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent
from headway.domain.runs.outcomes import Outcome, OutcomeKind, in_words, kind_of
from headway.ports.models import Model

EXIT_CODES: Final[Mapping[OutcomeKind, int]] = {
    "success": 0,
    "error": 1,
    "timeout": 3,
    "stuck": 4,
    "paused": 5,
    "parked": 6,
    "cancelled": 7,
}
EXIT_ELSEWHERE: Final = 8  # another worker has the run
EXIT_STOPPED: Final = 130

EXIT_WORDS: Final = "\b\nExit codes:\n" + "\n".join(
    f"  {code:<4} {words}"
    for code, words in (
        (0, "the run succeeded"),
        (1, "it failed, or could not be begun"),
        (2, "it was not called rightly"),
        (3, "a limit ended it"),
        (4, "it was stuck"),
        (5, "it is paused at a limit: headway runs resume"),
        (6, "it waits at a gate: headway gates"),
        (7, "it was aborted"),
        (8, "another worker has it"),
        (130, "stopped by Ctrl-C or SIGTERM; headway runs resume goes on"),
    )
)


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


def drive_here(settings: Settings, runs: Runs, held: Held, model: Model) -> int:
    """Drive a run with lines on stderr, its end on stdout; return the exit code."""
    if held.conversation.claims > 1:
        click.echo(f"{held.run} recovered by another worker (claim {held.fence})", err=True)
    seen = [held.conversation]

    def tell(now: Conversation, event: RunEvent) -> None:
        seen[0] = now
        line = line_of(now, event)
        if line is not None:
            click.echo(line, err=True)

    crew = crew_for(settings, runs, held, model)
    stopped, outcome = anyio.run(_until_stopped, runs, held, crew, tell)
    if stopped:
        click.echo(f"Stopped. Go on with: headway runs resume {held.run}", err=True)
        return EXIT_STOPPED
    if outcome is None:
        click.echo(f"Another worker has the run {held.run}.", err=True)
        return EXIT_ELSEWHERE
    click.echo(spent_line(seen[0]), err=True)
    click.echo(f"The run {held.run} {in_words(outcome)}.")
    return EXIT_CODES[kind_of(outcome)]


async def _until_stopped(
    runs: Runs, held: Held, crew: Crew, tell: Teller
) -> tuple[bool, Outcome | None]:
    """Drive, and give up at a signal: the turn is left as it is recorded, and tools are ended."""
    outcome: Outcome | None = None
    stopped = False
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            nonlocal stopped
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                async for _ in signals:
                    stopped = True
                    group.cancel_scope.cancel()

        group.start_soon(watch)
        outcome = await drive(runs, held, crew, tell)
        group.cancel_scope.cancel()
    return stopped, outcome

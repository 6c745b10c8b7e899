"""What a run is asked for with, the same for `headway run` and `headway dispatch`."""

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, TypeVar

import click
import msgspec

from headway.application.checking_limits import Grant
from headway.application.submit_run import SubmitRun
from headway.cli.completing import complete_workflow
from headway.cli.listed import A_MODEL, A_WORKFLOW
from headway.domain.errors import InvalidInput
from headway.domain.runs.limits import Limits
from headway.domain.starting import GOAL_BYTES_MAX
from headway.domain.values import Value

F = TypeVar("F", bound=Callable[..., object])
MILLIONTHS: Final = 1_000_000
SECONDS_A_MINUTE: Final = 60
STDIN: Final = "-"

_OPTIONS: Final = (
    click.argument("workflow", type=A_WORKFLOW, shell_complete=complete_workflow),
    click.option("--goal", metavar="TEXT", help="What is to be done."),
    click.option(
        "--goal-file",
        metavar="FILE",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="A file that says what is to be done; - is stdin.",
    ),
    click.option(
        "--model",
        type=A_MODEL,
        required=True,
        metavar="PROVIDER:NAME",
        help="Which model does it.",
    ),
    click.option(
        "--workspace",
        default=".",
        metavar="FOLDER",
        type=click.Path(exists=True, file_okay=False),
        help="The repository to work on; by default the one here.",
    ),
    click.option(
        "--turns", type=int, default=Limits().turns, show_default=True, help="Turns at most."
    ),
    click.option("--tokens", type=int, help="Tokens at most, read without a cache and written."),
    click.option("--budget", type=float, metavar="DOLLARS", help="Money at most."),
    click.option(
        "--minutes", type=float, default=60, show_default=True, help="Time at work at most."
    ),
    click.option(
        "--on-limit",
        type=click.Choice(["park", "end"]),
        default="park",
        show_default=True,
        help="At a limit, or while its model cannot be asked, the run is paused and can be "
        "resumed, or it ends.",
    ),
    click.option(
        "--stuck",
        type=click.Choice(["abort", "notify"]),
        default="abort",
        show_default=True,
        help="A run that does not get on ends, or says so and goes on.",
    ),
    click.option("--in-place", is_flag=True, help="Work in the folder itself, without a worktree."),
)
_GRANTS: Final = (
    click.option("--turns", type=int, help="So many turns more."),
    click.option("--tokens", type=int, help="So many tokens more."),
    click.option("--budget", type=float, metavar="DOLLARS", help="So much money more."),
    click.option("--minutes", type=float, help="So much time at work more."),
)


class _Given(Value):
    workflow: str
    model: str
    workspace: str
    on_limit: Literal["park", "end"]
    stuck: Literal["abort", "notify"]
    in_place: bool
    turns: int
    minutes: float
    goal: str | None = None
    goal_file: str | None = None
    tokens: int | None = None
    budget: float | None = None


def run_options(command: F) -> F:
    """Add the options; `asked` reads them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def grant_options(command: F) -> F:
    """Add the options that say how much more a run may spend; `granted` reads them."""
    for option in reversed(_GRANTS):
        command = option(command)
    return command


def asked(given: Mapping[str, object]) -> SubmitRun:
    """Return the request that a command line makes. Raises UsageError and InvalidInput."""
    read = msgspec.convert(dict(given), _Given)
    return SubmitRun(
        workflow_id=read.workflow,
        workspace=str(Path(read.workspace).resolve()),
        goal=_goal(read),
        model=read.model,
        limits=Limits(
            turns=read.turns,
            tokens=read.tokens,
            money=_money(read.budget),
            seconds=_seconds(read.minutes),
            policy=read.on_limit,
        ),
        in_place=read.in_place,
        stuck=read.stuck,
    )


def granted(given: Mapping[str, object]) -> Grant:
    """Return how much more a command line allows. Raises InvalidInput."""
    turns, tokens, budget, minutes = map(given.get, ("turns", "tokens", "budget", "minutes"))
    return Grant(
        turns=msgspec.convert(turns, int | None),
        tokens=msgspec.convert(tokens, int | None),
        money=_money(msgspec.convert(budget, float | None)),
        seconds=_seconds(msgspec.convert(minutes, float | None)),
    )


def _goal(read: _Given) -> str:
    if (read.goal is None) == (read.goal_file is None):
        raise click.UsageError("Say what is to be done with one of --goal and --goal-file.")
    if read.goal is not None:
        return read.goal
    assert read.goal_file is not None
    try:
        if read.goal_file == STDIN:
            data = sys.stdin.buffer.read(GOAL_BYTES_MAX + 1)
        else:
            with Path(read.goal_file).open("rb") as file:
                data = file.read(GOAL_BYTES_MAX + 1)
    except OSError as error:
        raise _no_goal(f"{read.goal_file} cannot be read ({error.strerror})") from error
    if len(data) > GOAL_BYTES_MAX:  # the verb would say the same of what was cut
        raise _no_goal(f"The goal in {read.goal_file} is longer than {GOAL_BYTES_MAX} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _no_goal(f"{read.goal_file} is not UTF-8 text") from error


def _no_goal(what: str) -> InvalidInput:
    return InvalidInput(
        f"{what}.",
        remedy="Name a file that says in a few sentences what is to be done.",
        details={"kind": "goal", "max": GOAL_BYTES_MAX},
    )


def _money(dollars: float | None) -> int | None:
    return None if dollars is None else _whole(dollars * MILLIONTHS, "a budget", dollars)


def _seconds(minutes: float | None) -> int | None:
    return None if minutes is None else _whole(minutes * SECONDS_A_MINUTE, "minutes", minutes)


def _whole(units: float, what: str, given: float) -> int:
    """Return a bound in whole units; what is above zero is at least one of them."""
    if not math.isfinite(units):
        raise InvalidInput(
            f"{given} is no number of {what} can have."
            if what == "minutes"
            else f"{given} is no amount that {what} can have.",
            remedy="Give a number above zero.",
            details={"kind": "limit"},
        )
    return max(1, round(units)) if units > 0 else math.floor(units)

"""What a run is asked for with, the same for `headway run` and `headway dispatch`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import click
import msgspec

from headway.application.submit_run import SubmitRun
from headway.domain.runs.limits import Limits
from headway.domain.values import Value

F = TypeVar("F", bound=Callable[..., object])
MILLIONTHS: Final = 1_000_000

_OPTIONS: Final = (
    click.argument("workflow"),
    click.option("--goal", required=True, metavar="TEXT", help="What is to be done."),
    click.option("--model", required=True, metavar="PROVIDER:NAME", help="Which model does it."),
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
    click.option("--budget", type=float, metavar="DOLLARS", help="Money at most."),
    click.option(
        "--minutes", type=int, default=60, show_default=True, help="Time at work at most."
    ),
    click.option("--in-place", is_flag=True, help="Work in the folder itself, without a worktree."),
)


class _Given(Value):
    workflow: str
    goal: str
    model: str
    workspace: str
    turns: int
    minutes: int
    in_place: bool
    budget: float | None = None


def run_options(command: F) -> F:
    """Add the options; `asked` reads them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asked(given: Mapping[str, object]) -> SubmitRun:
    """Return the request that a command line makes."""
    read = msgspec.convert(dict(given), _Given)
    money = None if read.budget is None else round(read.budget * MILLIONTHS)
    return SubmitRun(
        workflow_id=read.workflow,
        workspace=str(Path(read.workspace).resolve()),
        goal=read.goal,
        model=read.model,
        limits=Limits(turns=read.turns, money=money, seconds=read.minutes * 60),
        in_place=read.in_place,
    )

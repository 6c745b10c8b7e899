"""`headway worktrees`: the folders that runs work in, and those that can go."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from headway.application.clean_worktrees import clean_worktrees
from headway.application.list_worktrees import list_worktrees
from headway.application.read_patch import read_patch
from headway.application.requests import Reply
from headway.application.runs import Runs
from headway.bootstrap import open_runs, worktrees_of
from headway.cli.opening import told
from headway.cli.options import Grouped, examples, json_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.run_words import RUN
from headway.cli.terminal import output_style
from headway.config import process_settings
from headway.ports.worktrees import Worktrees

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
HOURS_MAX: Final = 48  # longer is told in days
HEADS: Final = ("run", "state", "idle", "ahead", "behind", "changed", "merged", "cleaning")


@click.group("worktrees", cls=Grouped)
def command() -> None:
    """See the worktrees of runs and remove those with which nothing would be lost."""


@command.command(
    "list",
    short_help="List the worktrees, with what they hold.",
    epilog=examples("headway worktrees list"),
)
@json_option
def list_command(*, as_json: bool) -> None:
    """List the worktrees, how long each has been left alone, and what keeps it from a cleaning.

    Ahead and behind are commits, changed are files with what is not committed.
    """
    with _opened() as (runs, worktrees):
        listed = list_worktrees(runs, worktrees)
    if as_json:
        print_json(listed)
    else:
        _print(listed)


@command.command(
    "status", short_help="Count the worktrees.", epilog=examples("headway worktrees status")
)
@json_option
def status_command(*, as_json: bool) -> None:
    """Count the worktrees: all, dirty, merged, and those that a cleaning would remove."""
    with _opened() as (runs, worktrees):
        rows = _rows(list_worktrees(runs, worktrees))
    counts: Reply = {
        "worktrees": len(rows),
        "dirty": sum(bool(row["dirty"]) for row in rows),
        "merged": sum(row["merged"] is True for row in rows),
        "troubled": sum(row["trouble"] is not None for row in rows),
        "cleanable": sum(row["keep"] is None for row in rows),
        "states": dict(Counter(str(row["state"]) for row in rows)),
    }
    if as_json:
        print_json(counts)
        return
    for name, count in counts.items():
        if isinstance(count, int):
            click.echo(f"{name:<10} {count}")


@command.command(
    "clean",
    short_help="Remove the worktrees that are not needed any more.",
    epilog=examples("headway worktrees clean", "headway worktrees clean --yes"),
)
@click.option("--yes", is_flag=True, help="Remove them; without it they are only named.")
@json_option
def clean_command(*, yes: bool, as_json: bool) -> None:
    """Remove the worktrees of runs that are over, where nothing would be lost.

    One stays that has commits neither merged nor pushed. What is not committed keeps it for a day
    after the last change; then it is saved with the run, and headway worktrees patch gives it back.
    A branch that is merged goes with its worktree. Ignored files go without a word.
    """
    with _opened() as (runs, worktrees):
        cleaned = clean_worktrees(runs, worktrees, remove=yes)
    if as_json:
        print_json(cleaned)
        return
    _print(cleaned)
    if not yes and any(row["keep"] is None for row in _rows(cleaned)):
        click.echo("Nothing was removed; --yes removes what is marked `can go`.")


@command.command(
    "patch",
    short_help="Print what was saved of a worktree.",
    epilog=examples("headway worktrees patch task_abc | git apply --index"),
)
@RUN
def patch_command(run: str) -> None:
    """Print what was not committed in the worktree of RUN when it was removed, as a patch."""
    with _opened() as (runs, _):
        patch = read_patch(runs, run)
    click.echo(patch, nl=False)


@contextmanager
def _opened() -> Iterator[tuple[Runs, Worktrees]]:
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            yield runs, worktrees_of(settings)


def _rows(told_of: Reply) -> list[Reply]:
    rows = told_of["worktrees"]
    assert isinstance(rows, list)
    return rows


def _print(told_of: Reply) -> None:
    rows = _rows(told_of)
    if not rows:
        click.echo("No run has a worktree.")
        return
    table = [HEADS, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    style = output_style(process_settings().environment)
    for number, row in enumerate(table):
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        line = "  ".join(cells).rstrip()
        click.echo(line if number else style.paint(line, "dim"))


def _cells(row: Reply) -> tuple[str, ...]:
    return (
        str(row["run"]),
        str(row["state"]),
        _age(int(str(row["idleMs"]))),
        *(str(row[name]) for name in ("ahead", "behind", "dirty")),
        "yes" if row["merged"] else "no",
        str(row["keep"] or _fate(row)),
    )


def _fate(row: Reply) -> str:
    """Return what becomes, or became, of a worktree that nothing keeps."""
    gone = bool(row.get("removed"))
    if not row["saves"]:
        return "removed" if gone else "can go"
    saved = f"headway worktrees patch {row['run']}"
    return f"removed; its changes: {saved}" if gone else "can go; its changes are saved first"


def _age(milliseconds: int) -> str:
    """Return a time in its largest unit."""
    hours = milliseconds // HOUR_MS
    if not hours:
        return f"{milliseconds // MINUTE_MS} m"
    return f"{hours} h" if hours < HOURS_MAX else f"{hours // 24} d"

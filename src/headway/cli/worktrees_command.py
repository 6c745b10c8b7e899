"""`headway worktrees`: the folders that runs work in, and those that can go."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import click

from headway.application.clean_worktrees import clean_worktrees
from headway.application.list_worktrees import list_worktrees
from headway.application.requests import Reply
from headway.application.runs import Runs
from headway.bootstrap import open_runs, worktrees_of
from headway.cli.opening import told
from headway.cli.options import Grouped, examples, json_option, print_json
from headway.cli.refusing import Refusal
from headway.config import process_settings
from headway.ports.worktrees import Worktrees


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
    """List the worktrees, and what keeps each from being cleaned.

    +, - and ~ count commits ahead, commits behind and files that are changed.
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

    One stays that has changes not committed, or commits neither merged nor pushed. A branch that is
    merged goes with its worktree.
    """
    with _opened() as (runs, worktrees):
        cleaned = clean_worktrees(runs, worktrees, remove=yes)
    if as_json:
        print_json(cleaned)
        return
    _print(cleaned)
    if not yes and any(row["keep"] is None for row in _rows(cleaned)):
        click.echo("Nothing was removed; --yes removes what is marked `can go`.")


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
    for row in rows:
        gone = "removed" if row.get("removed") else "can go"
        counts = f"+{row['ahead']} -{row['behind']} ~{row['dirty']}"
        merged = "merged" if row["merged"] else ""
        line = f"{row['run']}  {row['state']:<8} {counts:<12} {merged:<7} {row['keep'] or gone}"
        click.echo(line)
    if not rows:
        click.echo("No run has a worktree.")

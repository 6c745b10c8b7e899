"""`headway sessions`: which sessions there are, and what happened in one of them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import get_args

import click

from headway.application.change_preferences import change_preferences
from headway.application.list_sessions import SessionSummary, list_sessions
from headway.application.purge_session import purge_session
from headway.application.read_session import read_session
from headway.application.requests import Autonomy, ChangePreferences, Reply, RiskPolicy
from headway.cli.opening import opened
from headway.cli.terminal import output_style
from headway.cli.tree_drawing import Style, draw_tree, fitted

LISTED_DEFAULT = 20
LISTED_MAX = 10_000


@click.group("sessions")
def command() -> None:
    """See the sessions kept in this home."""


@command.command("list", short_help="List sessions, the last touched first.")
@click.argument("words", nargs=-1)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, LISTED_MAX),
    default=LISTED_DEFAULT,
    show_default=True,
    help="Show at most this many.",
)
def list_command(words: tuple[str, ...], limit: int) -> None:
    """List the sessions, the last touched first; WORDS of goal, notes or workflow narrow."""
    with opened() as (settings, engine):
        style = output_style(settings.environment)
        found = list_sessions(engine, limit, " ".join(words))
        if not found:
            click.echo("No session found." if words else "There is no session yet.")
        for summary in found:
            for line in session_lines(summary, style):
                click.echo(line)


@command.command("tree", short_help="Draw a session as a tree; the latest unless named.")
@click.argument("session", required=False)
@click.option("--all", "whole", is_flag=True, help="Draw every line, however long the session is.")
def tree_command(session: str | None, *, whole: bool) -> None:
    """Draw SESSION as a tree: an id, the beginning of one, or nothing for the latest."""
    with opened() as (settings, engine):
        style = output_style(settings.environment)
        read = read_session(engine, session)
        for line in draw_tree(read.tree, style, whole=whole):
            click.echo(line)
        click.echo(f"{read.summary.session}  {_status(read.summary)}")


@command.command("preferences", short_help="See or set how far a session may go by itself.")
@click.argument("session")
@click.option("--autonomy", type=click.Choice(get_args(Autonomy)), help="What it asks about.")
@click.option("--risk", type=click.Choice(get_args(RiskPolicy)), help="How bold it may be.")
def preferences_command(session: str, autonomy: Autonomy | None, risk: RiskPolicy | None) -> None:
    """Set the preferences of SESSION from the step it stands at on; without options, show them."""
    with opened() as (_, engine):
        asked = ChangePreferences(session=session, autonomy=autonomy, risk_policy=risk)
        reply = change_preferences(engine, asked)
        for line in _preference_lines(reply):
            click.echo(line)


def _preference_lines(reply: Reply) -> Iterator[str]:
    now, before = reply["preferences"], reply["before"]
    assert isinstance(now, dict)
    assert isinstance(before, dict)
    told = f"{reply['sessionId']}  from step {reply['stepId']} on: "
    told += f"autonomy {now['autonomy']}, risk {now['riskPolicy']}"
    if reply["changed"]:
        told += f" (before: {before['autonomy']}, {before['riskPolicy']})"
    yield told
    warnings = reply["warnings"]
    assert isinstance(warnings, list)
    yield from (f"warning: {each}" for each in warnings)


@command.command("purge", short_help="Remove a session for good.")
@click.argument("session")
@click.option("--yes", is_flag=True, help="Do it; without this nothing happens.")
@click.option("--reason", default="", help="Why it goes: one line, kept in its tombstone.")
def purge_command(session: str, reason: str, *, yes: bool) -> None:
    """Remove SESSION, an id or the beginning of one, with its events, notes and blobs.

    A tombstone says that it was there. Export it first if it may be wanted again.
    """
    if not yes:
        raise click.UsageError("A purge cannot be taken back. Add --yes to do it.")
    with opened() as (_, engine):
        purged = purge_session(engine, session, reason)
    removed = purged.removed
    click.echo(f"{purged.session} is purged: {removed.events:,} events, {removed.blobs:,} blobs.")


def session_lines(summary: SessionSummary, style: Style) -> Iterator[str]:
    """Yield two lines: id, status, workflow and time; then the goal."""
    touched = datetime.fromtimestamp(summary.updated_at / 1000, UTC)
    step = f" at {summary.step_id}" if summary.step_id else ""
    head = f"{summary.session}  {_status(summary)}{step}  {touched:%Y-%m-%d %H:%M} UTC"
    yield style.paint(fitted(head, style.width, style), "bold")
    goal = " ".join(summary.goal.split())
    yield fitted(f"    {summary.workflow_id}: {goal}", style.width, style)


def _status(summary: SessionSummary) -> str:
    return summary.status.replace("_", " ")

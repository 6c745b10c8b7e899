"""`headway sessions`: which sessions there are, and what happened in one of them."""

from collections.abc import Iterator
from typing import get_args

import click
import msgspec

from headway.application.change_preferences import change_preferences
from headway.application.describe_session import describe_session
from headway.application.list_sessions import SessionSummary, list_sessions
from headway.application.purge_session import purge_session
from headway.application.read_session import ReadSession, read_session
from headway.application.requests import Autonomy, ChangePreferences, Json, Reply, RiskPolicy
from headway.cli.completing import complete_session
from headway.cli.leaving_out import remark_left_out
from headway.cli.listed import A_SESSION
from headway.cli.opening import opened
from headway.cli.options import Grouped, examples, json_option, limit_option, print_json
from headway.cli.session_drawing import list_lines, show_lines, words
from headway.cli.style import counted
from headway.cli.terminal import output_style
from headway.cli.tree_drawing import draw_tree

_SESSION = click.argument("session", type=A_SESSION, shell_complete=complete_session)
_LATEST = click.argument("session", required=False, shell_complete=complete_session)


@click.group("sessions", cls=Grouped)
def command() -> None:
    """See the sessions kept in this home, and steer them.

    SESSION is an id or the beginning of one; `sess_` may be left out.
    """


@command.command(
    "list",
    short_help="List sessions, the last touched first.",
    epilog=examples("headway sessions list -n 5", "headway sessions list --json"),
)
@click.argument("search", nargs=-1, metavar="[WORDS]...")
@limit_option
@json_option
def list_command(search: tuple[str, ...], limit: int, *, as_json: bool) -> None:
    """List the sessions, the last touched first; WORDS narrow as in `headway sessions search`."""
    _list(" ".join(search), limit, as_json=as_json)


@command.command(
    "search",
    short_help="Find sessions by words.",
    epilog=examples(
        "headway sessions search off by one", "headway sessions search acme.release-notes -n 3"
    ),
)
@click.argument("search", nargs=-1, required=True, metavar="WORDS...")
@limit_option
@json_option
def search_command(search: tuple[str, ...], limit: int, *, as_json: bool) -> None:
    """Find the sessions that hold all WORDS in goal, notes or workflow, the last touched first."""
    _list(" ".join(search), limit, as_json=as_json)


@command.command(
    "show",
    short_help="Show one session: goal, standing, steps, notes.",
    epilog=examples(
        "headway sessions show", "headway sessions show sess_abc --full | less",
        "headway sessions show sess_abc --json",
    ),
)  # fmt: skip
@_LATEST
@click.option("--full", is_flag=True, help="Show all steps, notes whole, artifacts too.")
@json_option
def show_command(session: str | None, *, full: bool, as_json: bool) -> None:
    """Show SESSION, the latest unless named: what it is, where it stands, what was handed in.

    Notes are cut with a mark, and artifacts only named, unless --full is given, in JSON too.
    """
    with opened() as (settings, engine):
        described = describe_session(engine, session, whole=full)
        if as_json:
            print_json(described)
            return
        for line in show_lines(described, output_style(settings.environment), whole=full):
            click.echo(line)


@command.command(
    "tree",
    short_help="Draw a session as a tree: steps, forks, refusals.",
    epilog=examples("headway sessions tree", "headway sessions tree sess_abc --all"),
)
@_LATEST
@click.option("--all", "whole", is_flag=True, help="Draw every line, however long the session is.")
@json_option
def tree_command(session: str | None, *, whole: bool, as_json: bool) -> None:
    """Draw SESSION, the latest unless named, as a tree.

    It shows the steps with what was handed in, refusals, forks, checkpoints, gates, gaps, passes
    through loops, and what was skipped under which condition.
    """
    with opened() as (settings, engine):
        style = output_style(settings.environment)
        read = read_session(engine, session)
        if as_json:
            print_json(_tree_document(read))
            return
        for line in draw_tree(read.tree, style, whole=whole):
            click.echo(line)
        click.echo(f"{read.summary.session}  {words(read.summary.status)}")


@command.command(
    "preferences",
    short_help="See or set how far a session may go by itself.",
    epilog=examples(
        "headway sessions preferences sess_abc",
        "headway sessions preferences sess_abc --autonomy full_auto_never_stop",
    ),
)
@_SESSION
@click.option("--autonomy", type=click.Choice(get_args(Autonomy)), help="What it asks about.")
@click.option("--risk", type=click.Choice(get_args(RiskPolicy)), help="How bold it may be.")
@json_option
def preferences_command(
    session: str, autonomy: Autonomy | None, risk: RiskPolicy | None, *, as_json: bool
) -> None:
    """Set the preferences of SESSION from the step it stands at on; without options, show them."""
    with opened() as (_, engine):
        asked = ChangePreferences(session=session, autonomy=autonomy, risk_policy=risk)
        reply = change_preferences(engine, asked)
    if as_json:
        print_json(reply)
        return
    for line in _preference_lines(reply):
        click.echo(line)


@command.command(
    "purge",
    short_help="Remove a session for good.",
    epilog=examples(
        "headway export sess_abc && headway sessions purge sess_abc --yes --reason 'wrong folder'"
    ),
)
@_SESSION
@click.option("--yes", is_flag=True, help="Do it; without this nothing happens.")
@click.option("--reason", default="", help="Why it goes: one line, kept in its tombstone.")
@json_option
def purge_command(session: str, reason: str, *, yes: bool, as_json: bool) -> None:
    """Remove SESSION with its events, notes and blobs, and the run that drove it.

    A run that has not ended keeps its session: abort it first. A tombstone says that it was there.
    Export it first if it may be wanted again.
    """
    if not yes:
        raise click.UsageError("A purge cannot be taken back. Add --yes to do it.")
    with opened() as (_, engine):
        purged = purge_session(engine, session, reason)
    removed = purged.removed
    if as_json:
        removal = msgspec.structs.asdict(removed)
        print_json({"sessionId": purged.session, "runId": purged.run, **removal})
        return
    held = f"{counted(removed.events, 'event')}, {counted(removed.blobs, 'blob')}"
    with_run = f", and with it the run {purged.run}" if purged.run else ""
    click.echo(f"{purged.session} is purged{with_run}: {held}.")


def _list(text: str, limit: int, *, as_json: bool) -> None:
    with opened() as (settings, engine):
        found = list_sessions(engine, limit, text)
        if as_json:
            documents = [summary_document(each) for each in found.rows]
            print_json({"sessions": [*documents], "unreadable": [*found.unreadable]})
            return
        if not found.rows and not found.unreadable:
            click.echo("No session found." if text else "There is no session yet.")
        style = output_style(settings.environment)
        for summary in found.rows:
            for line in list_lines(summary, style):
                click.echo(line)
        remark_left_out("session", found.unreadable)


def summary_document(summary: SessionSummary) -> dict[str, Json]:
    """Return a session's row as it stands in JSON; times are milliseconds since 1970 UTC."""
    return {
        "sessionId": summary.session,
        "status": summary.status,
        "workflowId": summary.workflow_id,
        "workflowName": summary.workflow_name,
        "workflowHash": summary.workflow,
        "goal": summary.goal,
        "stepId": summary.step_id,
        "stepTitle": summary.step_title,
        "stepsDone": summary.depth,
        "workspace": summary.workspace,
        "branch": summary.branch,
        "gitHead": summary.git_head,
        "startedAt": summary.started_at,
        "updatedAt": summary.updated_at,
    }


def _tree_document(read: ReadSession) -> dict[str, Json]:
    tree = read.tree
    return {
        "sessionId": read.summary.session,
        "status": read.summary.status,
        "workflowId": tree.workflow_id,
        "workflowName": tree.workflow_name,
        "goal": tree.goal,
        "rows": [
            {"depth": row.depth, "kind": row.told.kind, "text": row.told.text, "here": row.here}
            for row in tree.rows
        ],
    }


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

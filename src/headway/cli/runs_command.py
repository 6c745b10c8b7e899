"""`headway runs`: what runs there are, how far they are, and a word to each."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from headway.application.abort_run import abort_run
from headway.application.list_runs import list_runs
from headway.application.requests import Json, Reply
from headway.application.resume_run import resume_run
from headway.application.show_run import show_run
from headway.application.steer_run import steer_run
from headway.bootstrap import model_named, open_runs
from headway.cli.opening import told
from headway.cli.options import Grouped, examples, json_option, limit_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.run_driving import EXIT_WORDS, claimed, drive_here
from headway.cli.style import fitted
from headway.cli.terminal import output_style
from headway.config import Settings, process_settings
from headway.domain.runs.events import RunSubmitted

_RUN = click.argument("run")
_BY = click.option("--by", metavar="NAME", help="Who speaks; by default the user's name.")


@click.group("runs", cls=Grouped)
def command() -> None:
    """List, show, resume, steer and abort runs.

    RUN is an id, or the beginning of one.
    """


@command.command(
    "list", short_help="List the runs, the last first.", epilog=examples("headway runs list")
)
@limit_option
@click.option("--unfinished", is_flag=True, help="Only those that have not ended.")
@json_option
def list_command(limit: int, *, unfinished: bool, as_json: bool) -> None:
    """List the runs, the last submitted first. A stalled one lost its worker and can be resumed."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            listed = list_runs(runs, limit, unfinished=unfinished)
    if as_json:
        print_json(listed)
        return
    found = listed["runs"]
    assert isinstance(found, list)
    style = output_style(settings.environment)
    for each in found:
        click.echo(fitted(_row(each), style.width, style))
    if not found:
        click.echo("No run was submitted.")


@command.command(
    "show",
    short_help="Show how far a run is, and what it took.",
    epilog=examples("headway runs show task_abc"),
)
@_RUN
@json_option
def show_command(run: str, *, as_json: bool) -> None:
    """Show how far RUN is, what it took, and how it ended."""
    with told(Refusal), open_runs(process_settings()) as runs:
        shown = show_run(runs, run)
    if as_json:
        print_json(shown)
        return
    for name, value in shown.items():
        if value is not None:
            click.echo(f"{name:<16} {_shown(value)}")


@command.command(
    "resume",
    short_help="Go on with a run, here and now.",
    epilog=examples("headway runs resume task_abc") + "\n\n" + EXIT_WORDS,
)
@_RUN
@_BY
@click.pass_context
def resume_command(ctx: click.Context, run: str, by: str | None) -> None:
    """Go on with RUN in the foreground: one that is paused or parked, or lost its worker."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            task = resume_run(runs, run, by or _user(settings))
            (first, *_) = runs.queue.scan(task.run)
            assert isinstance(first.event, RunSubmitted)
            model = model_named(first.event.model, Path.cwd())
            code = drive_here(settings, runs, claimed(runs, task.run), model)
    ctx.exit(code)


@command.command(
    "steer",
    short_help="Say something to a run's model.",
    epilog=examples("headway runs steer task_abc 'Leave the tests as they are.'"),
)
@_RUN
@click.argument("text")
@_BY
def steer_command(run: str, text: str, by: str | None) -> None:
    """Say TEXT to the model of RUN; it hears it with its next turn. - reads from stdin."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            said = sys.stdin.read() if text == "-" else text
            named = steer_run(runs, run, said, by or _user(settings))
    click.echo(f"The run {named} hears it with its next turn.")


@command.command(
    "abort",
    short_help="End a run.",
    epilog=examples("headway runs abort task_abc --because 'Wrong branch.'"),
)
@_RUN
@click.option("--because", default="", metavar="REASON", help="Why, for the record.")
@_BY
def abort_command(run: str, because: str, by: str | None) -> None:
    """End RUN: at once when nobody drives it, else as soon as its worker has heard of it."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            task = abort_run(runs, run, by or _user(settings), because)
    ended = task.state == "ended"
    click.echo(f"The run {task.run} {'has ended' if ended else 'is told to end'}.")


def _user(settings: Settings) -> str:
    named = (settings.environment.get(name) for name in ("LOGNAME", "USER", "USERNAME"))
    return next((name for name in named if name), "somebody")


def _row(each: Json) -> str:
    assert isinstance(each, dict)
    state = each["outcome"] or each["state"]
    at = datetime.fromtimestamp(int(str(each["submittedAt"])) / 1_000, UTC)
    goal = " ".join(str(each["goal"]).split())
    return f"{each['run']}  {state:<9}  {at:%Y-%m-%d %H:%M}  {each['workflow']}  {goal}"


def _shown(value: Json) -> str:
    if isinstance(value, dict):
        parts: Reply = {name: each for name, each in value.items() if each is not None}
        return ", ".join(f"{name} {each}" for name, each in parts.items())
    return str(value)

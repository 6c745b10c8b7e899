"""`headway runs`: what runs there are, how far they are, and what is going on in them."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime

import click

from headway.application.list_runs import STATES, RunFilter, RunState, list_runs, told_row
from headway.application.naming_runs import named_run
from headway.application.read_run_log import asked_call, event_text, told_line
from headway.application.runs import Runs
from headway.application.show_run import show_run
from headway.bootstrap import open_runs
from headway.cli.completing import complete_run, complete_workflow
from headway.cli.leaving_out import remark_left_out
from headway.cli.listed import A_RUN
from headway.cli.opening import told
from headway.cli.options import Grouped, examples, json_option, limit_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.run_calls import target_of
from headway.cli.run_drawing import list_lines, show_lines
from headway.cli.run_exits import EXIT_CODES, WATCH_WORDS
from headway.cli.run_lines import log_line
from headway.cli.run_watching import Shown, exit_code, follow, wait
from headway.cli.run_words import RUN
from headway.cli.runs_telling import SPEAKING
from headway.cli.safe_text import shown as safe
from headway.cli.terminal import output_style
from headway.config import process_settings
from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.events import RunEvent, ToolStarted
from headway.ports.queue import RunRecorded

INDENT = " " * 10
_FULL = click.option("--full", is_flag=True, help="With what was told, said and answered, whole.")
_LINES = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")


@click.group("runs", cls=Grouped)
def command() -> None:
    """See runs, follow them, speak to them, and have them go on.

    RUN is an id, or the beginning of one.
    """


@command.command(
    "list",
    short_help="List the runs, the last first.",
    epilog=examples("headway runs list", "headway runs list --state error --workflow hw.bug-fix"),
)
@limit_option
@click.option("--state", type=click.Choice(STATES), help="Only those in a state, or so ended.")
@click.option(
    "--workflow", metavar="ID", shell_complete=complete_workflow, help="Only those of a workflow."
)
@click.option(
    "--workspace",
    metavar="FOLDER",
    type=click.Path(resolve_path=True),
    help="Only those on a repository.",
)
@click.option("--unfinished", is_flag=True, help="Only those that have not ended.")
@json_option
def list_command(limit: int, *, as_json: bool, **given: object) -> None:
    """List the runs, the last submitted first. A stalled one lost its worker and can be resumed."""
    wanted = RunFilter(
        state=str(given["state"]) if given["state"] else None,
        workflow_id=str(given["workflow"]) if given["workflow"] else None,
        workspace=str(given["workspace"]) if given["workspace"] else None,
        unfinished=given["unfinished"] is True,
    )
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            listed = list_runs(runs, limit, wanted)
    if as_json:
        print_json(listed)
        return
    found = listed["runs"]
    assert isinstance(found, list)
    for line in list_lines(found, output_style(settings.environment)):
        click.echo(line)
    if not found and not listed["unreadable"]:
        click.echo("No run was submitted." if wanted == RunFilter() else "No run is like this.")
    remark_left_out("run", listed["unreadable"])


@command.command(
    "show",
    short_help="Show how far a run is, and what it took.",
    epilog=examples("headway runs show task_abc"),
)
@RUN
@json_option
def show_command(run: str, *, as_json: bool) -> None:
    """Show how far RUN is, what each step took, and how it ended."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            shown = show_run(runs, run)
    if as_json:
        print_json(shown)
        return
    for line in show_lines(shown, output_style(settings.environment)):
        click.echo(line)


@command.command(
    "log",
    short_help="Print what happened in a run.",
    epilog=examples("headway runs log task_abc", "headway runs log task_abc --full | less"),
)
@RUN
@_FULL
@_LINES
def log_command(run: str, *, full: bool, as_json: bool) -> None:
    """Print every event of RUN, one a line, with its time."""
    with told(Refusal), open_runs(process_settings()) as runs:
        show = _shower(runs, full=full, as_json=as_json)
        now = Conversation()
        for recorded in runs.queue.scan(named_run(runs, run).run):
            now = evolve(now, recorded.event)
            show(now, recorded)


@command.command(
    "follow",
    short_help="Print what happens in a run, until it ends.",
    epilog=examples("headway runs follow task_abc") + "\n\n" + WATCH_WORDS,
)
@RUN
@_FULL
@_LINES
@click.pass_context
def follow_command(ctx: click.Context, run: str, *, full: bool, as_json: bool) -> None:
    """Print the log of RUN as it grows, until the run rests or ends.

    From any process: it goes on when the run's worker dies and another one takes the run.
    """

    def notice(state: RunState) -> None:
        words = {
            "queued": "It waits for a worker: headway worker, or headway runs resume.",
            "stalled": "Its worker is gone; it waits for another: headway worker.",
        }
        if state in words and not as_json:
            click.echo(words[state], err=True)

    with told(Refusal), open_runs(process_settings()) as runs:
        show = _shower(runs, full=full, as_json=as_json)
        row = follow(runs, named_run(runs, run).run, show, notice)
    assert row.outcome is not None, "a run that rests or has ended has an outcome"
    ctx.exit(EXIT_CODES[row.outcome])


@command.command(
    "wait",
    short_help="Wait until runs have ended.",
    epilog=examples(
        "headway runs wait $(headway dispatch ...)",
        "headway runs wait task_abc task_def --any --timeout 600",
    )
    + "\n\n"
    + WATCH_WORDS
    + "\n\nOf several it is the code of the first in the order given that did not succeed;"
    + " with --any, of the first that has ended.",
)
@click.argument(
    "names",
    type=A_RUN,
    metavar="RUN...",
    nargs=-1,
    required=True,
    shell_complete=complete_run,
)
@click.option("--any", "first", is_flag=True, help="Until one of them has ended.")
@click.option(
    "--timeout", type=click.FloatRange(0), metavar="SECONDS", help="Wait no longer than this."
)
@json_option
@click.pass_context
def wait_command(
    ctx: click.Context, names: tuple[str, ...], timeout: float | None, *, first: bool, as_json: bool
) -> None:
    """Wait until each RUN rests or has ended, and print how."""
    with told(Refusal), open_runs(process_settings()) as runs:
        asked = [named_run(runs, name).run for name in names]
        rows, in_time = wait(runs, asked, first=first, seconds=timeout)
        listed = [told_row(runs, row) for row in rows]
    if as_json:
        print_json({"inTime": in_time, "runs": list(listed)})
    else:
        for each in listed:
            click.echo(f"{each['run']}  {each['outcome'] or each['state']}")
    ctx.exit(exit_code(rows, first=first, in_time=in_time))


for _each in SPEAKING:
    command.add_command(_each)


def _shower(runs: Runs, *, full: bool, as_json: bool) -> Shown:
    """Return what prints an event: a line for people, or an object for programs."""

    def as_object(_: Conversation, recorded: RunRecorded) -> None:
        click.echo(json.dumps(told_line(runs, recorded, texts=full)))

    settings, days = process_settings(), list[date]()
    style = output_style(settings.environment)
    style = replace(style, width=style.width - len(INDENT))

    def line_told(now: Conversation, event: RunEvent) -> str:
        call = asked_call(runs, now, event.call) if isinstance(event, ToolStarted) else None
        return log_line(now, event, style, target_of(call, settings.secrets) if call else "")

    def as_line(now: Conversation, recorded: RunRecorded) -> None:
        at = datetime.fromtimestamp(recorded.recorded_at / 1_000, UTC)
        if at.date() not in days:
            days.append(at.date())
            click.echo(f"{at:%Y-%m-%d}, in UTC")
        click.echo(f"{at:%H:%M:%S}  {line_told(now, recorded.event)}")
        text = event_text(runs, recorded.event) if full else None
        for line in safe(text).splitlines() if text else ():
            click.echo(f"{INDENT}{line}".rstrip())

    return as_object if as_json else as_line

"""`headway queue`: what waits for a worker, in which order, and a change of it."""

from typing import Literal

import click

from headway.application.cancel_task import cancel_task
from headway.application.list_queue import list_queue
from headway.application.list_runs import told_row
from headway.application.move_task import NewPosition, move_task
from headway.bootstrap import open_runs
from headway.cli.completing import complete_run
from headway.cli.leaving_out import remark_left_out
from headway.cli.opening import told
from headway.cli.options import LISTED_MAX, Grouped, examples, json_option, limit_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.run_drawing import duration
from headway.cli.run_words import BY, RUN
from headway.cli.safe_text import one_line
from headway.cli.style import WIDTH_MIN, Style, fitted
from headway.cli.terminal import output_style
from headway.cli.user_name import user_name
from headway.config import process_settings
from headway.domain.values import Json


@click.group("queue", cls=Grouped)
def command() -> None:
    """See which runs wait for a worker, and in which order; change it.

    RUN is an id, or the beginning of one.
    """


@command.command(
    "list", short_help="List what waits, the next first.", epilog=examples("headway queue list")
)
@limit_option
@json_option
def list_command(limit: int, *, as_json: bool) -> None:
    """List the runs that wait for a worker, the next first; stalled ones wait as well."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            listed = list_queue(runs, limit)
    if as_json:
        print_json(listed)
        return
    waiting, style = listed["waiting"], output_style(settings.environment)
    assert isinstance(waiting, list)
    for each in waiting:
        for line in _lines(each, int(str(listed["now"])), style):
            click.echo(line)
    if listed["more"]:
        more = "There are more; --limit shows them."
        click.echo(more if limit < LISTED_MAX else "There are more than a list can hold.")
    if not waiting and not listed["unreadable"]:
        click.echo("Nothing waits.")
    remark_left_out("run", listed["unreadable"])


@command.command(
    "move",
    short_help="Give a waiting run another position.",
    epilog=examples(
        "headway queue move task_abc --first", "headway queue move task_abc --priority 5"
    ),
)
@RUN
@click.option("--first", is_flag=True, help="Before all others.")
@click.option("--last", is_flag=True, help="After all others.")
@click.option("--before", metavar="OTHER", shell_complete=complete_run, help="Before another run.")
@click.option("--priority", type=int, metavar="N", help="To another priority; higher goes first.")
@json_option
def move_command(
    run: str, before: str | None, priority: int | None, *, as_json: bool, **ends: bool
) -> None:
    """Give RUN another position in the queue; give one of the options.

    Where it is put before or after others it takes their priority.
    """
    if ends["first"] and ends["last"]:
        raise click.UsageError("Give one of --first and --last.")
    end: Literal["first", "last"] | None = "first" if ends["first"] else None
    if ends["last"]:
        end = "last"
    with told(Refusal), open_runs(process_settings()) as runs:
        task = move_task(runs, run, NewPosition(end=end, before=before, priority=priority))
        row = told_row(runs, task)
    if as_json:
        print_json(row)
    else:
        click.echo(f"The run {task.run} stands where it was put: headway queue list.")


@command.command(
    "cancel",
    short_help="End a run that waits.",
    epilog=examples("headway queue cancel task_abc"),
)
@RUN
@click.option("--because", default="", metavar="REASON", help="Why, for the record.")
@BY
def cancel_command(run: str, because: str, by: str | None) -> None:
    """End RUN before a worker has it; one that a worker has is ended by headway runs abort."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            named = cancel_task(runs, run, by or user_name(settings), because)
    click.echo(f"The run {named} is cancelled.")


def _lines(each: Json, now: int, style: Style) -> list[str]:
    assert isinstance(each, dict)
    width = max(style.width, WIDTH_MIN)
    waits = duration(max(0, now - int(str(each["waitingSince"]))))
    stalled = ", stalled" if each["state"] == "stalled" else ""
    head = (
        f"{each['position']:>3}. {each['run']}  priority {each['priority']}, for {waits}{stalled}"
    )
    where = f"{one_line(each['workflow'])} in {one_line(each['workspace'])}"
    told_of = f"     {where}: {one_line(each['goal'])}"
    return [style.paint(fitted(head, width, style), "bold"), fitted(told_of, width, style)]

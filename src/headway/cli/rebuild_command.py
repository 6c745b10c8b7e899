"""`headway rebuild`: attempts and summaries made anew from the events."""

import sys

import click

from headway.application.rebuild_store import rebuild_store
from headway.cli.opening import opened
from headway.cli.options import examples, json_option, print_json
from headway.cli.progress import progress
from headway.cli.style import counted
from headway.cli.verify_command import problem_document


@click.command("rebuild", epilog=examples("headway rebuild && headway verify"))
@json_option
def command(*, as_json: bool) -> None:
    """Make the rows that stand beside the events, attempts and summaries, anew from them.

    A session whose events do not prove themselves is left as it is and named; then it ends with 1.
    """
    with opened() as (_, engine), progress("rebuilt") as tell:
        report = rebuild_store(engine, tell)
    if as_json:
        counts = {"sessions": report.sessions, "mended": report.mended, "dropped": report.dropped}
        print_json({**counts, "problems": [problem_document(each) for each in report.problems]})
        sys.exit(1 if report.problems else 0)
    dropped = f", {report.dropped:,} attempts without a node dropped" if report.dropped else ""
    click.echo(f"{counted(report.sessions, 'session')}, {report.mended:,} mended{dropped}.")
    for problem in report.problems:
        click.echo(f"Left as it is: {problem.text()}", err=True)
    if report.problems:
        sys.exit(1)

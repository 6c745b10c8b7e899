"""`headway verify`: is everything as it was recorded? Exit code 0 yes, 1 no, 2 it could not run."""

import sys

import click

from headway.application.verify_store import Problem, VerifyReport, verify_store
from headway.cli.completing import complete_session
from headway.cli.opening import opened
from headway.cli.options import examples, json_option, print_json
from headway.cli.progress import progress
from headway.cli.refusing import CannotTell
from headway.cli.style import counted
from headway.domain.values import Json

EXIT_PROBLEMS = 1

_REMEDY = (
    "`headway rebuild` mends attempts and summaries. What stands in events or blobs comes back "
    "from a backup alone; other sessions are not affected."
)


@click.command(
    "verify", epilog=examples("headway verify", "headway verify sess_abc --json | jq .problems")
)
@click.argument("session", required=False, shell_complete=complete_session)
@json_option
def command(session: str | None, *, as_json: bool) -> None:
    """Walk every session's hash chain and check blobs, attempts and summaries against it.

    SESSION, an id or the beginning of one, narrows it to one. Ends with 0 when all is as recorded,
    1 when something is not, 2 when it could not be told.
    """
    with opened(refusal=CannotTell) as (_, engine), progress("verified") as tell:
        report = verify_store(engine, session, tell)
    if as_json:
        print_json(_document(report))
    else:
        click.echo(verdict(report))
    if report.problems:
        sys.exit(EXIT_PROBLEMS)


def verdict(report: VerifyReport) -> str:
    """Return what a person is told: what was looked at, and each problem with its remedy."""
    lines = [problem.text() for problem in report.problems]
    looked = ", ".join(
        [
            counted(report.streams - report.runs, "session"),
            *([counted(report.runs, "run")] if report.runs else []),
            counted(report.events, "event"),
            counted(report.blobs, "blob"),
        ]
    )
    if not lines:
        return f"All is as recorded: {looked}."
    lines.append(f"{counted(len(lines), 'problem')} found in {looked}.")
    return "\n".join([*lines, _REMEDY])


def _document(report: VerifyReport) -> dict[str, Json]:
    return {
        "ok": not report.problems,
        "streams": report.streams,
        "runs": report.runs,
        "events": report.events,
        "blobs": report.blobs,
        "problems": [problem_document(each) for each in report.problems],
    }


def problem_document(problem: Problem) -> dict[str, Json]:
    """Return a problem as it stands in JSON."""
    return {"stream": problem.stream, "version": problem.version, "what": problem.what}

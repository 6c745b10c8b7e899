"""`headway gates`: what waits for a decision, and a person's answer to it.

Nothing is answered unseen: an answer carries the digest of what was shown, from `headway gates
show` or from having been shown it just now, on the same terminal.
"""

import sys

import click
from msgspec.structs import replace

from headway.application.decide_gate import decide_gate
from headway.application.engine import Engine
from headway.application.list_gates import list_gates
from headway.application.requests import DecideGate, Reply, ShowGate
from headway.application.resume_parked import resume_parked
from headway.application.runs import Runs
from headway.application.show_gate import show_gate
from headway.bootstrap import open_runs
from headway.cli.completing import complete_gate
from headway.cli.gate_drawing import decided_lines, gate_lines, goes_on, list_lines
from headway.cli.leaving_out import remark_left_out
from headway.cli.listed import A_GATE
from headway.cli.opening import opened, told
from headway.cli.options import Grouped, examples, json_option, limit_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.terminal import output_style, remark
from headway.cli.user_name import user_name
from headway.config import Settings, process_settings
from headway.domain.errors import PreconditionFailed
from headway.domain.ids import SessionId

_GATE = click.argument("gate", type=A_GATE, shell_complete=complete_gate)
_SHOWN = click.option("--shown", metavar="DIGEST", help="The digest `headway gates show` printed.")
_BY = click.option("--by", metavar="NAME", help="Who decides; by default the user's name.")


@click.group("gates", cls=Grouped)
def command() -> None:
    """See what waits for a decision; approve or reject it.

    GATE is an id or, of a gate that waits, the beginning of one.
    """


@command.command(
    "list",
    short_help="List the gates that wait, the longest first.",
    epilog=examples("headway gates list"),
)
@limit_option
@json_option
def list_command(limit: int, *, as_json: bool) -> None:
    """List the gates that wait for a decision, the longest waiting first."""
    with opened() as (settings, engine):
        listed = list_gates(engine, limit)
        if as_json:
            print_json(listed)
            return
        if not listed["gates"] and not listed["unreadable"]:
            click.echo("No gate waits for a decision.")
        for line in list_lines(listed, output_style(settings.environment)):
            click.echo(line)
        remark_left_out("session", listed["unreadable"])


@command.command(
    "show",
    short_help="Show what is to be judged, and its digest.",
    epilog=examples("headway gates show gate_abc"),
)
@_GATE
@json_option
def show_command(gate: str, *, as_json: bool) -> None:
    """Show what is to be judged at GATE: an id, or the beginning of one that waits."""
    with opened() as (settings, engine):
        shown = show_gate(engine, ShowGate(gate=gate))
        if as_json:
            print_json(shown)
        else:
            _print_gate(shown, settings)


@command.command(
    "approve",
    short_help="Let the session go on.",
    epilog=examples(
        "headway gates approve gate_abc",
        "headway gates approve gate_abc --shown sha256:0123... --because 'Tests are green.'",
    ),
)
@_GATE
@_SHOWN
@_BY
@click.option("--because", default="", metavar="REASON", help="Why, for the record.")
@json_option
def approve_command(
    gate: str, shown: str | None, by: str | None, because: str, *, as_json: bool
) -> None:
    """Approve what waits at GATE; the session goes on with the next step.

    A run that was parked there waits for a worker again.
    """
    asked = DecideGate(
        gate=gate, approve=True, decided_by=by or "", shown=shown or "", rationale=because
    )
    _answer(asked, as_json=as_json)


@command.command(
    "reject",
    short_help="Send the step back, with the reason.",
    epilog=examples("headway gates reject gate_abc --because 'Too large; split it.'"),
)
@_GATE
@_SHOWN
@_BY
@click.option("--because", required=True, metavar="REASON", help="What the agent is to rework.")
@json_option
def reject_command(
    gate: str, shown: str | None, by: str | None, because: str, *, as_json: bool
) -> None:
    """Reject what waits at GATE; the agent is told the reason and hands the step in again."""
    asked = DecideGate(
        gate=gate, approve=False, decided_by=by or "", shown=shown or "", rationale=because
    )
    _answer(asked, as_json=as_json)


def _answer(asked: DecideGate, *, as_json: bool) -> None:
    with told(Refusal):
        settings = process_settings()
        by = asked.decided_by or user_name(settings)
        with open_runs(settings) as runs:
            shown = asked.shown or _confirmed(runs.engine, asked, settings)
            decided = _decided(runs, replace(asked, shown=shown, decided_by=by))
            run = resume_parked(runs, SessionId(str(decided["sessionId"])), by)
        if as_json:
            print_json(decided | {"run": run})
            return
        for line in decided_lines(decided, run):
            click.echo(line)


def _decided(runs: Runs, asked: DecideGate) -> Reply:
    """Decide; where somebody did before, see that the run goes on: he may not have come so far."""
    try:
        return decide_gate(runs.engine, asked)
    except PreconditionFailed as fault:
        if fault.details.get("kind") == "gate_decided" and fault.session is not None:
            run = resume_parked(runs, SessionId(fault.session), asked.decided_by)
            if run is not None:
                remark(goes_on(run))
        raise


def _confirmed(engine: Engine, asked: DecideGate, settings: Settings) -> str:
    """Show the gate and ask; return its digest. Only where somebody reads and answers."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError(
            "Without a terminal an answer needs --shown DIGEST: look first, with "
            f"`headway gates show {asked.gate}`."
        )
    shown = show_gate(engine, ShowGate(gate=asked.gate))
    _print_gate(shown, settings)
    if shown["status"] == "open":
        question = "Approve this?" if asked.approve else "Reject this?"
        click.confirm(question, abort=True)
    return str(shown["shown"])


def _print_gate(shown: Reply, settings: Settings) -> None:
    for line in gate_lines(shown, output_style(settings.environment)):
        click.echo(line)

"""`headway stats`: what became of runs, how long they took, and what they cost."""

import re
from collections.abc import Iterator
from typing import Final

import click

from headway.application.requests import Json, Reply
from headway.application.run_stats import run_stats
from headway.bootstrap import open_runs
from headway.cli.completing import complete_workflow
from headway.cli.leaving_out import remark_left_out
from headway.cli.opening import told
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import Refusal, envelope
from headway.cli.run_drawing import duration, table_lines
from headway.cli.run_lines import priced
from headway.cli.safe_text import one_line
from headway.cli.style import Style, counted
from headway.cli.terminal import output_style
from headway.config import process_settings

UNITS_MS: Final = {
    "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
}  # fmt: skip
_SPAN: Final = re.compile(r"([0-9]{1,6})([mhdw])")
HEADS: Final = (
    "workflow", "runs", "success", "time p50", "p95", "steps p50", "p95", "tokens", "money",
)  # fmt: skip


@click.command(
    "stats",
    epilog=examples("headway stats", "headway stats --since 7d --workflow hw.bug-fix"),
)
@click.option("--since", metavar="SPAN", help="Of runs submitted within 30m, 12h, 7d or 4w.")
@click.option("--workflow", metavar="ID", shell_complete=complete_workflow, help="Of one workflow.")
@json_option
def command(since: str | None, workflow: str | None, *, as_json: bool) -> None:
    """Tell what became of runs, by workflow: outcomes, time, steps, tokens and money.

    Time is time at work, that of replies and tools. Of it and of the steps stand p50 and p95 by
    nearest rank, of the runs that have ended. With --json there is the time from submission too.
    """
    with told(Refusal):
        settings = process_settings()
        within = None if since is None else _span_ms(since)
        with open_runs(settings) as runs:
            found = run_stats(runs, within_ms=within, workflow_id=workflow)
    if as_json:
        print_json(found)
        return
    for line in _lines(found, output_style(settings.environment)):
        click.echo(line)
    remark_left_out("run", found["unreadable"])


def _span_ms(span: str) -> int:
    read = _SPAN.fullmatch(span.strip())
    if read is None:
        raise Refusal(
            envelope(
                f"{span!r} is no span of time.",
                "Write a number and m, h, d or w: 30m, 12h, 7d, 4w.",
                "VALIDATION_ERROR",
            )
        )
    return int(read[1]) * UNITS_MS[read[2]]


def _lines(found: Reply, style: Style) -> Iterator[str]:
    total, workflows = found["total"], found["workflows"]
    assert isinstance(total, dict)
    assert isinstance(workflows, list)
    if not total["runs"]:
        yield "No run was submitted."
        return
    outcomes = total["outcomes"]
    assert isinstance(outcomes, dict)
    parts = [f"{count} {name}" for name, count in outcomes.items()]
    open_runs_count = int(str(total["runs"])) - sum(int(str(each)) for each in outcomes.values())
    parts += [f"{open_runs_count} under way"] if open_runs_count else []
    yield f"{counted(int(str(total['runs'])), 'run')}: {', '.join(parts)}"
    reasons = total["reasons"]
    assert isinstance(reasons, dict)
    if reasons:
        yield f"because of: {', '.join(f'{count} {name}' for name, count in reasons.items())}"
    yield ""
    rows = [HEADS, *(_row(each) for each in workflows)]
    if len(workflows) > 1:
        rows.append(_row({"workflow": "in all"} | total))
    yield from table_lines(rows, style)
    if found["more"]:
        yield "There are older runs, which are not counted; --since says how far to look back."


def _row(each: Json) -> tuple[str, ...]:
    assert isinstance(each, dict)
    outcomes, spent = each["outcomes"], each["spent"]
    assert isinstance(outcomes, dict)
    assert isinstance(spent, dict)
    tokens = int(str(spent["inputTokens"])) + int(str(spent["outputTokens"]))
    return (
        one_line(each["workflow"]),
        f"{each['runs']:,}",
        f"{outcomes.get('success', 0):,}",
        *(_time(each["workedMs"], rank) for rank in ("p50", "p95")),
        *(_plain(each["steps"], rank) for rank in ("p50", "p95")),
        f"{tokens:,}",
        priced(int(str(spent["money"])), unpriced=bool(spent["unpricedReplies"])),
    )


def _time(spread: Json, rank: str) -> str:
    assert isinstance(spread, dict)
    return "-" if spread[rank] is None else duration(int(str(spread[rank])))


def _plain(spread: Json, rank: str) -> str:
    assert isinstance(spread, dict)
    return "-" if spread[rank] is None else f"{spread[rank]:,}"

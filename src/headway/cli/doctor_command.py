"""`headway doctor`: what could keep Headway from working here, part by part, with what to do."""

import sys
from collections.abc import Iterator
from typing import Final

import click
import msgspec

from headway.application.diagnose_home import diagnose_home
from headway.application.findings import Finding, Level
from headway.cli.opening import looked_at
from headway.cli.options import examples, json_option, print_json
from headway.cli.safe_text import one_line, wrapped
from headway.cli.style import WIDTH_MIN, Style
from headway.cli.terminal import output_style

EXIT_PROBLEMS: Final = 1
PART_WIDTH: Final = 12
# mark, mark in ASCII, colour
LOOKS: Final[dict[Level, tuple[str, str, str]]] = {
    "ok": ("✔", "ok", "green"),
    "warning": ("△", "! ", "yellow"),
    "problem": ("✖", "X ", "red"),
}


@click.command("doctor", epilog=examples("headway doctor", "headway doctor --json"))
@json_option
def command(*, as_json: bool) -> None:
    """Look at everything Headway stands on, and say what to do about what is not well.

    It looks at settings, home, disk, store, keys, clock, git, bubblewrap, server, port and
    processes. A store is neither made nor brought up. Ends with 0 when there is no problem, be
    there warnings, and with 1 otherwise.
    """
    with looked_at() as (settings, home):
        findings = diagnose_home(home)
    problems = sum(each.level == "problem" for each in findings)
    if as_json:
        print_json({"ok": not problems, "findings": list(map(msgspec.to_builtins, findings))})
    else:
        style = output_style(settings.environment)
        for line in finding_lines(findings, style):
            click.echo(line)
    if problems:
        sys.exit(EXIT_PROBLEMS)


def finding_lines(findings: tuple[Finding, ...], style: Style) -> Iterator[str]:
    """Yield a line or more a finding, the remedy under it, and last how many of each level."""
    width = max(style.width, WIDTH_MIN)
    for each in findings:
        mark, plain, colour = LOOKS[each.level]
        head = f"{mark if style.unicode else plain} {each.part.ljust(PART_WIDTH)}"
        first, *rest = wrapped(one_line(each.told), width - len(head))
        yield style.paint(head, colour) + first
        yield from (" " * len(head) + line for line in rest)
        if each.remedy:
            arrow = "→ " if style.unicode else "> "
            lines = wrapped(one_line(each.remedy), width - len(head) - len(arrow))
            for number, line in enumerate(lines):
                yield " " * len(head) + (arrow if number == 0 else "  ") + line
    yield ""
    yield _sum(findings)


def _sum(findings: tuple[Finding, ...]) -> str:
    problems = sum(each.level == "problem" for each in findings)
    warnings = sum(each.level == "warning" for each in findings)
    if not problems and not warnings:
        return "All is well."
    told = f"{problems} problem{'s' * (problems != 1)}, {warnings} warning{'s' * (warnings != 1)}."
    return told if problems else f"Headway works here: {told}"

"""Figures: what was measured, what it should be at most, and both as a table or as JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured value. `target` is the most it may be; None where nothing is promised."""

    group: str
    name: str
    value: float
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "ok" if self.value <= self.target else "over"


def over(figures: Iterable[Figure]) -> list[Figure]:
    """Return the figures beyond their targets."""
    return [figure for figure in figures if figure.verdict == "over"]


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as text, a line each, under the names of their groups."""
    width = max(len(figure.name) for figure in figures)
    lines: list[str] = []
    group = ""
    for figure in figures:
        if figure.group != group:
            group = figure.group
            lines += ["", group]
        target = f"<= {figure.target:g}" if figure.target is not None else ""
        value = f"{number(figure.value):>9} {figure.unit:<8}"
        line = f"  {figure.name:<{width}}  {value} {target:<8} {figure.verdict:<5} {figure.note}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def as_json(facts: dict[str, str], figures: Sequence[Figure]) -> str:
    """Return the run as JSON."""
    measured = [asdict(figure) | {"verdict": figure.verdict} for figure in figures]
    return json.dumps({"machine": facts, "figures": measured}, indent=2)


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3f}" if value < 10 else f"{value:.1f}"

"""Rules about loops: that they end for a reason, and that their decisions can go both ways."""

import re
from collections.abc import Iterator
from typing import Final

from headway.domain.compiler.nodes import record, text
from headway.domain.compiler.reporting import listed, shown
from headway.domain.contracts.loop_control import LOOP_CONTROL_REF
from headway.domain.linting.reads import unit_tests
from headway.domain.linting.rules import Finding, Rule, rule
from headway.domain.linting.subject import Subject, Unit, loop_variables
from headway.domain.linting.texts import is_named
from headway.domain.linting.truth import verdict

LIMIT_MAX: Final = 100

_GOES_ON: Final = re.compile(r"\bcontinue\b", re.IGNORECASE)
_STOPS: Final = re.compile(r"\bstop(?:s|ped|ping)?\b", re.IGNORECASE)


@rule(
    "LOOP_ENDS_ONLY_AT_LIMIT", "warning", "A loop can end before its limit",
    why="maxIterations is a safety net. A loop that nothing inside can end pays for every pass and "
    "stops in the middle of something.",
    remedy="Have a step of the body set what the condition reads, or decide with "
    "wr.contracts.loop_control.",
)  # fmt: skip
def loop_ends_only_at_limit(subject: Subject) -> Iterator[Finding]:
    """Report loops whose condition cannot change, or that nothing in the body can change."""
    for unit in subject.units:
        for test in unit_tests(unit) if unit.kind == "loop" and not _decides(unit, subject) else ():
            if test.kind != "loop":
                continue
            goes_on = "never" if text(record(unit.node, "loop"), "type") == "until" else "always"
            if verdict(test.condition()) == goes_on:
                yield Finding(test.path, f"The condition of {shown(unit.id)} never ends it.")
            elif not _is_changed_inside(unit, [name for name, _ in test.variables()], subject):
                names = listed(dict.fromkeys(name for name, _ in test.variables()))
                yield Finding(test.path, f"No step of {shown(unit.id)} says to set {names}.")


@rule(
    "LOOP_DECISION_ONE_SIDED", "warning", "A loop decision can go both ways",
    why="An agent copies what it is shown. A prompt that knows only continue runs to the limit; "
    "one that knows only stop never repeats.",
    remedy="Say when to continue and when to stop; show both, or leave the example out.",
)  # fmt: skip
def loop_decision_one_sided(subject: Subject) -> Iterator[Finding]:
    """Report decision steps whose texts name one outcome only."""
    for unit in subject.steps:
        if not _asks_for_decision(unit):
            continue
        prose = "\n".join(each.text for each in unit.texts)
        goes_on, stops = bool(_GOES_ON.search(prose)), bool(_STOPS.search(prose))
        if goes_on is not stops:
            named = "continue" if goes_on else "stop"
            yield Finding(unit.path, f"The step {shown(unit.id)} speaks of {named} alone.")


@rule(
    "LOOP_LIMIT_HIGH", "warning", "A loop is bounded by what its work needs",
    why=f"Beyond {LIMIT_MAX} passes a loop that went wrong costs more than anybody would spend by "
    "intent.",
    remedy="Lower maxIterations, or split what the loop goes over.",
)  # fmt: skip
def loop_limit_high(subject: Subject) -> Iterator[Finding]:
    """Report limits beyond any sensible number of passes."""
    for unit in subject.units:
        limit = record(unit.node, "loop").get("maxIterations")
        if isinstance(limit, int) and limit > LIMIT_MAX:
            path = (*unit.path, "loop", "maxIterations")
            yield Finding(path, f"The loop {shown(unit.id)} may take {limit} passes.")


def _asks_for_decision(unit: Unit) -> bool:
    return text(record(unit.node, "outputContract"), "contractRef") == LOOP_CONTROL_REF


def _decides(loop: Unit, subject: Subject) -> bool:
    """Tell whether decisions steer a loop; its condition is not asked then."""
    source = record(record(loop.node, "loop"), "conditionSource")
    if source:
        return source.get("kind") == "artifact_contract"
    return any(_asks_for_decision(each) for each in subject.inside(loop) if each.loops[-1] is loop)


def _is_changed_inside(loop: Unit, names: list[str], subject: Subject) -> bool:
    inside = subject.inside(loop)
    own = set(loop_variables(loop))
    return any(name in own or any(is_named(name, each.words) for each in inside) for name in names)


RULES: Final[tuple[Rule, ...]] = (
    loop_ends_only_at_limit,
    loop_decision_one_sided,
    loop_limit_high,
)

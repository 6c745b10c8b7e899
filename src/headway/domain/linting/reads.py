"""What a workflow reads of its context, and when: conditions, loops, delegations, placeholders."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from headway.domain.compiler.conditions import read_condition
from headway.domain.compiler.nodes import record, records, text
from headway.domain.compiler.reporting import Report
from headway.domain.diagnostics import Path, Position
from headway.domain.linting.subject import PLACEHOLDER, Subject, Unit
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Condition

TestKind: TypeAlias = Literal["step", "loop", "fragment", "delegation", "confirmation", "rule"]

NAMES: Final[dict[TestKind, str]] = {
    "step": "runCondition",
    "loop": "condition",
    "fragment": "fragment's condition",
    "delegation": "delegation's condition",
    "confirmation": "confirmation's condition",
    "rule": "rule's condition",
}


@dataclass(frozen=True, slots=True)
class Test:
    """A condition with its place and the unit that asks it."""

    unit: Unit
    kind: TestKind
    path: Path
    value: JsonObject

    def condition(self) -> Condition:
        return read_condition(self.value, self.path, Report("", lambda *_: _NOWHERE))

    def variables(self) -> Iterator[tuple[str, Path]]:
        """Yield each variable it compares, with the place of its name."""
        yield from _variables(self.value, self.path)


@dataclass(frozen=True, slots=True)
class Read:
    """A variable read outside of a condition, before the agent can do anything at the unit."""

    unit: Unit
    variable: str
    path: Path


_BOUND_BY: Final = {"for": "count", "forEach": "items"}
_NOWHERE: Final = Position(line=1, column=1)


def tests_of(subject: Subject) -> Iterator[Test]:
    """Yield every condition of the workflow, in the order of a run."""
    for unit in subject.units:
        yield from unit_tests(unit)


def unit_tests(unit: Unit) -> Iterator[Test]:
    """Yield the conditions a unit asks."""
    node, path = unit.node, unit.path
    yield from _test(unit, "step", node, path, "runCondition")
    if unit.kind == "loop":
        loop = record(node, "loop")
        if text(loop, "type") in ("while", "until"):
            here = (*path, "loop")
            source = record(loop, "conditionSource")
            yield from _test(unit, "loop", source or loop, _within(here, source), "condition")
    for index, each in records(node, "promptFragments"):
        yield from _test(unit, "fragment", each, (*path, "promptFragments", index), "when")
    for index, each in records(node, "parallelDelegations"):
        here = (*path, "parallelDelegations", index)
        yield from _test(unit, "delegation", each, here, "runCondition")
    yield from _confirmation(unit)
    yield from _rules(unit, node.get("validationCriteria"), (*path, "validationCriteria"))


def reads_of(subject: Subject) -> Iterator[Read]:
    """Yield what is read elsewhere: what loops go over, what is mapped, placeholders."""
    for unit in subject.units:
        loop, here = record(unit.node, "loop"), (*unit.path, "loop")
        key = _BOUND_BY.get(text(loop, "type"), "")
        if isinstance(loop.get(key), str):
            yield Read(unit, text(loop, key), (*here, key))
        for index, each in records(unit.node, "parallelDelegations"):
            mapped = (*unit.path, "parallelDelegations", index, "contextMapping")
            for name in record(each, "contextMapping"):
                yield Read(unit, name, (*mapped, name))
        for prose in unit.texts:
            if prose.key:
                for name in dict.fromkeys(PLACEHOLDER.findall(prose.text)):
                    if name != "wr":
                        yield Read(unit, name, prose.path)


def _within(path: Path, source: JsonObject) -> Path:
    return (*path, "conditionSource") if source else path


def _test(unit: Unit, kind: TestKind, node: JsonObject, path: Path, key: str) -> Iterator[Test]:
    value = node.get(key)
    if isinstance(value, dict) and value:
        yield Test(unit, kind, (*path, key), value)


def _confirmation(unit: Unit) -> Iterator[Test]:
    wanted, path = record(unit.node, "requireConfirmation"), (*unit.path, "requireConfirmation")
    if "kind" in wanted:
        yield from _test(unit, "confirmation", wanted, path, "condition")
    elif wanted:
        yield Test(unit, "confirmation", path, wanted)


def _rules(unit: Unit, value: Json, path: Path) -> Iterator[Test]:
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _rules(unit, each, (*path, index))
    elif isinstance(value, dict):
        yield from _test(unit, "rule", value, path, "condition")
        for joint in ("and", "or", "not"):
            if joint in value:
                yield from _rules(unit, value[joint], (*path, joint))


def _variables(value: Json, path: Path) -> Iterator[tuple[str, Path]]:
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _variables(each, (*path, index))
    elif isinstance(value, dict):
        if "var" in value:
            yield text(value, "var"), (*path, "var")
            return
        for joint in ("and", "or", "not"):
            if joint in value:
                yield from _variables(value[joint], (*path, joint))

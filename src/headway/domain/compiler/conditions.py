"""Reading conditions: JSON to the closed set that the engine evaluates.

An object with `var` is a comparison; otherwise the first of `and`, `or`, `not` counts. Of several
operators on one `var` the first in the order of OPERATORS counts; the rest are told, not obeyed.
"""

from typing import Final, get_args

from headway.domain.compiler.checking import check
from headway.domain.compiler.kinds import Anything, Kind, ListOf, Number, Text
from headway.domain.compiler.reporting import Report, did_you_mean, kind_of, listed, shown
from headway.domain.diagnostics import Path
from headway.domain.patterns import PatternProblem, compile_pattern
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import (
    AllOf,
    Always,
    AnyOf,
    Compare,
    Condition,
    Malformed,
    Negation,
    Operator,
)  # fmt: skip

OPERATORS: Final[dict[Operator, Kind]] = {
    "equals": Anything(),
    "not_equals": Anything(),
    "gt": Number(),
    "gte": Number(),
    "lt": Number(),
    "lte": Number(),
    "contains": Text(),
    "startsWith": Text(),
    "endsWith": Text(),
    "matches": Text(),
    "in": ListOf(Anything()),
}
assert {*OPERATORS, "truthy"} == {*get_args(Operator)}

JOINTS: Final = ("and", "or", "not")
_KEYS: Final = ("var", *OPERATORS, *JOINTS)
_EXAMPLE: Final = 'Write {"var": "key", "equals": "value"}, or join such with and, or, not.'


def condition_at(node: JsonObject, key: str, path: Path, report: Report) -> Condition | None:
    """Return the condition under a key of the object at `path`; None where there is none."""
    value = node.get(key)
    return read_condition(value, (*path, key), report) if isinstance(value, dict) else None


def read_condition(value: Json, path: Path, report: Report, *, nested: bool = False) -> Condition:
    """Return the condition a value spells, reporting what is wrong with it."""
    if not isinstance(value, dict):
        report.add("CONDITION_SHAPE", path, f"The condition is {kind_of(value)}.", _EXAMPLE)
        return Malformed()
    if not value:
        if not nested:
            return Always()
        report.add(
            "CONDITION_EMPTY", path, "The condition is an empty object.", "Fill it or remove it."
        )
        return Malformed()
    unknown = _unknown_keys(value, path, report)
    if "var" in value:
        return _comparison(value, path, report)
    present = [joint for joint in JOINTS if joint in value]
    if not present:
        if not unknown:
            report.add("CONDITION_SHAPE", path, f"The condition is {shown(value)}.", _EXAMPLE)
        return Malformed()
    _warn_ignored(present, path, report)
    return _joined(present[0], value[present[0]], (*path, present[0]), report)


def _joined(joint: str, value: Json, path: Path, report: Report) -> Condition:
    if joint == "not":
        return Negation(term=read_condition(value, path, report, nested=True))
    if not isinstance(value, list):
        report.add(
            "WRONG_TYPE", path, f"{joint} is {kind_of(value)}.", "Put the conditions in brackets.",
            why=f"{joint} joins a list of conditions.",
        )  # fmt: skip
        return Malformed()
    terms = tuple(
        read_condition(each, (*path, index), report, nested=True)
        for index, each in enumerate(value)
    )
    return AllOf(terms=terms) if joint == "and" else AnyOf(terms=terms)


def _comparison(node: JsonObject, path: Path, report: Report) -> Condition:
    check(Text(1), node["var"], (*path, "var"), report)
    present = [operator for operator in OPERATORS if operator in node]
    for operator in present:
        check(OPERATORS[operator], node[operator], (*path, operator), report)
    _warn_ignored([*present, *(joint for joint in JOINTS if joint in node)], path, report)
    name = node["var"] if isinstance(node["var"], str) else ""
    if not present:
        return Compare(var=name, operator="truthy")
    operator = present[0]
    value = node[operator]
    if operator == "matches" and isinstance(value, str):
        check_pattern(value, "", (*path, operator), report)
    return Compare(var=name, operator=operator, value=value)


def check_pattern(pattern: str, flags: str, path: Path, report: Report) -> None:
    """Report a regular expression that cannot be used."""
    problem = compile_pattern(pattern, flags)
    if isinstance(problem, PatternProblem):
        report.add("REGEX_INVALID", path, f"{problem.what} It is {shown(pattern)}.", problem.remedy)


def _unknown_keys(node: JsonObject, path: Path, report: Report) -> list[str]:
    unknown = [key for key in node if key not in _KEYS]
    for key in unknown:
        remedy = did_you_mean(key, _KEYS, f"Remove it; the keys are {listed(_KEYS)}.")
        report.add(
            "UNKNOWN_KEY", (*path, key), f"A condition has no key {shown(key)}.", remedy,
            at_key=True,
        )  # fmt: skip
    return unknown


def _warn_ignored(present: list[str], path: Path, report: Report) -> None:
    for ignored in present[1:]:
        report.add(
            "CONDITION_OPERATORS", (*path, ignored),
            f"{present[0]} counts here, so {ignored} changes nothing.",
            "Join two conditions with and or or.", at_key=True,
        )  # fmt: skip

"""Reading validation criteria: a rule, a list of rules that must all pass, or a composition."""

from typing import Final, Literal, TypeAlias

from headway.domain.compiler.checking import check
from headway.domain.compiler.conditions import check_pattern, condition_at
from headway.domain.compiler.grammar import RULE
from headway.domain.compiler.nodes import maybe_text, text
from headway.domain.compiler.reporting import Report, kind_of, listed, shown
from headway.domain.diagnostics import Path
from headway.domain.json_schema import schema_problems
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Criteria, EveryRule, NoRule, Rule, SomeRule

RuleType: TypeAlias = Literal["contains", "regex", "length", "schema"]

_JOINTS: Final = ("and", "or", "not")
_EXAMPLE: Final = 'Write {"type": "contains", "value": "…", "message": "…"}, or a list of such.'
NEEDED: Final[dict[RuleType, tuple[str, ...]]] = {
    "contains": ("value",),
    "regex": ("pattern",),
    "length": ("min", "max"),
    "schema": ("schema",),
}


def criteria_at(node: JsonObject, key: str, path: Path, report: Report) -> Criteria | None:
    """Return the criteria under a key; None where there are none."""
    value = node.get(key)
    path = (*path, key)
    if isinstance(value, list):
        parts = _parts(value, path, report)
        return EveryRule(parts=parts, listed=True) if parts else None
    return _read(value, path, report) if isinstance(value, dict) else None


def check_schema(schema: Json, path: Path, report: Report) -> None:
    """Report what is wrong with a JSON Schema."""
    for problem in schema_problems(schema):
        report.add("SCHEMA_INVALID", path, problem, "Mend the schema at that place.")


def _parts(values: list[Json], path: Path, report: Report) -> tuple[Criteria, ...]:
    read = (_read(each, (*path, index), report) for index, each in enumerate(values))
    return tuple(each for each in read if each)


def _read(value: Json, path: Path, report: Report) -> Criteria | None:
    if not isinstance(value, dict):
        report.add("CRITERIA_SHAPE", path, f"Here stands {kind_of(value)}.", _EXAMPLE)
        return None
    joints = [joint for joint in _JOINTS if joint in value]
    if "type" in value or not joints:
        check(RULE, value, path, report)
        return _rule(value, path, report)
    for extra in value.keys() - {joints[0]}:
        report.add(
            "CRITERIA_SHAPE", (*path, extra), f"{shown(extra)} stands beside {joints[0]}.",
            f"Keep one of {listed(_JOINTS)} in an object; nest them to combine.", at_key=True,
        )  # fmt: skip
    return _composed(joints[0], value[joints[0]], (*path, joints[0]), report)


def _composed(joint: str, value: Json, path: Path, report: Report) -> Criteria | None:
    if joint == "not":
        part = _read(value, path, report)
        return NoRule(part=part) if part else None
    if not isinstance(value, list) or not value:
        found = "empty" if value == [] else kind_of(value)
        report.add("CRITERIA_SHAPE", path, f"{joint} is {found}.", "Give it a list of rules.")
        return None
    parts = _parts(value, path, report)
    return EveryRule(parts=parts) if joint == "and" else SomeRule(parts=parts)


def _rule(node: JsonObject, path: Path, report: Report) -> Rule | None:
    kind = node.get("type")
    match kind:
        case "contains" | "regex" | "length" | "schema":
            _check_complete(kind, node, path, report)
        case _:
            return None
    condition = condition_at(node, "condition", path, report)
    message = text(node, "message")
    match kind:
        case "contains":
            value = maybe_text(node, "value")
            return Rule(type="contains", message=message, value=value, condition=condition)
        case "regex":
            pattern, flags = text(node, "pattern"), text(node, "flags")
            check_pattern(pattern, flags, (*path, "pattern"), report)
            return Rule(
                type="regex", message=message, pattern=pattern, flags=flags, condition=condition
            )
        case "length":
            least, most = _bound(node, "min"), _bound(node, "max")
            if least is not None and most is not None and least > most:
                report.add(
                    "RULE_RANGE", (*path, "min"), f"min is {least:g} and max is {most:g}.",
                    "Exchange them.",
                )  # fmt: skip
            return Rule(type="length", message=message, min=least, max=most, condition=condition)
        case "schema":
            schema = node.get("schema")
            if not isinstance(schema, dict):
                return None
            check_schema(schema, (*path, "schema"), report)
            return Rule(type="schema", message=message, schema=schema, condition=condition)


def _check_complete(kind: RuleType, node: JsonObject, path: Path, report: Report) -> None:
    needed = NEEDED[kind]
    if not any(key in node for key in needed):
        report.add(
            "RULE_INCOMPLETE", path, f"The {kind} rule has no {' and no '.join(needed)}.",
            f"Add {' or '.join(needed)}.",
        )  # fmt: skip


def _bound(node: JsonObject, key: str) -> float | None:
    value = node.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None

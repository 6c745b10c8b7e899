"""Validation criteria: what the text of the notes must hold.

Laws.
1. In the array form each failing rule tells its own message. A composition that fails tells one
   general issue; the messages of its failing rules become suggestions.
2. A rule whose condition is false counts as passed.
3. Lengths are counted in UTF-16 code units, as the authors of existing rules counted them.
"""

from typing import Final, assert_never

import msgspec

from headway.domain.conditions import holds
from headway.domain.json_schema import schema_issues
from headway.domain.patterns import PatternProblem, compile_pattern, search
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Criteria, EveryRule, NoRule, Rule, SomeRule

COMPOSITION_ISSUE: Final = "The notes do not meet the combination of rules this step asks for."
BLANK_ISSUE: Final = "The notes are empty."
_RAW_JSON_HINT: Final = "Send the JSON itself as the notes, not a JSON text inside quotes."


class NotesJudgement(Value):
    """Whether notes pass, with the issues and, apart from them, what would help."""

    valid: bool
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


def judge_notes(criteria: Criteria, notes: str, variables: JsonObject) -> NotesJudgement:
    """Judge notes by a step's criteria, conditions of rules read from the variables."""
    judged = _Judging(notes, variables)
    parts = criteria.parts if isinstance(criteria, EveryRule) and criteria.listed else (criteria,)
    if not parts and not notes.strip():
        return NotesJudgement(valid=False, issues=(BLANK_ISSUE,))
    issues: list[str] = []
    suggestions: list[str] = []
    for part in parts:
        if judged.passes(part):
            continue
        if isinstance(part, Rule):
            issues.append(part.message)
        else:
            issues.append(COMPOSITION_ISSUE)
            suggestions += judged.failing(part)
    return NotesJudgement(
        valid=not issues,
        issues=tuple(dict.fromkeys(issues)),
        suggestions=tuple(dict.fromkeys([*suggestions, *(judged.details if issues else ())])),
    )


class _Judging:
    """The notes under judgement; `details` gathers what schema and pattern rules saw."""

    def __init__(self, notes: str, variables: JsonObject) -> None:
        self.notes = notes
        self.variables = variables
        self.details: list[str] = []

    def passes(self, criteria: Criteria) -> bool:
        match criteria:
            case Rule():
                applies = criteria.condition is None or holds(criteria.condition, self.variables)
                return not applies or self._passes_rule(criteria)
            case EveryRule(parts=parts):
                return all(self.passes(part) for part in parts)
            case SomeRule(parts=parts):
                return any(self.passes(part) for part in parts)
            case NoRule(part=part):
                return not self.passes(part)
            case _:
                assert_never(criteria)

    def failing(self, criteria: Criteria) -> list[str]:
        """Return the messages of the rules that make a failed composition fail."""
        match criteria:
            case Rule(message=message):
                return [] if self.passes(criteria) else [message]
            case EveryRule(parts=parts) | SomeRule(parts=parts):
                return [message for part in parts for message in self.failing(part)]
            case NoRule(part=part):
                return [f"Must not hold: {message}" for message in self._holding(part)]
            case _:
                assert_never(criteria)

    def _holding(self, criteria: Criteria) -> list[str]:
        match criteria:
            case Rule(message=message):
                return [message] if self.passes(criteria) else []
            case EveryRule(parts=parts) | SomeRule(parts=parts):
                return [message for part in parts for message in self._holding(part)]
            case NoRule():
                return []
            case _:
                assert_never(criteria)

    def _passes_rule(self, rule: Rule) -> bool:
        match rule.type:
            case "contains":
                return (rule.value or "") in self.notes
            case "regex":
                return self._matches(rule)
            case "length":
                units = len(self.notes.encode("utf-16-le", "surrogatepass")) // 2
                return (rule.min is None or units >= rule.min) and (
                    rule.max is None or units <= rule.max
                )
            case "schema":
                return self._fits(rule.schema or {})
            case _:
                assert_never(rule.type)

    def _matches(self, rule: Rule) -> bool:
        pattern = compile_pattern(rule.pattern or "", rule.flags)
        if isinstance(pattern, PatternProblem):
            # The compiler refuses such a pattern; one from elsewhere fails closed and says why.
            self.details.append(f"{pattern.what} {pattern.remedy}")
            return False
        return search(pattern, self.notes)

    def _fits(self, schema: JsonObject) -> bool:
        value = parse_json(self.notes)
        if value is None:
            self.details.append("The notes are not JSON.")
            return False
        document = value.document
        if isinstance(document, str) and _wants_structure(schema):
            inner = parse_json(document)
            if inner is not None:
                document = inner.document
                self.details.append(_RAW_JSON_HINT)
        found = schema_issues(schema, document)
        self.details += found
        return not found


class Parsed(Value):
    """A JSON text that could be read."""

    document: Json


def parse_json(text: str) -> Parsed | None:
    """Return what a JSON text holds, None when it is not JSON."""
    try:
        document: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return Parsed(document=document)


def _wants_structure(schema: JsonObject) -> bool:
    kinds = schema.get("type")
    wanted = kinds if isinstance(kinds, list) else [kinds]
    return "object" in wanted or "array" in wanted or bool({"properties", "items"} & schema.keys())

"""Validation criteria in words: what the notes of a step must be like.

Only what counts now is told: a rule under a condition that does not hold is passed over, and so is
an alternative that such a rule already satisfies.
"""

import json
from typing import Final, assert_never

from headway.domain.conditions import holds
from headway.domain.texts import cut_text
from headway.domain.values import JsonObject
from headway.domain.workflow import Criteria, EveryRule, NoRule, Rule, SomeRule, Step

REQUIREMENTS_MAX: Final = 5
SCHEMA_BYTES_MAX: Final = 1_024


def render_criteria(step: Step, variables: JsonObject) -> str:
    """Return the requirements as a list of `REQUIREMENTS_MAX` at most, "" when none counts."""
    criteria = step.criteria
    if criteria is None:
        return ""
    parts = criteria.parts if isinstance(criteria, EveryRule) else (criteria,)
    told = [text for part in parts if (text := _wording(part, variables)) is not None]
    if not told:
        return ""
    lines = [f"- {text}" for text in told[:REQUIREMENTS_MAX]]
    if len(told) > REQUIREMENTS_MAX:
        lines.append(f"- and meet {len(told) - REQUIREMENTS_MAX} more, told if one fails")
    # Of contract, assessments and criteria only the first a step has is enforced, as recorded.
    verb = "should" if step.output_contract or step.assessment_refs else "must"
    return "\n".join([f"Your notes {verb}:", *lines])


def _wording(criteria: Criteria, variables: JsonObject) -> str | None:
    match criteria:
        case Rule():
            return _rule(criteria) if holds(criteria.condition, variables) else None
        case EveryRule(parts=parts):
            told = [text for part in parts if (text := _wording(part, variables)) is not None]
            return "; and ".join(told) or None
        case SomeRule(parts=parts):
            options = [_wording(part, variables) for part in parts]
            told = [option for option in options if option is not None]
            satisfied = not options or len(told) < len(options)
            return None if satisfied else "either " + "; or ".join(told)
        case NoRule(part=part):
            text = _wording(part, variables)
            return None if text is None else f"not: {text}"
        case _:
            assert_never(criteria)


def _rule(rule: Rule) -> str:
    wanted = _wanted(rule)
    return f"{wanted} ({rule.message})" if rule.message else wanted


def _wanted(rule: Rule) -> str:
    match rule.type:
        case "contains":
            return f"contain {json.dumps(rule.value or '', ensure_ascii=False)}"
        case "regex":
            return f"match /{rule.pattern or ''}/{rule.flags}"
        case "length":
            return _length(rule.min, rule.max)
        case "schema":
            schema = json.dumps(rule.schema or {}, ensure_ascii=False, separators=(",", ":"))
            return f"be JSON that satisfies {cut_text(schema, SCHEMA_BYTES_MAX)}"
        case _:
            assert_never(rule.type)


def _length(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"be {least:.16g} to {most:.16g} characters long"
    if most is not None:
        return f"be at most {most:.16g} characters long"
    return f"be at least {least or 0:.16g} characters long"

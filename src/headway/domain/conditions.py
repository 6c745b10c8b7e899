"""Conditions: when a step runs, a fragment shows, a loop goes on, a rule counts.

Laws.
1. A variable is one key of the context, looked up as it is written; dots mean nothing. Missing and
   null are the same.
2. Equality is lenient: texts are trimmed and compared without case; a text equals the number or
   truth value it spells; arrays and objects equal nothing, themselves included.
3. Order (gt, gte, lt, lte) is for numbers alone; a text that spells one never matches.
4. contains, startsWith, endsWith and matches look at the value as trimmed text without regard to
   case. A missing value is the empty text; a sought text is trimmed too, a pattern is not. An
   object says nothing of what it holds.
5. A malformed part makes the whole condition false, wherever it stands.
"""

from typing import Final, assert_never

from headway.domain.coercions import json_text, to_number, to_text, trim
from headway.domain.coercions import truthy as is_truthy
from headway.domain.patterns import Pattern, compile_pattern, search
from headway.domain.texts import cut_text
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
)

CONDITION_TEXT_BYTES_MAX: Final = 512

_TRUE_TEXTS: Final = frozenset({"true", "1", "yes"})
_FALSE_TEXTS: Final = frozenset({"false", "0", "no"})
_SIGNS: Final[dict[Operator, str]] = {
    "truthy": "is set",
    "equals": "equals",
    "not_equals": "does not equal",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "contains": "contains",
    "startsWith": "starts with",
    "endsWith": "ends with",
    "matches": "matches",
    "in": "is one of",
}


def holds(condition: Condition | None, variables: JsonObject) -> bool:
    """Tell whether a condition is true of the variables; no condition always is."""
    if condition is None:
        return True
    return not _is_malformed(condition) and _evaluate(condition, variables)


def describe(condition: Condition | None) -> str:
    """Return the condition in words, for the record of a skip."""
    text = "always" if condition is None else _describe(condition, nested=False)
    return cut_text(text, CONDITION_TEXT_BYTES_MAX)


def _is_malformed(condition: Condition) -> bool:
    match condition:
        case Malformed():
            return True
        case AllOf(terms=terms) | AnyOf(terms=terms):
            return any(_is_malformed(term) for term in terms)
        case Negation(term=term):
            return _is_malformed(term)
        case Compare() | Always():
            return False
        case _:
            assert_never(condition)


def _evaluate(condition: Condition, variables: JsonObject) -> bool:
    match condition:
        case Compare():
            return _compare(condition, variables.get(condition.var))
        case AllOf(terms=terms):
            return all(_evaluate(term, variables) for term in terms)
        case AnyOf(terms=terms):
            return any(_evaluate(term, variables) for term in terms)
        case Negation(term=term):
            return not _evaluate(term, variables)
        case Always():
            return True
        case Malformed():
            return False
        case _:
            assert_never(condition)


def _compare(leaf: Compare, value: Json) -> bool:
    match leaf.operator:
        case "truthy":
            return is_truthy(value)
        case "equals":
            return leniently_equal(value, leaf.value)
        case "not_equals":
            return not leniently_equal(value, leaf.value)
        case "gt" | "gte" | "lt" | "lte":
            return _in_order(leaf.operator, value, leaf.value)
        case "contains" | "startsWith" | "endsWith" | "matches":
            return _text_matches(leaf.operator, value, leaf.value)
        case "in":
            members = leaf.value if isinstance(leaf.value, list | tuple) else ()
            return any(leniently_equal(value, member) for member in members)
        case _:
            assert_never(leaf.operator)


def leniently_equal(one: Json, other: Json) -> bool:
    """Tell whether two values are equal in the lenient sense of law 2."""
    if one is None or other is None:
        return one is other
    if isinstance(one, str) and isinstance(other, str):
        return _plain(one) == _plain(other)
    if isinstance(one, str):
        return _spells(one, other)
    if isinstance(other, str):
        return _spells(other, one)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return False


def _spells(text: str, value: Json) -> bool:
    if isinstance(value, bool):
        return _plain(text) in (_TRUE_TEXTS if value else _FALSE_TEXTS)
    if isinstance(value, int | float):
        return to_number(text) == value
    return False


def _in_order(operator: Operator, value: Json, bound: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        return False
    match operator:
        case "gt":
            return value > bound
        case "gte":
            return value >= bound
        case "lt":
            return value < bound
        case _:
            return value <= bound


def _text_matches(operator: Operator, value: Json, sought: Json) -> bool:
    text = _searched_text(value)
    if operator == "matches":
        pattern = compile_pattern(to_text(sought), ignore_case=True)
        return isinstance(pattern, Pattern) and search(pattern, text)
    text, wanted = text.lower(), _searched_text(sought).lower()
    match operator:
        case "contains":
            return wanted in text
        case "startsWith":
            return text.startswith(wanted)
        case _:
            return text.endswith(wanted)


def _searched_text(value: Json) -> str:
    return "" if value is None else trim(_script_text(value))


def _script_text(value: Json) -> str:
    """Return `String(value)` to the letter; in templates alone does an object print as JSON."""
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list | tuple):
        return ",".join("" if item is None else _script_text(item) for item in value)
    return to_text(value)


def _plain(text: str) -> str:
    return trim(text).lower()


def _describe(condition: Condition, *, nested: bool) -> str:
    match condition:
        case Compare(var=var, operator="truthy"):
            return f"{var} {_SIGNS['truthy']}"
        case Compare(var=var, operator=operator, value=value):
            return f"{var} {_SIGNS[operator]} {json_text(value)}"
        case AllOf(terms=terms):
            return _joined(terms, "and", "always", nested=nested)
        case AnyOf(terms=terms):
            return _joined(terms, "or", "never", nested=nested)
        case Negation(term=term):
            return f"not ({_describe(term, nested=False)})"
        case Always():
            return "always"
        case Malformed():
            return "a malformed condition"
        case _:
            assert_never(condition)


def _joined(terms: tuple[Condition, ...], word: str, empty: str, *, nested: bool) -> str:
    if not terms:
        return empty
    text = f" {word} ".join(_describe(term, nested=len(terms) > 1) for term in terms)
    return f"({text})" if nested and len(terms) > 1 else text

"""Conditions hold as recorded, operator by operator."""

import pytest

from headway.domain.conditions import describe, holds, leniently_equal
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


def leaf(var: str, operator: Operator, value: Json = None) -> Compare:
    return Compare(var=var, operator=operator, value=value)


A: JsonObject = {
    "mode": "fast",
    "n": 5,
    "flag": True,
    "text": "has NEEDLE here",
    "arr": ["x", "y"],
    "obj": {"key": 1},
    "ns": "5",
    "a": 1,
    "b": 3,
}
B: JsonObject = {"mode": "slow", "n": 3, "flag": False, "text": "none", "a": 1, "b": 2}
NESTED = AllOf(
    terms=(
        AnyOf(terms=(leaf("a", "equals", 1), leaf("b", "equals", 2))),
        Negation(term=AllOf(terms=(leaf("a", "equals", 1), leaf("b", "equals", 2)))),
    )
)


@pytest.mark.parametrize(
    ("condition", "in_a", "in_b", "in_nothing"),
    [
        (leaf("mode", "equals", "fast"), True, False, False),
        (leaf("mode", "not_equals", "slow"), True, False, True),
        (leaf("n", "gt", 3), True, False, False),
        (leaf("n", "gte", 5), True, False, False),
        (leaf("n", "lt", 5), False, True, False),
        (leaf("n", "lte", 5), True, True, False),
        (AllOf(terms=(leaf("mode", "equals", "fast"), leaf("n", "gt", 1))), True, False, False),
        (
            AnyOf(terms=(leaf("mode", "equals", "z"), leaf("flag", "equals", value=True))),
            True,
            False,
            False,
        ),
        (Negation(term=leaf("flag", "equals", value=True)), False, True, True),
        (leaf("mode", "in", ["a", "fast"]), True, False, False),
        (leaf("text", "contains", "needle"), True, False, False),
        (leaf("flag", "truthy"), True, False, False),
        (leaf("nope", "equals", "x"), False, False, False),
        (leaf("nope", "not_equals", "x"), True, True, True),
        (leaf("mode", "equals", "FAST"), True, False, False),
        (leaf("n", "equals", "5"), True, False, False),
        (leaf("flag", "equals", "true"), True, False, False),
        (NESTED, True, False, False),
        (Always(), True, True, True),
        (leaf("obj.key", "equals", 1), False, False, False),
        (leaf("ns", "gt", 3), False, False, False),
        (leaf("arr", "contains", "x"), True, False, False),
        (None, True, True, True),
    ],
)
def test_the_recorded_conditions_hold_where_they_held(
    condition: Condition | None, *, in_a: bool, in_b: bool, in_nothing: bool
) -> None:
    assert [holds(condition, v) for v in (A, B, {})] == [in_a, in_b, in_nothing]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (None, None, True),
        (None, "", False),
        (" Fast ", "fAST", True),
        ("", 0, True),
        (0, " ", True),
        ("0x10", 16, True),
        ("5.0", 5, True),
        ("five", 5, False),
        ("YES ", True, True),
        (False, "no", True),
        (False, "", False),
        (1, True, False),
        (1, 1.0, True),
        ([], [], False),
        ({}, {}, False),
        ("x", ["x"], False),
    ],
)
def test_equality_is_lenient_both_ways(one: Json, other: Json, *, expected: bool) -> None:
    assert leniently_equal(one, other) is expected
    assert leniently_equal(other, one) is expected


@pytest.mark.parametrize("operator", ["gt", "gte", "lt", "lte"])
def test_order_is_for_numbers_alone(operator: Operator) -> None:
    for value in (True, "5", None, [5]):
        assert not holds(leaf("v", operator, 1), {"v": value})
        assert not holds(leaf("v", operator, value), {"v": 1})


@pytest.mark.parametrize(
    ("operator", "value", "sought", "expected"),
    [
        ("startsWith", "  Hello", "hell", True),
        ("endsWith", "Hello  ", "LLO", True),
        ("contains", 1.0, "1", True),
        ("contains", ["a", None, "b"], "a,,b", True),
        ("contains", None, "", True),
        ("contains", None, "null", False),
        ("contains", "a needle here", " Needle\n", True),
        ("endsWith", "Hello", "lo ", True),
        ("contains", {"key": "needle"}, "needle", False),
        ("contains", [{"key": 1}, 2], "[object object],2", True),
        ("matches", "Release 12", r"^release \d+$", True),
        ("matches", "aaa", "(?=a)", False),
        ("matches", "aaa", "(", False),
    ],
)
def test_text_operators_look_at_trimmed_text_without_case(
    operator: Operator, value: Json, sought: str, *, expected: bool
) -> None:
    assert holds(leaf("v", operator, sought), {"v": value}) is expected


def test_no_terms_are_all_true_and_none_true() -> None:
    assert holds(AllOf(terms=()), {})
    assert not holds(AnyOf(terms=()), {})


def test_a_malformed_part_makes_the_whole_false() -> None:
    assert not holds(Malformed(), {})
    assert not holds(Negation(term=Malformed()), {})
    assert not holds(AnyOf(terms=(Always(), Malformed())), {})


def test_a_condition_is_told_in_words() -> None:
    fast = leaf("mode", "equals", "fast")
    many = leaf("n", "gt", 3.0)
    assert describe(AllOf(terms=(fast, many))) == 'mode equals "fast" and n > 3'
    either = AnyOf(terms=(many, leaf("flag", "truthy")))
    assert describe(AllOf(terms=(fast, either))) == 'mode equals "fast" and (n > 3 or flag is set)'
    assert describe(Negation(term=either)) == "not (n > 3 or flag is set)"
    assert describe(leaf("v", "in", ["x"] * 1000)).endswith(" […]")
    assert describe(None) == describe(Always()) == describe(AllOf(terms=())) == "always"
    assert describe(AnyOf(terms=())) == "never"
    assert describe(Negation(term=Malformed())) == "not (a malformed condition)"

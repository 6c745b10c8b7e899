"""Values are found under which conditions come out as wanted, and it is told when none do."""

import pytest

from headway.domain.conditions import holds
from headway.domain.simulating.samples import instance, sample
from headway.domain.simulating.solving import Found, Impossible, solve
from headway.domain.values import JsonObject
from headway.domain.workflow import AllOf, AnyOf, Compare, Condition, Malformed, Negation

SIZE = Compare(var="size", operator="equals", value="large")
COUNT = Compare(var="count", operator="gte", value=3)
FEW = Compare(var="count", operator="lt", value=5)
NAMED = Compare(var="name", operator="matches", value=r"^rel-\d+(\.x)?$")
ALL = frozenset({"size", "count", "name"})


@pytest.mark.parametrize(
    "condition",
    [
        SIZE,
        NAMED,
        AllOf(terms=(COUNT, FEW)),
        AnyOf(terms=(AllOf(terms=(SIZE, Negation(term=SIZE))), FEW)),
        Negation(term=AnyOf(terms=(SIZE, COUNT))),
    ],
)
@pytest.mark.parametrize("outcome", [True, False])
def test_what_is_found_is_true(condition: Condition, *, outcome: bool) -> None:
    found = solve(((condition, outcome),), {"size": "large", "count": 1}, ALL)
    assert isinstance(found, Found)
    after = {"size": "large", "count": 1, **found.values}
    assert holds(condition, after) is outcome


def test_what_holds_already_is_left_as_it_is() -> None:
    assert solve(((SIZE, True),), {"size": "Large"}, ALL) == Found(values={})


def test_a_contradiction_is_surely_impossible() -> None:
    found = solve(((SIZE, True), (SIZE, False)), {}, ALL)
    assert found == Impossible(sure=True)


def test_a_malformed_condition_is_never_true() -> None:
    condition = AllOf(terms=(SIZE, Malformed()))
    assert solve(((condition, True),), {}, ALL) == Impossible(sure=True)
    assert solve(((condition, False),), {"size": "large"}, ALL) == Found(values={})


def test_what_may_not_be_set_is_named() -> None:
    assert solve(((SIZE, True),), {}, frozenset()) == Impossible(sure=True, missing=("size",))


def test_a_pattern_nothing_was_found_for_is_not_called_impossible() -> None:
    odd = Compare(var="name", operator="matches", value=r"\bx\b.{40}[^\x00-\x7f]")
    found = solve(((odd, True),), {}, ALL)
    assert found == Impossible(sure=False)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^v\d+\.\d{2}$", "v7.77"),
        (r"(alpha|beta)s?", "alpha"),
        (r"[^x]+[a-z]", "7a"),
        (r"(?:one|two)\b", "one"),
    ],
)
def test_a_pattern_has_a_sample(pattern: str, text: str) -> None:
    assert sample(pattern) == text


def test_a_schema_has_an_instance() -> None:
    schema: JsonObject = {
        "type": "object",
        "required": ["kind", "items", "size", "word"],
        "properties": {
            "kind": {"const": "finding"},
            "items": {"type": "array", "minItems": 2, "items": {"enum": ["a", "b"]}},
            "size": {"type": "integer", "minimum": 3},
            "word": {"type": "string", "minLength": 4},
            "left": {"type": "string"},
        },
    }
    assert instance(schema) == {"kind": "finding", "items": ["a", "a"], "size": 4, "word": "xxxx"}

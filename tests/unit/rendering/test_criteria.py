import pytest

from headway.domain.rendering.criteria import SCHEMA_BYTES_MAX, render_criteria
from headway.domain.values import JsonObject
from headway.domain.workflow import (
    AnyOf,
    Compare,
    Criteria,
    EveryRule,
    NoRule,
    OutputContract,
    Rule,
    SomeRule,
    Step,
)

NEVER = AnyOf(terms=())
ALPHA = Rule(type="contains", value="alpha", message="")
BETA = Rule(type="contains", value="beta", message="")
ASLEEP = Rule(type="contains", value="zzz", message="", condition=NEVER)


def told(criteria: Criteria | None, variables: JsonObject | None = None) -> str:
    return render_criteria(Step(id="one", title="One", criteria=criteria), variables or {})


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (10, None, "be at least 10 characters long"),
        (None, 90, "be at most 90 characters long"),
        (10, 90.5, "be 10 to 90.5 characters long"),
        (None, None, "be at least 0 characters long"),
    ],
)
def test_lengths_are_told_in_words(least: float | None, most: float | None, words: str) -> None:
    rule = Rule(type="length", min=least, max=most, message="")
    assert told(rule) == f"Your notes must:\n- {words}"


def test_parts_inside_an_alternative_are_joined() -> None:
    criteria = SomeRule(parts=(EveryRule(parts=(ALPHA, BETA)), ALPHA))
    assert 'either contain "alpha"; and contain "beta"; or contain "alpha"' in told(criteria)


@pytest.mark.parametrize(
    "criteria",
    [
        ASLEEP,
        EveryRule(parts=(ASLEEP,)),
        EveryRule(parts=(EveryRule(parts=(ASLEEP,)),)),
        SomeRule(parts=(ALPHA, ASLEEP)),
        SomeRule(parts=()),
        NoRule(part=ASLEEP),
    ],
)
def test_what_does_not_count_now_is_not_told(criteria: Criteria) -> None:
    assert told(criteria) == ""


def test_a_rule_is_told_once_its_condition_holds() -> None:
    rule = Rule(
        type="contains", value="x", message="", condition=Compare(var="on", operator="truthy")
    )
    assert told(rule) == ""
    assert 'contain "x"' in told(rule, {"on": True})


def test_a_long_schema_is_cut_with_a_mark() -> None:
    schema = {"type": "object", "description": "x" * 5_000}
    text = told(Rule(type="schema", schema=schema, message=""))
    assert len(text.encode()) < SCHEMA_BYTES_MAX + 100
    assert text.endswith("[…]")


def test_criteria_beside_another_demand_are_told_as_a_wish() -> None:
    contract = OutputContract(ref="wr.contracts.gate_verdict")
    step = Step(id="one", title="One", criteria=ALPHA, output_contract=contract)
    assert render_criteria(step, {}).startswith("Your notes should:")
    judged = Step(id="one", title="One", criteria=ALPHA, assessment_refs=("quality",))
    assert render_criteria(judged, {}).startswith("Your notes should:")
    assert told(ALPHA).startswith("Your notes must:")
    assert told(None) == ""

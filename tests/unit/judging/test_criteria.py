"""Criteria judge the notes rule by rule and say what would satisfy them."""

import pytest

from headway.domain.criteria import BLANK_ISSUE, COMPOSITION_ISSUE, judge_notes
from headway.domain.workflow import Compare, Criteria, EveryRule, NoRule, Rule, SomeRule


def contains(word: str, condition: Compare | None = None) -> Rule:
    return Rule(type="contains", value=word, message=f"needs {word}", condition=condition)


def listed(*parts: Criteria) -> EveryRule:
    return EveryRule(parts=parts, listed=True)


def test_each_failing_rule_of_a_list_tells_its_message() -> None:
    criteria = listed(contains("alpha"), contains("beta"), contains("gamma"))
    judged = judge_notes(criteria, "only beta, Alpha", {})
    assert not judged.valid
    assert judged.issues == ("needs alpha", "needs gamma")
    assert judge_notes(criteria, "alpha beta gamma", {}).valid


def test_a_single_rule_tells_its_message() -> None:
    assert judge_notes(contains("x"), "y", {}).issues == ("needs x",)


def test_a_failing_composition_tells_one_issue_and_suggests_the_rest() -> None:
    criteria = EveryRule(
        parts=(
            SomeRule(parts=(contains("alpha"), contains("beta"))),
            NoRule(part=contains("gamma")),
        )
    )
    judged = judge_notes(criteria, "gamma words", {})
    assert judged.issues == (COMPOSITION_ISSUE,)
    assert judged.suggestions == ("needs alpha", "needs beta", "Must not hold: needs gamma")
    assert judge_notes(criteria, "just beta words", {}).valid
    assert judge_notes(criteria, "gamma alpha words", {}).suggestions == (
        "needs beta",
        "Must not hold: needs gamma",
    )


def test_a_rule_whose_condition_is_false_passes() -> None:
    strict = Compare(var="strict", operator="equals", value=True)
    criteria = listed(contains("STRICT", condition=strict))
    assert judge_notes(criteria, "no word", {}).valid
    assert not judge_notes(criteria, "no word", {"strict": True}).valid


@pytest.mark.parametrize(
    ("notes", "valid"), [("ab", False), ("abc", True), ("😀a", True), ("abcd", False)]
)
def test_length_counts_utf_16_units(notes: str, *, valid: bool) -> None:
    rule = Rule(type="length", min=3, max=3, message="three")
    assert judge_notes(rule, notes, {}).valid is valid
    assert judge_notes(Rule(type="length", message="any"), notes, {}).valid


def test_a_pattern_takes_flags() -> None:
    rule = Rule(type="regex", pattern=r"^ticket-\d+", flags="im", message="need ticket")
    assert judge_notes(rule, "x\nTicket-42 is done", {}).valid
    assert judge_notes(rule, "nothing", {}).issues == ("need ticket",)


def test_a_pattern_that_cannot_be_used_fails_closed() -> None:
    rule = Rule(type="regex", pattern="(?=x)", message="m")
    judged = judge_notes(rule, "x", {})
    assert not judged.valid
    assert "ahead or behind" in judged.suggestions[0]


SCHEMA = Rule(
    type="schema",
    schema={"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}},
    message="json obj with ok",
)


@pytest.mark.parametrize(
    ("notes", "valid"),
    [
        ('{"ok": true}', True),
        (r'"{\"ok\": true}"', True),
        ('"plain"', False),
        ("not json", False),
        ('{"ok": 1}', False),
        ("[" * 100_000, False),
        ("NaN", False),
    ],
)
def test_a_schema_judges_notes_that_are_json(notes: str, *, valid: bool) -> None:
    assert judge_notes(SCHEMA, notes, {}).valid is valid


def test_a_failing_schema_says_what_it_saw() -> None:
    judged = judge_notes(SCHEMA, r'"{\"ok\": 1}"', {})
    assert judged.issues == ("json obj with ok",)
    assert "ok must be of type boolean." in judged.suggestions
    assert any("inside quotes" in each for each in judged.suggestions)


def test_no_rules_still_want_words() -> None:
    assert judge_notes(listed(), " ", {}).issues == (BLANK_ISSUE,)
    assert judge_notes(listed(), "words", {}).valid

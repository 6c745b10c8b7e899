"""Assessments are read generously, judged strictly, and call for what they call for."""

from hypothesis import given
from hypothesis import strategies as st

from headway.domain.assessments import (
    Followup,
    NoLevel,
    NormalLevel,
    judge_assessments,
    normal_level,
    triggered,
)
from headway.domain.events import AssessmentResult, DimensionResult
from headway.domain.values import Json
from headway.domain.workflow import Assessment, Consequence, Dimension


def dimension(name: str, *levels: str, required: bool = True) -> Dimension:
    return Dimension(id=name, purpose="p", levels=levels, required=required)


ONE = Assessment(
    id="gate_one",
    purpose="p",
    dimensions=(
        dimension("quality", "low", "medium", "high"),
        dimension("risk", "low", "high", required=False),
    ),
)
TWO = Assessment(id="gate.two", purpose="p", dimensions=(dimension("fit", "low", "high"),))


def sent(name: str | None, **levels: Json) -> Json:
    named: dict[str, Json] = {} if name is None else {"assessmentId": name}
    return {"kind": "wr.assessment", "dimensions": levels, **named}


def test_an_assessment_is_recorded_in_the_order_of_its_definition() -> None:
    artifact = sent(None, risk=" HIGH", quality={"level": "high", "rationale": "good"})
    judged = judge_assessments(("gate_one",), (ONE, TWO), ("x", artifact))
    assert judged.issues == ()
    assert judged.results == (
        AssessmentResult(
            assessment="gate_one",
            dimensions=(
                DimensionResult(dimension="quality", level="high", rationale="good"),
                DimensionResult(dimension="risk", level="high", exact=False),
            ),
            notes=("risk was read as high.",),
        ),
    )


def issues(refs: tuple[str, ...], *artifacts: Json) -> tuple[str, ...]:
    judged = judge_assessments(refs, (ONE, TWO), artifacts)
    assert judged.results == ()
    assert judged.suggestions
    return judged.issues


def test_what_is_wrong_is_named() -> None:
    one = ("gate_one",)
    assert issues(one) == ("Assessment gate_one was not handed in.",)
    assert issues(one, sent("gate_one", quality="superb", risk="high", zzz="low")) == (
        'Assessment gate_one has no dimension "zzz".',
        'Assessment gate_one: level "superb" of quality is none of low, medium, high.',
    )
    assert issues(one, sent("gate_one", risk="high")) == (
        "Assessment gate_one lacks the dimension quality.",
    )
    assert issues(one, sent("gate.two", quality="low"), sent("gate_one", quality="low")) == (
        'The assessment names "gate.two"; this step asks for gate_one.',
    )
    assert "at least 1 keys" in issues(one, sent("gate_one"))[0]
    assert issues(one, sent("gate_one", quality={"level": "low", "x": 1}))


def test_several_assessments_are_matched_by_name() -> None:
    both = ("gate_one", "gate.two")
    fine = (sent("gate.two", fit="low"), sent("gate_one", quality="low"))
    judged = judge_assessments(both, (TWO, ONE), fine)
    assert [result.assessment for result in judged.results] == ["gate_one", "gate.two"]
    assert issues(both, sent(None, quality="low"), sent("gate.two", fit="low")) == (
        "Assessment gate_one was not handed in.",
    )


def test_of_several_artifacts_of_one_name_the_first_well_formed_one_counts() -> None:
    both = ("gate_one", "gate.two")
    bad = sent("gate_one", quality={"level": "low", "x": 1})
    good = sent("gate_one", quality="low")
    two = sent("gate.two", fit="low")
    judged = judge_assessments(both, (ONE, TWO), (bad, two, good))
    assert [result.assessment for result in judged.results] == ["gate_one", "gate.two"]
    assert "gate_one" in issues(both, bad, two)[0]


def test_levels_that_differ_in_case_alone_are_ambiguous() -> None:
    assert normal_level("Low", ("low", "LOW")) == NoLevel(candidates=("low", "LOW"))
    assert normal_level("LOW", ("low", "LOW")) == NormalLevel(level="LOW", exact=True)
    confusing = Assessment(id="c", purpose="p", dimensions=(dimension("d", "low", "LOW"),))
    judged = judge_assessments(("c",), (confusing,), (sent("c", d="Low"),))
    assert judged.issues == ('Assessment c: level "Low" of d could be low or LOW.',)


LEVELS = st.lists(st.text(min_size=1), min_size=1, unique=True).map(tuple)


@given(LEVELS, st.text())
def test_a_level_is_found_exactly_or_by_plain_text_alone(
    levels: tuple[str, ...], text: str
) -> None:
    found = normal_level(text, levels)
    if isinstance(found, NormalLevel):
        assert found.level in levels
        assert found.exact is (text == found.level)
    else:
        assert text not in levels
        assert len(found.candidates) != 1


@given(LEVELS, st.data())
def test_a_level_as_written_is_that_level(levels: tuple[str, ...], data: st.DataObject) -> None:
    level = data.draw(st.sampled_from(levels))
    assert normal_level(level, levels) == NormalLevel(level=level, exact=True)


def test_each_consequence_fires_on_its_first_match() -> None:
    artifacts = (sent("gate_one", quality="low", risk="low"), sent("gate.two", fit="low"))
    results = judge_assessments(("gate_one", "gate.two"), (ONE, TWO), artifacts).results
    fired = triggered(
        (
            Consequence(level="low", guidance="any"),
            Consequence(level="low", guidance="two", assessment="gate.two"),
            Consequence(level="high", guidance="never"),
        ),
        results,
    )
    assert fired == (
        Followup(assessment="gate_one", dimension="quality", level="low", guidance="any"),
        Followup(assessment="gate.two", dimension="fit", level="low", guidance="two"),
    )

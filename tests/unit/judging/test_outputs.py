"""A submission is judged as recorded: the same blockers, with words that show the way on."""

from headway.domain.blockers import FIX_BYTES_MAX, MESSAGE_BYTES_MAX, wire_pointer
from headway.domain.events import Pointer
from headway.domain.outputs import Judgement, Submission, judge_output
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import (
    Assessment,
    Consequence,
    Dimension,
    EveryRule,
    Malformed,
    OutputContract,
    Rule,
    Step,
    UserContract,
    Workflow,
)

NOTES = "Did the work, produced the output, nothing else notable to report."
GATE_ONE = Assessment(
    id="gate_one",
    purpose="Gate one",
    dimensions=(
        Dimension(id="quality", purpose="Quality", levels=("low", "medium", "high")),
        Dimension(id="risk", purpose="Risk", levels=("low", "high"), required=False),
    ),
)
OWN = UserContract(id="acme.big", kind="acme.big", schema={}, guidance="é" * 2000)
WORKFLOW = Workflow(
    form=1,
    id="w",
    name="W",
    description="d",
    version="1.0.0",
    steps=(),
    assessments=(GATE_ONE,),
    contracts=(OWN,),
)
LOW = Consequence(level="low", guidance="Raise quality first.")
ASSESSED = Step(id="o-assess", title="A", assessment_refs=("gate_one",), consequences=(LOW,))
VERDICT: dict[str, Json] = {
    "kind": "wr.gate_verdict",
    "version": 1,
    "verdict": "approved",
    "confidence": "high",
    "rationale": "Output meets all of the stated criteria.",
}


def contracted(ref: str, *, required: bool = True, assessed: bool = False) -> Step:
    return Step(
        id="o-step",
        title="O",
        output_contract=OutputContract(ref=ref, required=required),
        assessment_refs=("gate_one",) if assessed else (),
        consequences=(LOW,) if assessed else (),
    )


def judge(step: Step, *artifacts: Json, notes: str | None = NOTES) -> Judgement:
    return judge_output(
        WORKFLOW, step, Submission(notes=notes, artifacts=artifacts), {}, frozenset({"loop_a"})
    )


def blocked(judgement: Judgement) -> list[tuple[str, dict[str, str]]]:
    for blocker in judgement.blockers:
        assert 0 < len(blocker.message.encode()) <= MESSAGE_BYTES_MAX
        assert len(blocker.fix.encode()) <= FIX_BYTES_MAX
        assert blocker.fix.endswith("with the retry token of this answer.")
    assert judgement.retryable
    return [(b.code, wire_pointer(b.pointer)) for b in judgement.blockers]


def output(code: str, ref: str) -> tuple[str, dict[str, str]]:
    return code, {"kind": "output_contract", "contractRef": ref}


def no_notes(step: str) -> tuple[str, dict[str, str]]:
    return "MISSING_REQUIRED_NOTES", {"kind": "workflow_step", "stepId": step}


def test_a_contract_step_wants_its_artifact_and_no_notes() -> None:
    ref = "wr.contracts.gate_verdict"
    step = contracted(ref)
    assert blocked(judge(step)) == [output("MISSING_REQUIRED_OUTPUT", ref)]
    wrong = judge(step, {**VERDICT, "verdict": "zzz"})
    assert blocked(wrong) == [output("INVALID_REQUIRED_OUTPUT", ref)]
    assert wrong.feedback.issues == ('verdict must be one of "approved", "rejected", "uncertain".',)
    assert blocked(judge(step, {**VERDICT, "foo": 1})) == [output("INVALID_REQUIRED_OUTPUT", ref)]
    assert blocked(judge(step, VERDICT, notes=None)) == []


def test_an_optional_contract_passes_when_absent_and_blocks_when_wrong() -> None:
    ref = "wr.contracts.coding_handoff"
    step = contracted(ref, required=False)
    assert blocked(judge(step)) == []
    assert blocked(judge(step, {"kind": "wr.coding_handoff"})) == [
        output("INVALID_REQUIRED_OUTPUT", ref)
    ]


def test_loop_decisions_block_as_recorded() -> None:
    ref = "wr.contracts.loop_control"
    step = contracted(ref)
    invalid = [output("INVALID_REQUIRED_OUTPUT", ref)]

    def sent(word: str, **more: Json) -> Json:
        return {"kind": "wr.loop_control", "decision": word, **more}

    assert blocked(judge(step)) == [output("MISSING_REQUIRED_OUTPUT", ref)]
    assert blocked(judge(step, {"kind": "x"})) == [output("MISSING_REQUIRED_OUTPUT", ref)]
    assert blocked(judge(step, sent("maybe"))) == invalid
    assert blocked(judge(step, sent("continue", foo=1))) == invalid
    assert blocked(judge(step, sent("continue", loopId="zzz"), notes=None)) == invalid
    assert blocked(judge(step, sent("continue", loopId="loop_a"))) == []
    assert blocked(judge(step, sent("stop"), sent("continue"))) == invalid
    assert blocked(judge(step, sent("stop"))) == []


def test_assessments_block_as_recorded() -> None:
    def sent(**levels: Json) -> Json:
        return {"kind": "wr.assessment", "assessmentId": "gate_one", "dimensions": levels}

    invalid = [output("INVALID_REQUIRED_OUTPUT", "wr.contracts.assessment")]
    assert blocked(judge(ASSESSED)) == invalid
    assert blocked(judge(ASSESSED, notes=None)) == [*invalid, no_notes("o-assess")]
    assert blocked(judge(ASSESSED, sent(quality="superb", risk="high"))) == invalid
    assert blocked(judge(ASSESSED, sent(quality="high", zzz="low"))) == invalid
    assert blocked(judge(ASSESSED, sent(risk="high"))) == invalid
    low = judge(ASSESSED, sent(quality="low", risk="high"))
    pointer = {
        "kind": "assessment_dimension",
        "assessmentId": "gate_one",
        "dimensionId": "quality",
    }
    assert blocked(low) == [("ASSESSMENT_FOLLOWUP_REQUIRED", pointer)]
    assert low.followup == "Raise quality first."
    fine = judge(ASSESSED, sent(quality={"level": "HIGH", "rationale": "good"}, risk="high"))
    assert blocked(fine) == []
    assert fine.assessments[0].dimensions[0].level == "high"
    assert fine.followup is None


def test_a_contract_hides_a_missing_assessment_but_not_what_a_given_one_calls_for() -> None:
    step = contracted("wr.contracts.gate_verdict", assessed=True)
    assert blocked(judge(step, VERDICT)) == []
    low: Json = {"kind": "wr.assessment", "dimensions": {"quality": "low"}}
    assert [code for code, _ in blocked(judge(step, VERDICT, low))] == [
        "ASSESSMENT_FOLLOWUP_REQUIRED"
    ]


def test_criteria_judge_the_notes_unless_an_assessment_comes_first() -> None:
    rule = Rule(type="contains", value="MAGIC", message="need MAGIC")
    step = Step(id="v", title="V", criteria=EveryRule(parts=(rule,), listed=True))
    judged = judge(step, notes="no such word")
    assert blocked(judged) == [output("INVALID_REQUIRED_OUTPUT", "wr.validationCriteria")]
    assert judged.feedback.issues == ("need MAGIC",)
    assert blocked(judge(step, notes="MAGIC it is")) == []
    assert blocked(judge(step, notes=" \n")) == [
        output("INVALID_REQUIRED_OUTPUT", "wr.validationCriteria"),
        no_notes("v"),
    ]
    both = Step(id="v", title="V", criteria=step.criteria, assessment_refs=("gate_one",))
    fine: Json = {"kind": "wr.assessment", "dimensions": {"quality": "high"}}
    assert blocked(judge(both, fine, notes="no such word")) == []


def test_criteria_without_notes_are_a_missing_output_even_where_notes_are_optional() -> None:
    missing = output("MISSING_REQUIRED_OUTPUT", "wr.validationCriteria")
    rule = Rule(type="contains", value="MAGIC", message="need MAGIC", condition=Malformed())
    step = Step(id="v", title="V", criteria=EveryRule(parts=(rule,), listed=True))
    assert blocked(judge(step, notes=None)) == [no_notes("v"), missing]
    assert judge(step, notes=None).feedback.issues
    optional = Step(id="v", title="V", criteria=step.criteria, notes_optional=True)
    assert blocked(judge(optional, notes=None)) == [missing]
    assert blocked(judge(optional, notes=" ")) == []


def test_notes_are_needed_unless_waived() -> None:
    assert blocked(judge(Step(id="a.b", title="T"), notes=None)) == [no_notes("a.b")]
    assert blocked(judge(Step(id="p", title="T", kind="parallel"), notes="\t")) == [no_notes("p")]
    assert blocked(judge(Step(id="s", title="T", notes_optional=True), notes=None)) == []


def test_several_follow_ups_stand_in_order_and_are_bounded() -> None:
    many = tuple(Consequence(level="low", guidance=f"Do {n}.") for n in range(10))
    step = Step(id="s", title="S", assessment_refs=("gate_one",), consequences=(*many, LOW))
    artifact: Json = {"kind": "wr.assessment", "dimensions": {"quality": "low"}}
    judged = judge(step, artifact, notes=None)
    assert len(judged.blockers) == 10
    assert judged.followup is not None
    assert judged.followup.endswith("Do 9.\n\nRaise quality first.")


def test_long_words_are_cut_and_the_way_on_remains() -> None:
    own = contracted("acme.big")
    fix = judge(own).blockers[0].fix
    assert "[…]" in fix
    assert blocked(judge(own)) == [output("MISSING_REQUIRED_OUTPUT", "acme.big")]
    noisy: JsonObject = {**VERDICT, **{f"key{n}é": n for n in range(1000)}}
    judged = judge(contracted("wr.contracts.gate_verdict"), noisy)
    assert len(blocked(judged)) == 1
    assert sum(len(issue.encode()) for issue in judged.feedback.issues) <= 4096


def test_a_pointer_shows_only_what_it_holds() -> None:
    assert wire_pointer(Pointer(kind="check", check_id="tests")) == {
        "kind": "check",
        "checkId": "tests",
    }

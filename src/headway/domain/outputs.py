"""Judging what an agent hands in at a step: whether it may be left.

Laws.
1. One demand on the output counts, the first of: output contract, assessments, criteria. A contract
   hides what comes after it, as workflow files rely on.
2. Notes are needed unless the step has an output contract or says they are optional; what
   nobody can see is no note. Criteria need notes even where they are optional, and judge white
   space as written.
3. Accepted assessments that call for follow-up block, whichever demand counts.
4. Everything found wrong is told at once.
"""

from typing import Final

from headway.domain import blockers
from headway.domain.assessments import (
    ASSESSMENT_REF,
    AssessmentJudgement,
    judge_assessments,
    triggered,
)
from headway.domain.contracts import Contract, Invalid, Missing, contract_for, judge_contract
from headway.domain.contracts.loop_control import LOOP_CONTROL_REF, judge_decision
from headway.domain.criteria import judge_notes
from headway.domain.events import AssessmentResult, Blocker, Feedback
from headway.domain.texts import is_blank
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Step, Workflow

_NO_ASSESSMENTS: Final = AssessmentJudgement()
_NO_FEEDBACK: Final = Feedback()


class Submission(Value):
    """What an agent hands in."""

    notes: str | None = None
    artifacts: tuple[Json, ...] = ()


class Judgement(Value):
    """What came of judging it. Without blockers the output is accepted."""

    blockers: tuple[Blocker, ...] = ()
    feedback: Feedback = Feedback()
    assessments: tuple[AssessmentResult, ...] = ()
    followup: str | None = None
    retryable: bool = True  # sending something better may pass


class _Findings(Value):
    """What one demand found wrong."""

    blockers: tuple[Blocker, ...] = ()
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


def judge_output(
    workflow: Workflow,
    step: Step,
    submission: Submission,
    variables: JsonObject,
    loop_ids: frozenset[str] | None,
) -> Judgement:
    """Judge a submission at a step; `loop_ids` are the names a loop decision may use there."""
    assessed = _NO_ASSESSMENTS
    if step.assessment_refs:
        assessed = judge_assessments(
            step.assessment_refs, workflow.assessments, submission.artifacts
        )
    if step.output_contract is not None:
        found = _judge_contract(workflow, step, submission, loop_ids)
    elif step.assessment_refs:
        found = _findings_of(assessed)
    else:
        found = _judge_criteria(step, submission, variables)
    fired = triggered(step.consequences, assessed.results)
    all_blockers = [
        *found.blockers,
        *(blockers.followup(f.assessment, f.dimension, f.level, f.guidance) for f in fired),
    ]
    if _lacks_notes(step, submission):
        all_blockers.append(blockers.missing_notes(step.id))
    guidance = dict.fromkeys(f.guidance.strip() for f in fired)
    return Judgement(
        blockers=blockers.in_order(all_blockers),
        feedback=_feedback(found) if found.issues or found.suggestions else _NO_FEEDBACK,
        assessments=assessed.results,
        followup="\n\n".join(guidance) or None,
    )


def _feedback(found: _Findings) -> Feedback:
    return Feedback(
        issues=blockers.bounded_issues(found.issues),
        suggestions=blockers.bounded_suggestions(found.suggestions),
    )


def _judge_contract(
    workflow: Workflow, step: Step, submission: Submission, loop_ids: frozenset[str] | None
) -> _Findings:
    demand = step.output_contract
    assert demand is not None
    contract = contract_for(demand.ref, workflow.contracts)
    assert contract is not None, f"the compiler let the unknown contract {demand.ref} pass"
    judged = judge_contract(contract, submission.artifacts, required=demand.required)
    if isinstance(judged, Missing):
        found = blockers.missing_output(contract, judged.submitted_kinds, len(submission.artifacts))
        return _Findings(
            blockers=(found,), issues=(found.message,), suggestions=(contract.guidance,)
        )
    if contract.ref == LOOP_CONTROL_REF:
        # Every decision must be right, not only the first artifact of the kind (D4).
        decided = judge_decision(submission.artifacts, loop_ids)
        return _invalid(contract, decided) if isinstance(decided, Invalid) else _Findings()
    return _invalid(contract, judged) if isinstance(judged, Invalid) else _Findings()


def _invalid(contract: Contract, judged: Invalid) -> _Findings:
    found = blockers.invalid_output(contract, judged.issues)
    return _Findings(blockers=(found,), issues=judged.issues, suggestions=(contract.guidance,))


def _findings_of(assessed: AssessmentJudgement) -> _Findings:
    if not assessed.issues:
        return _Findings()
    found = blockers.invalid_assessment(ASSESSMENT_REF, assessed.issues, assessed.suggestions)
    return _Findings(blockers=(found,), issues=assessed.issues, suggestions=assessed.suggestions)


def _judge_criteria(step: Step, submission: Submission, variables: JsonObject) -> _Findings:
    if step.criteria is None:
        return _Findings()
    if not submission.notes:
        missing = blockers.missing_criteria_notes()
        return _Findings(blockers=(missing,), issues=(missing.message,))
    judged = judge_notes(step.criteria, submission.notes, variables)
    if judged.valid:
        return _Findings()
    found = blockers.failed_criteria(judged.issues, judged.suggestions)
    return _Findings(blockers=(found,), issues=judged.issues, suggestions=judged.suggestions)


def _lacks_notes(step: Step, submission: Submission) -> bool:
    if step.notes_optional or step.output_contract is not None:
        return False
    return submission.notes is None or is_blank(submission.notes)

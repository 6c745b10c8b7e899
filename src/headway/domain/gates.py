"""Answering a gate: the decision is recorded, and the attempt goes on or back (D11)."""

from headway.domain.blocking import rejected_gate
from headway.domain.commands import DecideGate
from headway.domain.contracts.loop_control import decision_of
from headway.domain.decision import Accepted, Situation
from headway.domain.errors import PreconditionFailed
from headway.domain.events import AdvanceBlocked, GateDecided, GateOpened
from headway.domain.leaving import Leaving, leave
from headway.domain.state import SessionState
from headway.domain.values import Json
from headway.domain.workflow import Workflow


def decide_gate(
    workflow: Workflow, state: SessionState, situation: Situation, command: DecideGate
) -> Accepted:
    """Return the events of a gate's answer: the decision, then the advance or the block.

    Raises PreconditionFailed when no gate is open on the attempt, or when the answer was given for
    something else than what the gate now shows.
    """
    gate = situation.attempt.outcome
    if not isinstance(gate, GateOpened):
        raise PreconditionFailed(
            "No gate is open on this attempt.",
            remedy="List the open gates again; this one was answered or its step was left.",
            details={"kind": "gate_not_open"},
        )
    if command.shown != gate.shown:
        raise PreconditionFailed(
            "The answer was given for other content than the gate shows now.",
            remedy="Look at what the gate shows and answer again.",
            details={"kind": "gate_shown_differs"},  # the digest is to be had by looking alone
        )
    at = situation.attempt.outcome_at
    assert at is not None
    decided = GateDecided(
        opened_gate=at,
        node=gate.node,
        attempt=gate.attempt,
        verdict="approved" if command.approve else "rejected",
        decided_by=command.decided_by,
        shown=gate.shown,
        rationale=command.rationale,
    )
    if not command.approve:
        blocked = AdvanceBlocked(
            node=gate.node,
            attempt=gate.attempt,
            opened_at=situation.node.opened_at,
            step=gate.step,
            blockers=(rejected_gate(command.rationale),),
            blocks=gate.blocks + 1,
            retryable=True,
            output=gate.output,
            context=gate.context,
            drift=gate.drift,
        )
        return Accepted(events=(decided, blocked))
    artifacts: tuple[Json, ...] = tuple(
        kept.inline for kept in gate.output.artifacts if not kept.blob
    )
    # What a run that never stops was refused for became critical gaps, and then no decision counts.
    refused = any(gap.severity == "critical" for gap in gate.gaps)
    leaving = Leaving(
        attempt=gate.attempt,
        step=gate.step,
        output=gate.output,
        version=state.version + 2,
        delta=gate.context.delta if gate.context else None,
        decision=None if refused else decision_of(situation.place.step, artifacts),
        assessments=gate.assessments,
        gaps=gate.gaps,
        drift=gate.drift,
        gate=state.version + 1,
    )
    return Accepted(events=(decided, *leave(workflow, situation, state.folds, leaving)))

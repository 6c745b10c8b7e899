"""Refusals: what was said against work on a step that is still open, for whoever takes it up anew.

Read from the records of one node: the newest refusal since the step was last left, and the newest
rejection at a gate, which a later refusal (of notes that were forgotten, say) does not answer.
"""

from collections.abc import Sequence
from itertools import takewhile

from headway.application.engine import Engine
from headway.domain.blockers import GATE_REJECTED, STEP_REFUSED, without_token
from headway.domain.events import AdvanceBlocked, GateDecided, StepAdvanced
from headway.domain.ids import gate_id, session_stream
from headway.domain.tokens import nonce_of
from headway.domain.values import Json
from headway.ports.ledger import AttemptRow, Recorded


def outcomes_on(engine: Engine, row: AttemptRow) -> tuple[Recorded, ...]:
    """Return what became of the attempts on a node, the oldest first."""
    rows = engine.ledger.attempts_on(row.session, row.node)
    ends = [each.outcome_at for each in rows if each.outcome_at is not None]
    return engine.ledger.read(session_stream(row.session), ends) if ends else ()


def refusals(engine: Engine, row: AttemptRow, outcomes: Sequence[Recorded]) -> list[Json]:
    """Return what was refused on the node of an attempt, as warnings, in the order it happened."""
    newest_first = takewhile(
        lambda each: not isinstance(each.event, StepAdvanced), reversed(outcomes)
    )
    refused = [
        (each.version, each.event)
        for each in newest_first
        if isinstance(each.event, AdvanceBlocked)
    ]
    rejected = next((each for each in refused if _is_rejection(each[1])), None)
    told = [] if rejected is None else [_rejection(engine, row, *rejected)]
    if refused and refused[0] is not rejected:
        told.append(_refusal(refused[0][1]))
    return told


def _is_rejection(blocked: AdvanceBlocked) -> bool:
    return any(blocker.code == GATE_REJECTED for blocker in blocked.blockers)


def _rejection(engine: Engine, row: AttemptRow, version: int, blocked: AdvanceBlocked) -> Json:
    # A decision and the refusal that follows from it are one write.
    decided = engine.ledger.read(session_stream(row.session), [version - 1])[0].event
    if not isinstance(decided, GateDecided):
        return _refusal(blocked)
    said = f": {decided.rationale}" if decided.rationale else "."
    return {
        "kind": GATE_REJECTED,
        "gateId": gate_id(nonce_of(row.session, decided.attempt)),
        "decidedBy": decided.decided_by,
        "rationale": decided.rationale,
        "message": f"{decided.decided_by} did not approve what was handed in on this step{said}\n"
        "Rework what was rejected and hand in all of this step again; it will be asked again.",
    }


def _refusal(blocked: AdvanceBlocked) -> Json:
    lines = [without_token(f"- {blocker.message} {blocker.fix}") for blocker in blocked.blockers]
    head = "What was handed in on this step last was refused, and nothing of it counts:"
    return {"kind": STEP_REFUSED, "message": "\n".join([head, *lines])}

"""List the gates that wait for a decision, the longest waiting first."""

from headway.application.engine import Engine
from headway.application.gate_records import gate_record
from headway.application.loading import admit, load
from headway.application.replies import show_step
from headway.application.requests import Reply
from headway.domain.errors import SessionNotHealthy, TokenFault
from headway.domain.ids import gate_id
from headway.ports.sessions import GateRow

__all__ = ["list_gates"]


def list_gates(engine: Engine, limit: int) -> Reply:
    """Return at most `limit` gates, on whatever branch they wait, and whether there are more.

    A gate whose session cannot be read is listed with what is wrong, and hides no other. One that
    is damaged itself is left out, and `unreadable` names its session.
    """
    waiting = engine.sessions.gates(limit + 1)
    return {
        "gates": [
            told for row in waiting.rows[:limit] if (told := _listed(engine, row)) is not None
        ],
        "more": len(waiting.rows) > limit,
        "unreadable": list(waiting.unreadable),
    }


def _listed(engine: Engine, row: GateRow) -> Reply | None:
    """Return a gate as it is listed; None when its session was purged just now."""
    told: Reply = {
        "gateId": gate_id(row.nonce),
        "sessionId": row.session,
        "openedAtMs": row.recorded_at,
    }
    try:
        loaded = load(engine, admit(engine, row.nonce))
        opened = gate_record(engine, loaded).opened
        step = show_step(loaded.scene, loaded.opened)
    except (TokenFault, SessionNotHealthy) as fault:
        if engine.custody.tombstone_of(row.nonce) is not None:
            return None
        return {**told, "problem": fault.message}
    return {
        **told,
        "workflowId": loaded.started.workflow_id,
        "goal": loaded.started.goal,
        "stepId": opened.step,
        "title": step.title,
        "gateKind": opened.gate,
        "shown": opened.shown,
    }

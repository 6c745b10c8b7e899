"""List the gates that wait for a decision, the longest waiting first."""

from headway.application.engine import Engine
from headway.application.gate_records import gate_record
from headway.application.loading import admit, load
from headway.application.replies import show_step
from headway.application.requests import Reply
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import gate_id
from headway.ports.sessions import GateRow

__all__ = ["list_gates"]


def list_gates(engine: Engine, limit: int) -> Reply:
    """Return at most `limit` gates, on whatever branch they wait, and whether there are more.

    A gate whose session cannot be read is listed with what is wrong, and hides no other.
    """
    waiting = engine.sessions.gates(limit + 1)
    return {
        "gates": [_listed(engine, row) for row in waiting[:limit]],
        "more": len(waiting) > limit,
    }


def _listed(engine: Engine, row: GateRow) -> Reply:
    told: Reply = {
        "gateId": gate_id(row.nonce),
        "sessionId": row.session,
        "openedAtMs": row.recorded_at,
    }
    try:
        loaded = load(engine, admit(engine, row.nonce))
        opened = gate_record(engine, loaded).opened
        step = show_step(loaded.scene, loaded.opened)
    except SessionNotHealthy as fault:
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

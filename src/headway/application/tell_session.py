"""Tell a session: what `sessions tree` draws, as data for a program. Nothing is changed."""

from headway.application.engine import Engine
from headway.application.read_session import read_session
from headway.application.requests import Reply

__all__ = ["tell_session"]


def tell_session(engine: Engine, name: str) -> Reply:
    """Return a session at a glance and its rows, in the order they are read.

    Steps that were not met yet are not among them. Raises what `read_session` raises.
    """
    read = read_session(engine, name)
    summary = read.summary
    return {
        "sessionId": summary.session,
        "workflowId": summary.workflow_id,
        "workflowName": summary.workflow_name,
        "goal": summary.goal,
        "workspace": summary.workspace,
        "status": summary.status,
        "stepId": summary.step_id,
        "startedAtMs": summary.started_at,
        "updatedAtMs": summary.updated_at,
        "rows": [
            {"depth": row.depth, "kind": row.told.kind, "text": row.told.text, "here": row.here}
            for row in read.tree.rows
        ],
    }

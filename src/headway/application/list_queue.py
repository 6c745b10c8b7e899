"""List what waits for a worker, the next first."""

from headway.application.list_runs import LOOKED_AT_MAX, state_of
from headway.application.requests import Reply
from headway.application.runs import Runs


def list_queue(runs: Runs, limit: int) -> Reply:
    """Return the rows that a worker would claim, each with its position, counted from 1.

    `unreadable` names the runs that are left out because their rows are damaged.
    """
    queued = runs.queue.queued(limit + 1)
    claimed = runs.queue.tasks(("claimed",), LOOKED_AT_MAX)
    rows = [(task, state_of(runs, task)) for task in (*queued.rows, *claimed.rows)]
    waiting = [(task, state) for task, state in rows if state in ("queued", "stalled")]
    waiting.sort(key=lambda each: (-each[0].priority, each[0].position))
    return {
        "now": runs.engine.clock.now_ms(),
        "waiting": [
            {
                "position": position,
                "run": task.run,
                "state": state,
                "priority": task.priority,
                "waitingSince": task.submitted_at if task.fence == 0 else task.updated_at,
                "workflow": task.workflow_id,
                "workspace": task.workspace,
                "goal": task.goal,
            }
            for position, (task, state) in enumerate(waiting[:limit], 1)
        ],
        "more": len(waiting) > limit,
        "unreadable": list(dict.fromkeys((*queued.unreadable, *claimed.unreadable))),
    }

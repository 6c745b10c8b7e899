"""List the runs, the last submitted first."""

from headway.application.requests import Reply
from headway.application.runs import Runs, is_driven
from headway.ports.queue import Task, TaskState

ALL: tuple[TaskState, ...] = ("queued", "claimed", "resting", "ended")
UNFINISHED: tuple[TaskState, ...] = ("queued", "claimed", "resting")


def list_runs(runs: Runs, limit: int, *, unfinished: bool = False) -> Reply:
    """Return the rows; `state` is `stalled` where the lease of a claimed run is over."""
    tasks = runs.queue.tasks(UNFINISHED if unfinished else ALL, limit)
    return {"runs": [told_row(runs, task) for task in tasks]}


def told_row(runs: Runs, task: Task) -> Reply:
    """Return a row in the wire's names."""
    state: str = task.state
    if state == "claimed":
        state = "running" if is_driven(runs, task) else "stalled"
    return {
        "run": task.run,
        "state": state,
        "outcome": task.outcome,
        "workflow": task.workflow_id,
        "goal": task.goal,
        "workspace": task.workspace,
        "claims": task.fence,
        "submittedAt": task.submitted_at,
        "updatedAt": task.updated_at,
    }

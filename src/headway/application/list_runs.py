"""List the runs, the last submitted first."""

from typing import Final, Literal, TypeAlias, get_args

from headway.application.requests import Reply
from headway.application.runs import ALL, UNFINISHED, Runs, is_driven
from headway.application.submit_run import Submitted
from headway.domain.errors import InvalidInput
from headway.domain.runs.outcomes import OutcomeKind
from headway.domain.values import Value
from headway.ports.queue import Task, TaskState

RunState: TypeAlias = Literal["queued", "running", "stalled", "resting", "ended"]
LOOKED_AT_MAX: Final = 10_000
STATES: Final[tuple[str, ...]] = (*get_args(RunState), *get_args(OutcomeKind))


class RunFilter(Value):
    """Which runs are asked for. `state` is a state, or an outcome; all that is None matches any."""

    state: str | None = None
    workflow_id: str | None = None
    workspace: str | None = None
    unfinished: bool = False


def list_runs(runs: Runs, limit: int, wanted: RunFilter | None = None) -> Reply:
    """Return the rows; `state` is `stalled` where the lease of a claimed run is over.

    `unreadable` names the runs that are left out because their rows are damaged.
    Raises InvalidInput for a state that is none.
    """
    wanted = wanted or RunFilter()
    found = runs.queue.tasks(
        _states(wanted),
        limit if wanted.state is None else LOOKED_AT_MAX,
        workflow_id=wanted.workflow_id,
        workspace=wanted.workspace,
    )
    rows = [told_row(runs, task) for task in found.rows]
    if wanted.state is not None:
        rows = [row for row in rows if wanted.state in (row["state"], row["outcome"])]
    return {"runs": list(rows[:limit]), "unreadable": list(found.unreadable)}


def told_row(runs: Runs, task: Task) -> Reply:
    """Return a row in the wire's names."""
    return {
        "run": task.run,
        "state": state_of(runs, task),
        "outcome": task.outcome,
        "reason": task.reason,
        "workflow": task.workflow_id,
        "goal": task.goal,
        "workspace": task.workspace,
        "priority": task.priority,
        "claims": task.fence,
        "submittedAt": task.submitted_at,
        "updatedAt": task.updated_at,
    }


def told_submitted(runs: Runs, submitted: Submitted) -> Reply:
    """Return the row of a run that was just asked for, and what its model lacks here."""
    return told_row(runs, submitted.task) | {"warning": submitted.warning}


def state_of(runs: Runs, task: Task) -> RunState:
    """Return the state of a run as people know it."""
    if task.state == "claimed":
        return "running" if is_driven(runs, task) else "stalled"
    return task.state


def _states(wanted: RunFilter) -> tuple[TaskState, ...]:
    match wanted.state:
        case None:
            return UNFINISHED if wanted.unfinished else ALL
        case "queued":
            return ("queued",)
        case "running" | "stalled":
            return ("claimed",)
        case "resting" | "paused" | "parked":
            return ("resting",)
        case state if state in STATES:
            return ("ended",)
        case state:
            raise InvalidInput(
                f"There is no state {state[:40]!r} of a run.",
                remedy=f"Give one of {', '.join(STATES)}.",
                details={"kind": "state", "states": list(STATES)},
            )

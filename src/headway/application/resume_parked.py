"""Resume a parked run: once its gate is decided it waits for a worker again."""

from typing import Final

from headway.application.resume_run import resume_run
from headway.application.runs import Runs, row_of
from headway.application.start_workflow import session_of_run
from headway.domain.errors import PreconditionFailed
from headway.domain.ids import RunId, SessionId

LOOKED_AT_MAX: Final = 1_000_000  # each rests because of a person, so there are never so many


def resume_parked(runs: Runs, session: SessionId, by: str) -> RunId | None:
    """Have the run that drives a session wait for a worker; None where none is parked there.

    Raises SessionNotHealthy when the row of that run is damaged.
    """
    found = runs.queue.tasks(("resting",), LOOKED_AT_MAX)
    for task in found.rows:
        if task.outcome == "parked" and session_of_run(runs.engine, task.run) == session:
            try:
                return resume_run(runs, task.run, by).run
            except PreconditionFailed:  # somebody was first
                return None
    for name in found.unreadable:
        if session_of_run(runs.engine, RunId(name)) == session:
            row_of(runs, RunId(name))  # raises
    return None

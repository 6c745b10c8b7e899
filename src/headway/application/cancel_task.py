"""Cancel a run that waits; one that a worker has is aborted instead."""

from headway.application.move_task import not_waiting
from headway.application.naming_runs import named_run
from headway.application.runs import Runs, append_outside, stop_at
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import AbortAsked, RunEnded, RunEvent
from headway.domain.runs.outcomes import Cancelled
from headway.ports.queue import Move, Task


def cancel_task(runs: Runs, name: str, by: str, reason: str = "") -> RunId:
    """End a run before a worker has it.

    Raises NotFound or InvalidInput, PreconditionFailed for a run that does not wait.
    """
    run = named_run(runs, name).run

    def decide(now: Conversation, row: Task) -> tuple[tuple[RunEvent, ...], Move | None]:
        if row.state != "queued":
            raise not_waiting(runs, run)
        outcome = Cancelled(by=by, reason=reason)
        events = (AbortAsked(by=by, reason=reason), RunEnded(outcome=outcome))
        return events, stop_at(now, outcome)

    append_outside(runs, run, decide)
    return run

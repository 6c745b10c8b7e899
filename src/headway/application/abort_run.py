"""Abort a run: at once when nobody drives it, else its worker is told.

Of a worktree that was removed under it nothing is left, whoever ends the run.
"""

from headway.application.clear_away import clear_away
from headway.application.naming_runs import named_run
from headway.application.runs import Runs, append_outside, has_ended, is_driven, row_of, stop_at
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import AbortAsked, RunEnded, RunEvent
from headway.domain.runs.outcomes import Cancelled
from headway.ports.queue import Move, Task


def abort_run(runs: Runs, name: str, by: str, reason: str = "") -> Task:
    """Ask for the run's end and return its row; aborting twice changes nothing.

    Raises NotFound or InvalidInput, PreconditionFailed when the run has ended.
    """
    task = named_run(runs, name)
    asked = AbortAsked(by=by, reason=reason)

    def decide(now: Conversation, row: Task) -> tuple[tuple[RunEvent, ...], Move | None]:
        if row.state == "ended":
            raise has_ended(row.run, str(row.outcome))
        if is_driven(runs, row):
            return (() if now.abort else (asked,)), None
        clear_away(runs, now, row)
        outcome = Cancelled(by=by, reason=reason)
        return (asked, RunEnded(outcome=outcome)), stop_at(now, outcome)

    append_outside(runs, task.run, decide)
    return row_of(runs, task.run)

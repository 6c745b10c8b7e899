"""Pause a run: at once when nobody drives it, else when its worker has finished the turn."""

from headway.application.naming_runs import named_run
from headway.application.runs import Runs, append_outside, has_ended, is_driven, row_of, stop_at
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import PauseAsked, RunEnded, RunEvent
from headway.domain.runs.outcomes import Paused
from headway.ports.queue import Move, Task


def pause_run(runs: Runs, name: str, by: str) -> Task:
    """Have a run rest until it is resumed and return its row; one that rests is left as it is.

    Raises NotFound or InvalidInput, PreconditionFailed when the run has ended.
    """
    task = named_run(runs, name)

    def decide(now: Conversation, row: Task) -> tuple[tuple[RunEvent, ...], Move | None]:
        if row.state == "ended":
            raise has_ended(row.run, str(row.outcome))
        if row.state == "resting":
            return (), None
        asked = () if now.pause else (PauseAsked(by=by),)
        if is_driven(runs, row):
            return asked, None
        outcome = Paused(by=now.pause.by if now.pause else by)
        return (*asked, RunEnded(outcome=outcome)), stop_at(now, outcome)

    append_outside(runs, task.run, decide)
    return row_of(runs, task.run)

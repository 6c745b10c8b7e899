"""Steer a run: say something to its model, which hears it with its next request."""

from headway.application.naming_runs import named_run
from headway.application.runs import (
    TEXT_BYTES_MAX,
    Runs,
    append_outside,
    has_ended,
    text_blob,
)
from headway.domain.errors import InvalidInput
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent, RunSteered
from headway.ports.queue import Move, Task


def steer_run(runs: Runs, name: str, text: str, by: str) -> RunId:
    """Keep the text for the model; before the first turn as well as between two.

    Raises NotFound or InvalidInput, PreconditionFailed when the run has ended.
    """
    task = named_run(runs, name)
    if not text.strip() or len(text.encode("utf-8", "replace")) > TEXT_BYTES_MAX:
        raise InvalidInput(
            f"The text must be 1 to {TEXT_BYTES_MAX} bytes.",
            remedy="Say in a few sentences what the model should know or do otherwise.",
        )
    blob = text_blob(text)

    def decide(now: Conversation, row: Task) -> tuple[tuple[RunEvent, ...], Move | None]:
        del now
        if row.state == "ended":
            raise has_ended(row.run, str(row.outcome))
        return (RunSteered(text=blob.digest, by=by),), None

    append_outside(runs, task.run, decide, (blob,))
    return task.run

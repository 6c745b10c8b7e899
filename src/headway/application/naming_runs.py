"""Finding the run that somebody names: an id, or the beginning of one that no other has."""

import difflib
import re
from typing import Final

from headway.application.runs import ALL, Runs, row_of
from headway.domain.errors import InvalidInput, NotFound
from headway.domain.ids import RunId
from headway.ports.queue import Task

PREFIX: Final = "task_"
SHOWN_MAX: Final = 5
LOOKED_AT_MAX: Final = 1_000  # of the last runs, for ids near to one that is none
SIMILARITY_MIN: Final = 0.75
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,100}")


def named_run(runs: Runs, name: str) -> Task:
    """Return the row of an id, or of a beginning that no other has.

    Raises NotFound with the ids nearest to it, InvalidInput when several begin like this,
    SessionNotHealthy when its row is damaged.
    """
    beginning = name if name.startswith(PREFIX) else PREFIX + name
    if beginning == PREFIX or not _NAME.fullmatch(name):
        raise _unknown(runs, name)
    found = runs.queue.find(beginning, SHOWN_MAX + 1)
    ids = sorted([*(task.run for task in found.rows), *map(RunId, found.unreadable)])
    if not ids:
        raise _unknown(runs, name)
    if beginning in ids or len(ids) == 1:
        return row_of(runs, RunId(beginning) if beginning in ids else ids[0])
    ids = ids[:SHOWN_MAX]
    raise InvalidInput(
        f"Several runs begin with {name!r}: {', '.join(ids)}.",
        remedy="Give more of the id.",
        details={"run": name, "candidates": list(ids)},
    )


def exact_run(runs: Runs, name: str) -> Task:
    """Return the row of an id. Raises NotFound with the ids nearest to what is none."""
    found = runs.queue.task(RunId(name)) if _NAME.fullmatch(name) else None
    if found is None:
        raise _unknown(runs, name)
    return found


def _unknown(runs: Runs, name: str) -> NotFound:
    shown = name[:100]
    if shown in {"", PREFIX}:
        return NotFound(
            f"The id of a run is missing: {shown!r} names none.",
            remedy="`headway runs list` shows the ids.",
            details={"run": shown, "didYouMean": []},
        )
    wanted = shown if shown.startswith(PREFIX) else PREFIX + shown
    length = max(len(wanted), len(PREFIX) + 1)
    begun = {task.run[:length]: task.run for task in runs.queue.tasks(ALL, LOOKED_AT_MAX).rows}
    near = difflib.get_close_matches(wanted, begun, SHOWN_MAX, SIMILARITY_MIN)
    ids = [begun[each] for each in near]
    hint = f"Did you mean {' or '.join(ids)}? " if ids else ""
    return NotFound(
        f"No run begins with {shown!r}.",
        remedy=f"{hint}`headway runs list` shows the ids.",
        details={"run": shown, "didYouMean": list(ids)},
    )

"""Finding the run that somebody names: an id, or the beginning of one that no other has."""

import difflib
import re
from typing import Final

from headway.application.runs import ALL, Runs
from headway.domain.errors import InvalidInput, NotFound
from headway.ports.queue import Task

PREFIX: Final = "task_"
SHOWN_MAX: Final = 5
LOOKED_AT_MAX: Final = 1_000  # of the last runs, for ids near to one that is none
SIMILARITY_MIN: Final = 0.75
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,100}")


def named_run(runs: Runs, name: str) -> Task:
    """Return the row of an id, or of a beginning that no other has.

    Raises NotFound with the ids nearest to it, InvalidInput when several begin like this.
    """
    beginning = name if name.startswith(PREFIX) else PREFIX + name
    if beginning == PREFIX or not _NAME.fullmatch(name):
        raise _unknown(runs, name)
    found = runs.queue.find(beginning, SHOWN_MAX + 1)
    exact = [task for task in found if task.run == beginning]
    if exact or len(found) == 1:
        return (exact or list(found))[0]
    if not found:
        raise _unknown(runs, name)
    ids = [task.run for task in found[:SHOWN_MAX]]
    raise InvalidInput(
        f"Several runs begin with {name!r}: {', '.join(ids)}.",
        remedy="Give more of the id.",
        details={"run": name, "candidates": list(ids)},
    )


def exact_run(runs: Runs, name: str) -> Task:
    """Return the row of an id. Raises NotFound with the ids nearest to what is none."""
    found = runs.queue.find(name, 1) if _NAME.fullmatch(name) else ()
    if not found or found[0].run != name:
        raise _unknown(runs, name)
    return found[0]


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
    begun = {task.run[:length]: task.run for task in runs.queue.tasks(ALL, LOOKED_AT_MAX)}
    near = difflib.get_close_matches(wanted, begun, SHOWN_MAX, SIMILARITY_MIN)
    ids = [begun[each] for each in near]
    hint = f"Did you mean {' or '.join(ids)}? " if ids else ""
    return NotFound(
        f"No run begins with {shown!r}.",
        remedy=f"{hint}`headway runs list` shows the ids.",
        details={"run": shown, "didYouMean": list(ids)},
    )

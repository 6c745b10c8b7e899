"""Move a run in the queue: before another, to the front or the back, or to another priority."""

from typing import Literal

from msgspec.structs import replace

from headway.application.checking_limits import check_priority
from headway.application.naming_runs import named_run
from headway.application.runs import Runs, has_ended
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.ids import RunId
from headway.domain.values import Value
from headway.ports.queue import Task


class NewPosition(Value):
    """Where a run is to stand; exactly one of these is given.

    At an `end`, or before another, it takes the priority of the run that stands there.
    """

    end: Literal["first", "last"] | None = None
    before: str | None = None
    priority: int | None = None


class _Missing(Exception):
    """A run is not among those that are queued."""

    def __init__(self, run: RunId) -> None:
        super().__init__(run)
        self.run = run


def move_task(runs: Runs, name: str, wanted: NewPosition) -> Task:
    """Give a waiting run another position and return its row.

    Raises NotFound or InvalidInput, PreconditionFailed for a run that does not wait.
    """
    if sum(each is not None for each in (wanted.end, wanted.before, wanted.priority)) != 1:
        raise InvalidInput(
            "It is not said where the run is to stand.",
            remedy="Give one of --first, --last, --before RUN, --priority N, and only one.",
            details={"kind": "position"},
        )
    run = named_run(runs, name).run
    before = named_run(runs, wanted.before).run if wanted.before is not None else None
    if wanted.priority is not None:
        check_priority(wanted.priority)

    def change(queued: tuple[Task, ...]) -> tuple[Task, ...]:
        there = {task.run for task in queued}
        for each in (run, before):
            if each is not None and each not in there:
                raise _Missing(each)
        return moved(queued, run, wanted, before)

    try:
        runs.queue.rearrange(change)
    except _Missing as missing:
        raise not_waiting(runs, missing.run) from None
    return named_run(runs, run)


def moved(
    queued: tuple[Task, ...], run: RunId, wanted: NewPosition, before: RunId | None
) -> tuple[Task, ...]:
    """Return the rows that change when `run` moves; all positions together stay the same."""
    task = next(each for each in queued if each.run == run)
    others = [each for each in queued if each.run != run]
    if wanted.priority is not None:
        return (replace(task, priority=wanted.priority),)
    if not others or before == run:
        return ()
    at = len(others) if wanted.end == "last" else 0
    if before is not None:
        at = next(index for index, each in enumerate(others) if each.run == before)
    neighbour = others[min(at, len(others) - 1)]
    order = [*others[:at], replace(task, priority=neighbour.priority), *others[at:]]
    positions = sorted(each.position for each in queued)
    found = {each.run: each for each in queued}
    new = (replace(each, position=p) for each, p in zip(order, positions, strict=True))
    return tuple(each for each in new if each != found[each.run])


def not_waiting(runs: Runs, run: RunId) -> PreconditionFailed:
    """Return the fault of asking of a run in the queue what it has left."""
    task = named_run(runs, run)
    if task.state == "ended":
        return has_ended(run, str(task.outcome))
    return PreconditionFailed(
        f"The run {run} does not wait in the queue: it is {task.state}.",
        remedy=f"`headway runs show {run}` tells how far it is; `headway runs abort` ends it.",
        details={"kind": "run_not_waiting", "run": run, "state": task.state},
    )

"""What the verbs of runs stand on, and the little they share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final, TypeAlias

from headway.application.engine import Engine
from headway.domain.errors import NotFound, PreconditionFailed
from headway.domain.ids import Digest, RunId, digest
from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.events import RunEvent
from headway.domain.runs.outcomes import Outcome, is_rest, kind_of, reason_of
from headway.domain.values import Value
from headway.ports.ledger import Blob, Conflict
from headway.ports.owners import Owners
from headway.ports.queue import Move, Queue, RunRecorded, RunWrite, Tally, Task, TaskState
from headway.ports.worktrees import MadePlaces

APPEND_ATTEMPTS_MAX: Final = 100
TEXT_BYTES_MAX: Final = 65_536
UNFINISHED: Final[tuple[TaskState, ...]] = ("queued", "claimed", "resting")
ALL: Final[tuple[TaskState, ...]] = (*UNFINISHED, "ended")

# Given a run and its row: the events to append, none for nothing, and what becomes of the row.
Decide: TypeAlias = Callable[[Conversation, Task], tuple[tuple[RunEvent, ...], Move | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTerms:
    """How long a lease lasts, and how often it is prolonged."""

    ttl_ms: int = 60_000
    heartbeat_ms: int = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The engine, and what the verbs of runs ask of the world besides."""

    engine: Engine
    queue: Queue
    owners: Owners
    places: MadePlaces
    terms: LeaseTerms = field(default_factory=LeaseTerms)


class Held(Value):
    """A run that this process holds, as far as its events are known here.

    `left` is how many processes of an earlier claim were found alive at this one, and ended.
    """

    run: RunId
    fence: int
    conversation: Conversation
    left: int = 0


def text_blob(text: str) -> Blob:
    """Return a text as a blob. What is no character becomes a question mark."""
    data = text.encode("utf-8", "replace")
    return Blob(digest=digest(data), data=data)


def text_of(runs: Runs, name: Digest) -> str:
    """Return the text of a blob. Raises SessionNotHealthy."""
    return runs.engine.ledger.blob(name).decode("utf-8", "replace")


def folded(events: Sequence[RunRecorded], start: Conversation | None = None) -> Conversation:
    """Return the conversation that recorded events add up to."""
    return reduce(evolve, (each.event for each in events), start or Conversation())


def append_outside(
    runs: Runs, run: RunId, decide: Decide, blobs: tuple[Blob, ...] = ()
) -> Conversation:
    """Append what somebody decides who does not hold the run; again when it moved on meanwhile.

    Raises what `decide` raises.
    """
    for _ in range(APPEND_ATTEMPTS_MAX):
        now = folded(runs.queue.scan(run))
        events, move = decide(now, row_of(runs, run))
        if not events:
            return now
        write = RunWrite(
            run=run, expected_version=now.version, events=events, blobs=blobs, move=move
        )
        try:
            return folded(runs.queue.append(write), now)
        except Conflict:
            continue
    raise PreconditionFailed(
        f"The run {run} moves on too fast to be written to.",
        remedy="Try again.",
        details={"run": run},
    )


def tally_of(now: Conversation, outcome: Outcome | None) -> Tally:
    """Return what a run has taken, how far it is, and why it stops here."""
    return Tally(
        spent=now.spent,
        steps=now.step.number if now.step else 0,
        outcome=kind_of(outcome) if outcome else None,
        reason=reason_of(outcome) if outcome else None,
    )


def stop_at(now: Conversation, outcome: Outcome) -> Move:
    """Return what becomes of the row of a run that ends, or comes to a rest, as it stands now."""
    state: TaskState = "resting" if is_rest(outcome) else "ended"
    return Move(state=state, outcome=kind_of(outcome), tally=tally_of(now, outcome))


def is_driven(runs: Runs, task: Task) -> bool:
    """Tell whether somebody drives a run: a lease that stands, of an owner not known to be gone."""
    if task.state != "claimed" or task.lease_until <= runs.engine.clock.now_ms():
        return False
    return task.owner is None or not runs.owners.is_gone(task.owner)


def has_ended(run: RunId, kind: str) -> PreconditionFailed:
    """Return the fault of asking something of a run that has ended."""
    return PreconditionFailed(
        f"The run {run} has ended: {kind}.",
        remedy=f"`headway runs show {run}` tells how; `headway runs retry {run}` begins it anew.",
        details={"kind": "run_ended", "run": run, "outcome": kind},
    )


def row_of(runs: Runs, run: RunId) -> Task:
    """Return the row of a run. Raises SessionNotHealthy for a damaged one, NotFound once purged."""
    task = runs.queue.task(run)
    if task is None:
        raise NotFound(
            f"The run {run} is not there any more.",
            remedy="`headway runs list` shows the ids.",
            details={"run": run},
        )
    return task

"""The queue: one row for each run, and the run's own stream, moved together or not at all.

A row is a task. Whoever claims it holds a lease until a moment in time, and a fence: a number that
grows with each claim. Every append of a run names the fence it was claimed with, so that a worker
that was given up for dead can write nothing more.
"""

from typing import Literal, Protocol, TypeAlias

from headway.domain.ids import RunId
from headway.domain.runs.events import Owner, RunEvent
from headway.domain.runs.outcomes import OutcomeKind
from headway.domain.values import Value
from headway.ports.ledger import Blob

TaskState: TypeAlias = Literal["queued", "claimed", "resting", "ended"]


class LeaseLost(Exception):
    """The fence is not the row's any more: another worker has the run, or it has ended."""


class DuplicateRun(Exception):
    """An unfinished run has the dedupe key; `run` is that run."""

    def __init__(self, run: RunId) -> None:
        super().__init__(run)
        self.run = run


class Task(Value):
    """A row: what stands in the queue of a run. Times are milliseconds since 1970 UTC.

    `position` orders rows of one priority as they came; a higher `priority` goes first. `owner`
    and `lease_until` are those of the last claim, whether it still stands or not.
    """

    run: RunId
    workflow_id: str
    workspace: str
    goal: str  # the beginning of it
    priority: int = 0
    dedupe: str | None = None
    position: int = 0
    state: TaskState = "queued"
    outcome: OutcomeKind | None = None
    fence: int = 0
    owner: Owner | None = None
    lease_until: int = 0
    submitted_at: int = 0
    updated_at: int = 0


class RunRecorded(Value):
    """An event as it stands in a run's stream."""

    version: int
    recorded_at: int
    event: RunEvent


class Move(Value):
    """What becomes of the row with an append."""

    state: TaskState
    outcome: OutcomeKind | None = None


class RunWrite(Value):
    """One transaction: events after `expected_version`, their blobs, and the row's move.

    `fence` is that of the claim, None for what outsiders write.
    """

    run: RunId
    expected_version: int
    events: tuple[RunEvent, ...]
    blobs: tuple[Blob, ...] = ()
    fence: int | None = None
    move: Move | None = None


class Claiming(Value):
    """Who claims, and what: the run named, or the next that waits.

    `per_workspace_max` and `claimed_max` bound how many may be claimed; None is no bound.
    """

    owner: Owner
    ttl_ms: int
    run: RunId | None = None
    per_workspace_max: int | None = None
    claimed_max: int | None = None


class Queue(Protocol):
    """The rows of all runs, and their streams. Every method raises `StoreUnavailable`."""

    def submit(self, task: Task, events: tuple[RunEvent, ...], blobs: tuple[Blob, ...]) -> Task:
        """Keep a new row with the first events of its stream. Raises DuplicateRun."""

    def claim(self, claiming: Claiming) -> Task | None:
        """Claim a row that waits, or whose lease ran out, and record the claim in its stream.

        None when there is none to be had.
        """

    def renew(self, run: RunId, fence: int, ttl_ms: int) -> None:
        """Prolong a lease from now on. Raises LeaseLost."""

    def expire(self, run: RunId, fence: int) -> None:
        """End the lease of this fence at once, if it still stands."""

    def append(self, write: RunWrite) -> tuple[RunRecorded, ...]:
        """Append to a run's stream. Raises LeaseLost, or Conflict when the stream has moved on."""

    def scan(self, run: RunId, after: int = 0) -> tuple[RunRecorded, ...]:
        """Return the events of a run after a version, in order, their chain checked from there."""

    def tasks(self, states: tuple[TaskState, ...], limit: int) -> tuple[Task, ...]:
        """Return the rows in these states, the last submitted first."""

    def find(self, beginning: str, limit: int) -> tuple[Task, ...]:
        """Return the rows whose run's id begins like this, by id."""

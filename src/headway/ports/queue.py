"""The queue: one row for each run, and the run's own stream, moved together or not at all.

A row is a task. Whoever claims it holds a lease until a moment in time, and a fence: a number that
grows with each claim. Every append of a run names the fence it was claimed with, so that a worker
that was given up for dead can write nothing more.
"""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from headway.domain.ids import RunId
from headway.domain.runs.events import Owner, RunEvent
from headway.domain.runs.limits import Spent
from headway.domain.runs.outcomes import OutcomeKind
from headway.domain.values import Moment, Value
from headway.ports.ledger import Blob
from headway.ports.listing import Listing

TaskState: TypeAlias = Literal["queued", "claimed", "resting", "ended"]


class LeaseLost(Exception):
    """The fence is not the row's any more: another worker has the run, or it has ended."""


class DuplicateRun(Exception):
    """An unfinished run has the dedupe key; `run` is that run."""

    def __init__(self, run: RunId) -> None:
        super().__init__(run)
        self.run = run


class Tally(Value):
    """What a run had taken, how far it was, and why, when it last came to a rest or to its end.

    `reason` is that of `outcome`, where it has one. Both are None in rows of an older version.
    """

    spent: Spent
    steps: int = 0
    outcome: OutcomeKind | None = None
    reason: str | None = None


class Task(Value):
    """A row: what stands in the queue of a run. Times are milliseconds since 1970 UTC.

    `position` orders rows of one priority, as they came unless one was moved; a higher `priority`
    goes first. `owner` and `lease_until` are those of the last claim, whether it still stands or
    not. `tally` is None until the run first rests or ends. `provider` is that of the run's model,
    None in rows of an older version.
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
    lease_until: Moment = 0
    submitted_at: Moment = 0
    updated_at: Moment = 0
    tally: Tally | None = None
    provider: str | None = None

    @property
    def reason(self) -> str | None:
        """Return why it rests or has ended; what the tally says of an earlier rest is not it."""
        told = self.tally
        return told.reason if told is not None and told.outcome == self.outcome else None


class RunRecorded(Value):
    """An event as it stands in a run's stream."""

    version: int
    recorded_at: int
    event: RunEvent


class Move(Value):
    """What becomes of the row with an append. Without a tally it keeps the one it has."""

    state: TaskState
    outcome: OutcomeKind | None = None
    tally: Tally | None = None


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

    `per_workspace_max` and `claimed_max` bound how many may be claimed at once; None is no bound.
    A claim that names a bound never goes beyond it, whoever claims at the same time. Of the
    providers in `without` no run is claimed but the one named.
    """

    owner: Owner
    ttl_ms: int
    run: RunId | None = None
    per_workspace_max: int | None = None
    claimed_max: int | None = None
    without: tuple[str, ...] = ()


class Holder(Value):
    """A process whose leases stand, and on how many runs."""

    owner: Owner
    runs: int


class Bell(Protocol):
    """Rings when there may be a run to claim that was not there before. One thread waits for it.

    It may ring for nothing, and it may miss what happens while its line to the store is down: who
    waits looks every few seconds all the same. It raises nothing.
    """

    def wait(self, seconds: float) -> None:
        """Return when it has rung since the last wait, or after so long."""

    def cut(self) -> None:
        """Have the wait that is under way, and every later one, return at once. Any thread may."""

    def close(self) -> None:
        """Let go of what it listens on; nobody waits any more."""


# Given the rows in state `queued`, the next first: those whose priority or position is to be new.
Rearrange: TypeAlias = Callable[[tuple[Task, ...]], tuple[Task, ...]]


class Queue(Protocol):
    """The rows of all runs, and their streams. Every method raises `StoreUnavailable`."""

    def submit(self, task: Task, events: tuple[RunEvent, ...], blobs: tuple[Blob, ...]) -> Task:
        """Keep a new row with the first events of its stream. Raises DuplicateRun."""

    def claim(self, claiming: Claiming) -> Task | None:
        """Claim a row that waits, or whose lease ran out, and record the claim in its stream.

        None when there is none to be had. Raises SessionNotHealthy for one whose row is damaged, or
        whose stream is where it ends; `details` name the run. A row whose run cannot be named, so
        that nobody could set it aside, ends here as failed.
        """

    def renew(self, run: RunId, fence: int, ttl_ms: int) -> None:
        """Prolong a lease from now on. Raises LeaseLost."""

    def hand_back(self, run: RunId, fence: int) -> None:
        """Have a row wait again that is held with this fence; one that is not stays as it is."""

    def holders(self) -> tuple[Holder, ...]:
        """Return the processes whose leases stand."""

    def set_aside(self, run: RunId) -> None:
        """Have a row end as failed whose stream cannot be read: nobody can go on with it."""

    def expire_all(self, owner: Owner) -> None:
        """End every lease of a process at once."""

    def append(self, write: RunWrite) -> tuple[RunRecorded, ...]:
        """Append to a run's stream. Raises LeaseLost, or Conflict when the stream has moved on."""

    def scan(self, run: RunId, after: int = 0) -> tuple[RunRecorded, ...]:
        """Return the events of a run after a version, in order, their chain checked from there."""

    def tasks(
        self,
        states: tuple[TaskState, ...],
        limit: int,
        *,
        workflow_id: str | None = None,
        workspace: str | None = None,
        since: int = 0,
    ) -> Listing[Task]:
        """Return the rows in these states, the last submitted first; perhaps only some of them.

        `since` is the moment from which on they were submitted. A row in no state that there is can
        be met only by who asks for all states.
        """

    def queued(self, limit: int) -> Listing[Task]:
        """Return the queued rows in the order in which they are claimed, the next first."""

    def rearrange(self, change: Rearrange) -> None:
        """Hold every queued row, and keep the priority and position of those that are returned.

        A row that cannot be read stays where it is. The positions of the others together stay the
        same. Raises what `change` raises; then
        nothing was kept. It may be called more than once, and asks nothing of the store itself.
        """

    def task(self, run: RunId) -> Task | None:
        """Return the row of a run. Raises SessionNotHealthy for a damaged one."""

    def find(self, beginning: str, limit: int) -> Listing[Task]:
        """Return the rows whose run's id begins like this, by id."""

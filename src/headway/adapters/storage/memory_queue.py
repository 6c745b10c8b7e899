"""The queue of the store in memory; the same promises, by one lock."""

from collections import Counter

from msgspec.structs import replace

from headway.adapters.storage.memory_kept import Kept
from headway.adapters.storage.run_log import encoded, read_back, recorded_run
from headway.adapters.storage.sealing import EMPTY, Head, Sealed, refuse_missing, seal
from headway.domain.ids import RunId, StreamId, run_stream
from headway.domain.runs.events import Owner, RunClaimed, RunEvent
from headway.ports.clock import Clock
from headway.ports.leases import Lease
from headway.ports.ledger import Blob, Conflict
from headway.ports.listing import Listing
from headway.ports.queue import (
    Claiming,
    DuplicateRun,
    Holder,
    Rearrange,
    RunRecorded,
    RunWrite,
    Task,
    TaskState,
)


class MemoryQueue:
    """Implements `ports.queue.Queue`."""

    def __init__(self, kept: Kept, clock: Clock) -> None:
        self._kept = kept
        self._clock = clock

    def submit(self, task: Task, events: tuple[RunEvent, ...], blobs: tuple[Blob, ...]) -> Task:
        """Keep a new row with the first events of its stream."""
        pairs = encoded(events)
        with self._kept.lock:
            for other in self._kept.tasks.values():
                if task.dedupe is not None and other.dedupe == task.dedupe:
                    raise DuplicateRun(other.run)
            now = self._clock.now_ms()
            self._extend(run_stream(task.run), pairs, now)
            self._keep_blobs(blobs)
            position = len(self._kept.tasks) + 1
            row = replace(task, position=position, submitted_at=now, updated_at=now)
            self._kept.tasks[task.run] = row
            self._kept.ring()
            return row

    def claim(self, claiming: Claiming) -> Task | None:
        """Claim a row that waits, or whose lease ran out, and record the claim in its stream."""
        with self._kept.lock:
            now = self._clock.now_ms()
            tasks = self._kept.tasks.values()
            held = [each for each in tasks if each.state == "claimed" and each.lease_until > now]
            if claiming.claimed_max is not None and len(held) >= claiming.claimed_max:
                return None
            free = [
                each
                for each in tasks
                if each.state in ("queued", "claimed") and each not in held
                if self._wanted(each, claiming, held)
            ]
            if not free:
                return None
            task = min(free, key=_in_turn)
            row = replace(
                task,
                state="claimed",
                fence=task.fence + 1,
                owner=claiming.owner,
                lease_until=now + claiming.ttl_ms,
                updated_at=now,
            )
            event = RunClaimed(fence=row.fence, owner=claiming.owner)
            self._extend(run_stream(row.run), encoded((event,)), now)
            self._kept.tasks[row.run] = row
            return row

    def renew(self, run: RunId, fence: int, ttl_ms: int) -> None:
        """Prolong a lease from now on."""
        with self._kept.lock:
            task = self._held(run, fence)
            until = self._clock.now_ms() + ttl_ms
            self._kept.tasks[run] = replace(task, lease_until=until)

    def hand_back(self, run: RunId, fence: int) -> None:
        """Have a row wait again that is held with this fence; one that is not stays as it is."""
        with self._kept.lock:
            task = self._kept.tasks.get(run)
            if task is not None and task.fence == fence and task.state == "claimed":
                now = self._clock.now_ms()
                self._kept.tasks[run] = replace(task, state="queued", lease_until=0, updated_at=now)
                self._kept.ring()

    def set_aside(self, run: RunId) -> None:
        """Have a row end as failed whose stream cannot be read."""
        with self._kept.lock:
            row = self._kept.tasks[run]
            self._kept.tasks[run] = replace(row, state="ended", outcome="error", dedupe=None)

    def holders(self) -> tuple[Holder, ...]:
        """Return the processes whose leases stand."""
        with self._kept.lock:
            now = self._clock.now_ms()
            tasks = self._kept.tasks.values()
            held = [each for each in tasks if each.state == "claimed" and each.lease_until > now]
        counts = Counter(each.owner for each in held if each.owner is not None)
        return tuple(Holder(owner=owner, runs=runs) for owner, runs in counts.items())

    def expire_all(self, owner: Owner) -> None:
        """End every lease of a process at once."""
        with self._kept.lock:
            for task in self._kept.tasks.values():
                if task.state == "claimed" and task.owner == owner:
                    self._kept.tasks[task.run] = replace(task, lease_until=0)
            self._kept.ring()

    def append(self, write: RunWrite) -> tuple[RunRecorded, ...]:
        """Append to a run's stream."""
        pairs = encoded(write.events)
        stream = run_stream(write.run)
        with self._kept.lock:
            now = self._clock.now_ms()
            if write.fence is not None:
                self._held(write.run, write.fence)
            events = self._kept.streams.get(stream)
            if not events:
                refuse_missing(stream, 1)
            if len(events) != write.expected_version:
                raise Conflict
            sealed = self._extend(stream, pairs, now)
            self._keep_blobs(write.blobs)
            task = replace(self._kept.tasks[write.run], updated_at=now)
            if write.move is not None:
                move = write.move
                tally = move.tally or task.tally
                task = replace(task, state=move.state, outcome=move.outcome, tally=tally)
                if write.move.state == "ended":
                    task = replace(task, dedupe=None)
                self._kept.ring()
            self._kept.tasks[write.run] = task
        return recorded_run(sealed)

    def scan(self, run: RunId, after: int = 0) -> tuple[RunRecorded, ...]:
        """Return the events of a run after a version, in order, their chain checked from there."""
        stream = run_stream(run)
        with self._kept.lock:
            events = list(self._kept.streams.get(stream, []))
        if after >= len(events):
            return ()
        rows = [(each.version, each.recorded_at, each.hash, each.data) for each in events[after:]]
        start = Head(after, events[after - 1].hash) if after else EMPTY
        return read_back(stream, rows, start, Head(len(events), events[-1].hash))

    def tasks(
        self,
        states: tuple[TaskState, ...],
        limit: int,
        *,
        workflow_id: str | None = None,
        workspace: str | None = None,
        since: int = 0,
    ) -> Listing[Task]:
        """Return the rows in these states, the last submitted first; perhaps only some of them."""
        with self._kept.lock:
            found = [
                each
                for each in self._kept.tasks.values()
                if each.state in states and each.submitted_at >= since
                if workflow_id in (None, each.workflow_id) and workspace in (None, each.workspace)
            ]
        found.sort(key=lambda each: (each.submitted_at, each.position), reverse=True)
        return Listing(tuple(found[:limit]))

    def queued(self, limit: int) -> Listing[Task]:
        """Return the queued rows in the order in which they are claimed, the next first."""
        with self._kept.lock:
            found = [each for each in self._kept.tasks.values() if each.state == "queued"]
        found.sort(key=lambda each: (-each.priority, each.position))
        return Listing(tuple(found[:limit]))

    def rearrange(self, change: Rearrange) -> None:
        """Hold every queued row, and keep the priority and position of those that are returned."""
        with self._kept.lock:
            queued = [each for each in self._kept.tasks.values() if each.state == "queued"]
            now = self._clock.now_ms()
            for task in change(tuple(sorted(queued, key=_in_turn))):
                self._kept.tasks[task.run] = replace(
                    self._kept.tasks[task.run],
                    priority=task.priority,
                    position=task.position,
                    updated_at=now,
                )

    def task(self, run: RunId) -> Task | None:
        """Return the row of a run."""
        with self._kept.lock:
            return self._kept.tasks.get(run)

    def find(self, beginning: str, limit: int) -> Listing[Task]:
        """Return the rows whose run's id begins like this, by id."""
        with self._kept.lock:
            found = [each for each in self._kept.tasks.values() if each.run.startswith(beginning)]
        return Listing(tuple(sorted(found, key=lambda each: each.run)[:limit]))

    def _held(self, run: RunId, fence: int) -> Task:
        return self._kept.hold_claimed(Lease(run=run, fence=fence))

    def _extend(
        self, stream: StreamId, pairs: list[tuple[RunEvent, bytes]], now: int
    ) -> list[Sealed[RunEvent]]:
        events = self._kept.streams.setdefault(stream, [])
        head = Head(len(events), events[-1].hash) if events else EMPTY
        sealed = seal(head, pairs, now)
        events.extend(sealed)
        return sealed

    def _keep_blobs(self, blobs: tuple[Blob, ...]) -> None:
        for blob in blobs:
            self._kept.blobs.setdefault(blob.digest, blob.data)

    @staticmethod
    def _wanted(task: Task, claiming: Claiming, held: list[Task]) -> bool:
        if claiming.run is not None:
            return task.run == claiming.run
        if task.provider in claiming.without:
            return False
        most = claiming.per_workspace_max
        beside = sum(each.workspace == task.workspace for each in held)
        return most is None or beside < most


def _in_turn(task: Task) -> tuple[int, int]:
    return -task.priority, task.position

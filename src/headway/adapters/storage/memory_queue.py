"""The queue of the store in memory; the same promises, by one lock."""

from msgspec.structs import replace

from headway.adapters.storage.memory_kept import Kept
from headway.adapters.storage.run_log import encoded, read_back, recorded_run
from headway.adapters.storage.sealing import EMPTY, Head, Sealed, refuse_missing, seal
from headway.domain.ids import RunId, StreamId, run_stream
from headway.domain.runs.events import RunClaimed, RunEvent
from headway.ports.clock import Clock
from headway.ports.ledger import Blob, Conflict
from headway.ports.queue import (
    Claiming,
    DuplicateRun,
    LeaseLost,
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
            task = min(free, key=lambda each: (-each.priority, each.position))
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

    def expire(self, run: RunId, fence: int) -> None:
        """End the lease of this fence at once, if it still stands."""
        with self._kept.lock:
            task = self._kept.tasks.get(run)
            if task is not None and task.fence == fence and task.state == "claimed":
                self._kept.tasks[run] = replace(task, lease_until=0)

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
                task = replace(task, state=write.move.state, outcome=write.move.outcome)
                if write.move.state == "ended":
                    task = replace(task, dedupe=None)
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

    def tasks(self, states: tuple[TaskState, ...], limit: int) -> tuple[Task, ...]:
        """Return the rows in these states, the last submitted first."""
        with self._kept.lock:
            found = [each for each in self._kept.tasks.values() if each.state in states]
        return tuple(sorted(found, key=lambda each: -each.position)[:limit])

    def find(self, beginning: str, limit: int) -> tuple[Task, ...]:
        """Return the rows whose run's id begins like this, by id."""
        with self._kept.lock:
            found = [each for each in self._kept.tasks.values() if each.run.startswith(beginning)]
        return tuple(sorted(found, key=lambda each: each.run)[:limit])

    def _held(self, run: RunId, fence: int) -> Task:
        task = self._kept.tasks.get(run)
        if task is None or task.fence != fence or task.state != "claimed":
            raise LeaseLost
        return task

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
        most = claiming.per_workspace_max
        beside = sum(each.workspace == task.workspace for each in held)
        return most is None or beside < most

"""The queue on an SQL database; see `ports.queue` for what it promises.

A claim and the event that tells of it are one transaction. So are an append and the look at its
fence: the row is written to, so whoever would claim it waits until the append is done, and finds
its own fence too old, or the other way round.
"""

from contextlib import suppress
from typing import Final, get_args

import msgspec

from headway.adapters.storage import queue_statements as sql
from headway.adapters.storage import statements
from headway.adapters.storage.database import Checked, Cursor, Database, Row
from headway.adapters.storage.rows import OF_A_RUN, checked, damaged_row, listed, read_listed
from headway.adapters.storage.run_log import encoded, read_back, recorded_run
from headway.adapters.storage.sealing import EMPTY, Head, Sealed, altered, refuse_missing, seal
from headway.adapters.storage.store_faults import DAMAGED_ROW
from headway.adapters.storage.streams import (
    extend_stream,
    head_named,
    hold_claimed,
    keep_blobs,
    stream_end,
)
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import RunId, run_stream
from headway.domain.runs.events import Owner, RunClaimed, RunEvent
from headway.ports.clock import Clock
from headway.ports.leases import Lease
from headway.ports.ledger import Blob, Conflict
from headway.ports.listing import Listing
from headway.ports.queue import (
    Claiming,
    DuplicateRun,
    Holder,
    LeaseLost,
    Move,
    Rearrange,
    RunRecorded,
    RunWrite,
    Tally,
    Task,
    TaskState,
)

_FIELDS: Final = (
    "run", "workflow_id", "workspace", "goal", "priority", "dedupe", "position", "state",
    "outcome", "fence", "owner", "lease_until", "submitted_at", "updated_at", "tally", "provider",
)  # fmt: skip
NO_BOUND: Final = -1


class SqlQueue:
    """Implements `ports.queue.Queue`."""

    def __init__(
        self, database: Database, clock: Clock, manners: sql.Manners = sql.ONE_WRITER
    ) -> None:
        self._database = database
        self._clock = clock
        self._manners = manners

    def submit(self, task: Task, events: tuple[RunEvent, ...], blobs: tuple[Blob, ...]) -> Task:
        """Keep a new row with the first events of its stream."""
        pairs = encoded(events)

        def work(cursor: Cursor) -> Task:
            now = self._clock.now_ms()
            while not _is_new(cursor, task, now):
                duplicate = _duplicate(cursor, task)
                if duplicate is not None:  # else it has ended just now, and its key is free
                    raise DuplicateRun(duplicate)
            stream = run_stream(task.run)
            sealed = seal(EMPTY, pairs, now)
            extend_stream(cursor, stream, stream_end(cursor, stream), sealed)
            keep_blobs(cursor, blobs)
            self._ring(cursor)
            return _task(cursor, task.run)

        def kept(cursor: Cursor, done: Task) -> bool:
            cursor.execute(sql.TASK, (done.run,))
            return cursor.fetchone() is not None

        return self._database.write(Checked(work, kept))

    def claim(self, claiming: Claiming) -> Task | None:
        """Claim a row that waits, or whose lease ran out, and record the claim in its stream."""
        chosen: RunId | None = None

        def work(cursor: Cursor) -> Task | None:
            nonlocal chosen
            now = self._clock.now_ms()
            run = chosen = self._claimable(cursor, claiming, now)
            if run is None:
                return None
            owner = _owner_text(claiming.owner)
            cursor.execute(sql.CLAIM, (owner, now + claiming.ttl_ms, now, run))
            row = cursor.fetchone()
            if row is None:
                raise damaged_row(run, "an index holds what its table does not", OF_A_RUN)
            event = RunClaimed(fence=int(row[0]), owner=claiming.owner)
            stream = run_stream(run)
            end = stream_end(cursor, stream)
            if end.id is None:
                refuse_missing(stream, 1)
            try:
                extend_stream(cursor, stream, end, seal(end.head, encoded((event,)), now))
            except Conflict as error:  # nobody else writes to a run whose row is held
                raise altered(stream, end.head.version, "is not the last everywhere") from error
            return _task(cursor, run)

        def kept(cursor: Cursor, done: Task | None) -> bool:
            return done is None or _task(cursor, done.run).fence == done.fence

        try:
            return self._database.write(Checked(work, kept))
        except SessionNotHealthy as fault:
            if chosen is None or fault.details.get("kind") != DAMAGED_ROW:
                raise
            raise _of_run(fault, chosen) from fault

    def renew(self, run: RunId, fence: int, ttl_ms: int) -> None:
        """Prolong a lease from now on."""

        def work(cursor: Cursor) -> None:
            cursor.execute(sql.RENEW, (self._clock.now_ms() + ttl_ms, run, fence))
            if cursor.rowcount != 1:
                raise LeaseLost

        self._database.write(work)

    def hand_back(self, run: RunId, fence: int) -> None:
        """Have a row wait again that is held with this fence; one that is not stays as it is."""

        def work(cursor: Cursor) -> None:
            cursor.execute(sql.HAND_BACK, (self._clock.now_ms(), run, fence))
            self._ring(cursor)

        self._database.write(work)

    def set_aside(self, run: RunId) -> None:
        """Have a row end as failed whose stream cannot be read."""

        def work(cursor: Cursor) -> None:
            cursor.execute(sql.SET_ASIDE, (self._clock.now_ms(), run))
            self._ring(cursor)

        self._database.write(work)

    def holders(self) -> tuple[Holder, ...]:
        """Return the processes whose leases stand, but for those whose names are damaged."""

        def work(cursor: Cursor) -> list[Row]:
            cursor.execute(sql.HOLDERS, (self._clock.now_ms(),))
            return cursor.fetchall()

        holders = []
        for text, count in self._database.read(work):
            # Nobody can tell whether a damaged one is gone: its leases end with their time.
            with suppress(SessionNotHealthy):
                holders.append(Holder(owner=_owner("a worker", text), runs=int(count)))
        return tuple(holders)

    def expire_all(self, owner: Owner) -> None:
        """End every lease of a process at once."""

        def work(cursor: Cursor) -> None:
            cursor.execute(sql.EXPIRE_ALL, (_owner_text(owner),))
            self._ring(cursor)

        self._database.write(work)

    def append(self, write: RunWrite) -> tuple[RunRecorded, ...]:
        """Append to a run's stream."""
        pairs = encoded(write.events)
        stream = run_stream(write.run)

        def work(cursor: Cursor) -> list[Sealed[RunEvent]]:
            now = self._clock.now_ms()
            if write.fence is None:
                cursor.execute(sql.HOLD, (now, write.run))
            else:
                hold_claimed(cursor, Lease(run=write.run, fence=write.fence), now)
            end = stream_end(cursor, stream)
            if end.id is None:
                refuse_missing(stream, 1)
            if end.head.version != write.expected_version:
                raise Conflict
            sealed = seal(end.head, pairs, now)
            extend_stream(cursor, stream, end, sealed)
            keep_blobs(cursor, write.blobs)
            if write.move is not None:
                _move(cursor, write.run, write.move, now)
                self._ring(cursor)  # it waits again, or leaves room to another
            return sealed

        def kept(cursor: Cursor, written: list[Sealed[RunEvent]]) -> bool:
            cursor.execute(statements.EVENT_HASH, (stream, written[-1].version))
            row = cursor.fetchone()
            return row is not None and row[0] == written[-1].hash

        return recorded_run(self._database.write(Checked(work, kept)))

    def scan(self, run: RunId, after: int = 0) -> tuple[RunRecorded, ...]:
        """Return the events of a run after a version, in order, their chain checked from there."""
        stream = run_stream(run)

        def work(cursor: Cursor) -> list[Row]:
            cursor.execute(statements.SCAN, (after, stream))
            return cursor.fetchall()

        rows = self._database.read(work)
        if not rows or after > head_named(stream, rows[0][4:]).version:
            return ()
        end = head_named(stream, rows[0][4:])
        events = [row[:4] for row in rows if row[0] is not None]
        start = EMPTY
        if after > 0:
            if not events or events[0][0] != after:
                refuse_missing(stream, after)
            start = Head(after, events.pop(0)[2])
        return read_back(stream, events, start, end)

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
        fields = {"workflow_id": workflow_id, "workspace": workspace}
        equal = {name: value for name, value in fields.items() if value is not None}
        if len(states) == len(get_args(TaskState)):
            states = ()  # a damaged one too
        text = sql.tasks_in(len(states), *equal)
        return self._listed(text, *states, since, *equal.values(), limit=limit)

    def queued(self, limit: int) -> Listing[Task]:
        """Return the queued rows in the order in which they are claimed, the next first."""
        return self._listed(sql.QUEUED_IN_TURN, limit=limit)

    def rearrange(self, change: Rearrange) -> None:
        """Hold every queued row, and keep the priority and position of those that are returned."""

        def work(cursor: Cursor) -> None:
            cursor.execute(sql.QUEUED + self._manners.wait)
            queued = sorted(listed(cursor.fetchall(), task_of).rows, key=_in_turn)
            moved, now = change(tuple(queued)), self._clock.now_ms()
            for task in moved:
                cursor.execute(sql.STEP_ASIDE, (task.run,))
            for task in moved:
                cursor.execute(sql.REPOSITION, (task.priority, task.position, now, task.run))

        self._database.write(work)

    def task(self, run: RunId) -> Task | None:
        """Return the row of a run."""

        def work(cursor: Cursor) -> Row | None:
            cursor.execute(sql.TASK, (run,))
            return cursor.fetchone()

        row = self._database.read(work)
        return None if row is None else task_of(row)

    def find(self, beginning: str, limit: int) -> Listing[Task]:
        """Return the rows whose run's id begins like this, by id."""
        return self._listed(sql.FIND, beginning, beginning + "\x7f", limit=limit)

    def _listed(self, text: str, *values: str | int, limit: int) -> Listing[Task]:
        def work(cursor: Cursor) -> Listing[Task]:
            return read_listed(cursor, text, values, limit, task_of)

        return self._database.read(work)

    def _ring(self, cursor: Cursor) -> None:
        if self._manners.ring:
            cursor.execute(self._manners.ring)

    def _claimable(self, cursor: Cursor, claiming: Claiming, now: int) -> RunId | None:
        bounded = (claiming.claimed_max, claiming.per_workspace_max) != (None, None)
        if bounded and self._manners.alone:
            cursor.execute(self._manners.alone)
        if claiming.claimed_max is not None:
            cursor.execute(sql.CLAIMED, (now,))
            row = cursor.fetchone()
            if row is None or int(row[0]) >= claiming.claimed_max:
                return None
        if claiming.run is not None:
            cursor.execute(sql.THIS + self._manners.wait, (now, claiming.run))
            return claiming.run if cursor.fetchone() is not None else None
        most = claiming.per_workspace_max
        bound = NO_BOUND if most is None else most
        text = sql.next_in_turn(len(claiming.without)) + self._manners.skip
        while True:
            cursor.execute(text, (now, *claiming.without, bound, now, bound))
            found = cursor.fetchone()
            if found is None:
                return None
            run, position = found
            if isinstance(run, str):
                return RunId(run)
            cursor.execute(sql.SET_ASIDE_AT, (now, position))
            if cursor.rowcount != 1:
                raise damaged_row(run, "an index holds what its table does not", OF_A_RUN)


def _in_turn(task: Task) -> tuple[int, int]:
    """Return what rows are ordered by, the next first."""
    return -task.priority, task.position


def _move(cursor: Cursor, run: RunId, move: Move, now: int) -> None:
    tally = None if move.tally is None else msgspec.json.encode(move.tally).decode()
    cursor.execute(sql.MOVE, (move.state, move.outcome, now, tally, move.state, run))


def _is_new(cursor: Cursor, task: Task, now: int) -> bool:
    """Keep a new row; tell whether there was none with its id or key."""
    values = (task.run, task.workflow_id, task.workspace, task.goal, task.priority)
    cursor.execute(sql.SUBMIT, (*values, task.dedupe, now, now, task.provider))
    return cursor.fetchone() is not None


def _duplicate(cursor: Cursor, task: Task) -> RunId | None:
    cursor.execute(sql.DUPLICATE, (task.dedupe, task.run))
    row = cursor.fetchone()
    if row is None:
        return None
    if not isinstance(row[0], str):
        raise damaged_row(row[0], "its run has the key that is asked for, and no name", OF_A_RUN)
    return RunId(row[0])


def _task(cursor: Cursor, run: RunId) -> Task:
    cursor.execute(sql.TASK, (run,))
    row = cursor.fetchone()
    assert row is not None
    return task_of(row)


def task_of(row: Row) -> Task:
    """Return a task from its fields in order. Raises SessionNotHealthy for a damaged row."""
    values = dict(zip(_FIELDS, row, strict=True))
    if values["owner"] is not None:
        values["owner"] = _owner(values["run"], values["owner"])
    try:
        if values["tally"] is not None:
            values["tally"] = msgspec.json.decode(str(values["tally"]), type=Tally)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise damaged_row(values["run"], str(error), OF_A_RUN) from error
    return checked(Task, values, values["run"], OF_A_RUN)


def _owner_text(owner: Owner) -> str:
    return msgspec.json.encode(owner).decode()


def _owner(run: object, text: object) -> Owner:
    try:
        return msgspec.json.decode(str(text), type=Owner)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise damaged_row(run, str(error), OF_A_RUN) from error


def _of_run(fault: SessionNotHealthy, run: RunId) -> SessionNotHealthy:
    """Return the fault of a damaged row with the name of its run."""
    details = {**fault.details, "stream": run_stream(run)}
    message = f"The run {run} cannot be claimed. {fault.message}"
    return SessionNotHealthy(message, remedy=fault.remedy, details=details)

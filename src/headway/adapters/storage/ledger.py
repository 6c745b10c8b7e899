"""The ledger on an SQL database.

An append is one transaction: the stream's version is compared and set, the events are chained with
the time it is then, and blobs, attempts, the summary and the words to find it by go with them.
Events never change, so those that were read once (and checked then) are kept decoded, within a
limit of bytes; so are blobs. The attempts that an append leaves open are remembered until they are
asked for: the next append finds out whether their stream has moved on.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from headway.adapters.storage import statements
from headway.adapters.storage.byte_cache import ByteCache
from headway.adapters.storage.database import Checked, Cursor, Database, Row
from headway.adapters.storage.rows import (
    attempt_of,
    attempt_values,
    head_of,
    raw_digest,
    stream_of,
    summary_values,
)
from headway.adapters.storage.sealing import (
    EMPTY,
    Head,
    Sealed,
    encode_all,
    recorded,
    refuse_missing,
    seal,
    unseal,
    unseal_chain,
)
from headway.adapters.storage.search import Search
from headway.adapters.storage.streams import (
    End,
    extend_stream,
    head_named,
    hold_claimed,
    keep_blobs,
    stream_end,
)
from headway.domain.chain import GENESIS
from headway.domain.errors import SessionNotHealthy
from headway.domain.events import Event
from headway.domain.ids import Digest, NodeId, SessionId, StreamId, digest, session_stream
from headway.ports.clock import Clock
from headway.ports.ledger import AttemptRow, Conflict, Recorded, Write
from headway.ports.ledger import Head as AttemptHead

EVENT_CACHE_BYTES_MAX: Final = 32 << 20
BLOB_CACHE_BYTES_MAX: Final = 64 << 20
HEAD_CACHE_BYTES_MAX: Final = 8 << 20
HEAD_BYTES: Final = 1 << 10  # about what one takes
VERSIONS_PER_QUERY_MAX: Final = 64


_Known: TypeAlias = tuple[Recorded, int]  # an event, and its stream's id
_Written: TypeAlias = tuple[int, list[Sealed[Event]], bool]  # stream, events, whether to fold words


class SqlLedger:
    """Implements `ports.ledger.Ledger`; threads may share it."""

    def __init__(self, database: Database, clock: Clock, search: Search) -> None:
        self._database = database
        self._search = search
        self._clock = clock
        self._events = ByteCache[tuple[StreamId, int], _Known](EVENT_CACHE_BYTES_MAX)
        self._heads = ByteCache[bytes, AttemptHead](HEAD_CACHE_BYTES_MAX)
        self._blobs = ByteCache[Digest, bytes](BLOB_CACHE_BYTES_MAX)

    def append(self, write: Write) -> tuple[Recorded, ...]:
        """Commit the write durably and return its events as recorded."""
        encoded = encode_all(write.events)
        assert [digest(blob.data) for blob in write.blobs] == [blob.digest for blob in write.blobs]
        assert {stream_of(row) for row in write.attempts} <= {write.stream}

        known = self._events.get((write.stream, write.expected_version))

        def work(cursor: Cursor) -> _Written:
            if write.lease is not None:
                hold_claimed(cursor, write.lease, self._clock.now_ms())
            end = _end_at(*known) if known else stream_end(cursor, write.stream)
            if end.head.version != write.expected_version:
                raise Conflict
            sealed = seal(end.head, encoded, self._clock.now_ms())
            stream = extend_stream(cursor, write.stream, end, sealed)
            _keep(cursor, stream, write, sealed[-1].recorded_at)
            return stream, sealed, self._search.add(cursor, stream, write.words)

        def kept(cursor: Cursor, written: _Written) -> bool:
            last = written[1][-1]
            row = _one(cursor, statements.EVENT_HASH, write.stream, last.version)
            return row is not None and row[0] == last.hash

        try:
            stream, sealed, due = self._database.write(Checked(work, kept))
        except Conflict:
            self._events.take((write.stream, write.expected_version))  # next time it is looked for
            self._database.read(lambda cursor: stream_end(cursor, write.stream))  # unless damaged
            raise
        records = recorded(write.stream, sealed)
        for record, each in zip(records, sealed, strict=True):  # the next call reads these
            self._keep_event(stream, record, len(each.data))
        self._remember(write.attempts, sealed[-1].version)
        if due:
            self._search.fold()
        return records

    def head(self, nonce: bytes, *, lately: bool = False) -> AttemptHead | None:
        """Return what a token's nonce stands for, or None when no such attempt was recorded."""
        remembered = self._heads.take(nonce) if lately else None
        if remembered is not None:
            return remembered
        row = self._database.read(lambda cursor: _one(cursor, statements.HEAD, nonce))
        return None if row is None else head_of(row)

    def mint(self, row: AttemptRow) -> None:
        """Record a fresh attempt on a node, without an event."""
        stream = stream_of(row)

        def work(cursor: Cursor) -> None:
            cursor.execute(statements.HOLD_STREAM, (stream,))  # so that its nodes stand as read
            found = _one(cursor, statements.STREAM_HEAD, stream)
            if found is None:
                refuse_missing(stream, row.opened_at)
            now = _one(cursor, statements.STANDING, found[0], row.node)
            standing = row.opened_at if now is None else max(row.opened_at, now[0])
            fresh = replace(row, opened_at=standing)
            cursor.execute(statements.MINT_ATTEMPT, attempt_values(found[0], fresh))

        self._database.write(work)

    def read(self, stream: StreamId, versions: Sequence[int]) -> tuple[Recorded, ...]:
        """Return the events of these versions, in order of version, their hashes checked."""
        wanted = sorted(set(versions))
        found = {version: self._events.get((stream, version)) for version in wanted}  # in order
        absent = [version for version, kept in found.items() if kept is None]
        for row in self._rows(stream, absent):
            own, *stored, prev_hash = row
            record = unseal(stream, tuple(stored), GENESIS if stored[0] == 1 else prev_hash)
            found[record.version] = self._keep_event(int(own), record, len(stored[3]))
        return tuple([(kept or refuse_missing(stream, each))[0] for each, kept in found.items()])

    def scan(self, stream: StreamId, after: int = 0) -> tuple[Recorded, ...]:
        """Return all events after a version, in order, their chain checked from there.

        What was read before is read again: a proof is of what is stored now.
        """
        rows = self._database.read(lambda cursor: _all(cursor, statements.SCAN, after, stream))
        if not rows:
            return ()
        end = head_named(stream, rows[0][4:])
        if after >= end.version + 1:
            return ()
        events = [row[:4] for row in rows if row[0] is not None]
        start = EMPTY
        if after > 0:
            if not events or events[0][0] != after:
                refuse_missing(stream, after)
            start = head_named(stream, (after, events.pop(0)[2]))
        return tuple(unseal_chain(stream, events, start, end))

    def attempts_on(self, session: SessionId, node: NodeId) -> tuple[AttemptRow, ...]:
        """Return the attempts minted on a node, ended ones first by outcome version."""
        stream = session_stream(session)
        rows = self._database.read(
            lambda cursor: _all(cursor, statements.ATTEMPTS_ON, stream, node)
        )
        return tuple(attempt_of(row) for row in rows)

    def blob(self, digest: Digest) -> bytes:
        """Return a blob's bytes, checked against its digest."""
        kept = self._blobs.get(digest)
        if kept is not None:
            return kept
        key = raw_digest(digest)
        row = self._database.read(lambda cursor: _one(cursor, statements.BLOB, key))
        data = checked_blob(digest, None if row is None else row[0])
        self._blobs.put(digest, data, len(data))
        return data

    def _keep_event(self, stream: int, record: Recorded, size: int) -> _Known:
        known = record, stream
        self._events.put((record.stream, record.version), known, size)
        return known

    def _remember(self, rows: Sequence[AttemptRow], version: int) -> None:
        for row in rows:
            if row.outcome_at is not None:
                continue
            self._heads.take(row.nonce)
            if row.checkpoint_at is None:
                head = AttemptHead(row=row, version=version, remembered=True)
                self._heads.put(row.nonce, head, HEAD_BYTES)

    def _rows(self, stream: StreamId, versions: list[int]) -> list[Row]:
        if not versions:
            return []

        def work(cursor: Cursor) -> list[Row]:
            rows: list[Row] = []
            for start in range(0, len(versions), VERSIONS_PER_QUERY_MAX):
                batch = versions[start : start + VERSIONS_PER_QUERY_MAX]
                rows += _all(cursor, statements.read_events(len(batch)), stream, *batch)
            return rows

        return self._database.read(work)


def _end_at(record: Recorded, stream: int) -> End:
    """Return the end that a stream has for as long as nothing follows this event."""
    return End(stream, Head(record.version, record.hash))


def checked_blob(name: Digest, data: object) -> bytes:
    """Return the bytes of a blob as a store has them, when they are the ones named."""
    if isinstance(data, bytes) and digest(data) == name:
        return data
    problem = "is missing" if data is None else "does not match its digest"
    raise SessionNotHealthy(
        f"The blob {name} {problem}.",
        remedy="Restore the store from a backup, or start a new session; "
        "sessions that do not need this blob are not affected.",
        details={"kind": "damaged_blob", "digest": name},
    )


def _keep(cursor: Cursor, stream: int, write: Write, now_ms: int) -> None:
    """Write what goes with the new head."""
    keep_blobs(cursor, write.blobs)
    if write.attempts:
        cursor.executemany(
            statements.KEEP_ATTEMPT, [attempt_values(stream, row) for row in write.attempts]
        )
    for standing in write.standings:
        values = (standing.opened_at, stream, standing.node)
        cursor.execute(statements.MOVE_STANDING, values)
    for gate in write.gates:
        cursor.execute(statements.KEEP_GATE, (stream, gate.version, gate.nonce, now_ms))
    for version in write.decided:
        cursor.execute(statements.CLOSE_GATE, (stream, version))
    if write.summary is not None:
        cursor.execute(statements.KEEP_SUMMARY, summary_values(stream, write.summary, now_ms))


def _one(cursor: Cursor, sql: str, *values: int | str | bytes) -> Row | None:
    cursor.execute(sql, values)
    return cursor.fetchone()


def _all(cursor: Cursor, sql: str, *values: int | str | bytes) -> list[Row]:
    cursor.execute(sql, values)
    return cursor.fetchall()

"""Custody of whole streams on an SQL database.

A purge removes the blobs of its stream that no other stream speaks of. Which those are is found by
reading the stored bytes of all others: at leisure first, and then, in the purge's own transaction,
only what was appended meanwhile. A digest anywhere in the bytes counts, so one blob too many may be
kept, never one too few.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from headway.adapters.storage import custody_statements, statements
from headway.adapters.storage.database import Checked, Cursor, Database, Row, SqlValue
from headway.adapters.storage.rows import attempt_values, raw_digest, session_of, summary_values
from headway.adapters.storage.search import Search
from headway.domain.history import mentions
from headway.domain.ids import Digest, RunId, SessionId, StreamId, run_stream
from headway.domain.values import TIME_MAX
from headway.ports.custody import Projections, Purged, RunUnfinished, SealedEvent, Tombstone
from headway.ports.ledger import Blob, Conflict
from headway.ports.sessions import SessionSummary

EVENTS_A_PAGE: Final = 500


class SqlCustody:
    """Implements `ports.custody.Custody`.

    `hold_blobs` is what a database needs to be told, if anything, so that no other transaction adds
    a blob until the purge's own has ended.
    """

    def __init__(self, database: Database, search: Search, hold_blobs: str | None = None) -> None:
        self._database = database
        self._search = search
        self._hold_blobs = hold_blobs

    def place(
        self,
        stream: StreamId,
        events: Sequence[SealedEvent],
        blobs: Sequence[Blob],
        projections: Projections,
    ) -> None:
        """Keep a whole stream with its proofs. Raises Conflict when one has or had that name."""

        def work(cursor: Cursor) -> bool:
            if _one(cursor, statements.STREAM_HEAD, stream) is not None:
                raise Conflict
            if _one(cursor, custody_statements.TOMBSTONE, str(session_of(stream))) is not None:
                raise Conflict
            end = events[-1]
            begun = _one(cursor, statements.BEGIN_STREAM, stream, end.version, end.hash)
            if begun is None:  # another was first while this one waited for it
                raise Conflict
            key = int(begun[0])
            cursor.executemany(statements.KEEP_EVENT, [(key, *event) for event in events])
            cursor.executemany(
                statements.KEEP_BLOB, [(raw_digest(blob.digest), blob.data) for blob in blobs]
            )
            _project(cursor, key, projections)
            return self._search.add(cursor, key, " ".join(projections.words))

        def kept(cursor: Cursor, _due: bool) -> bool:  # noqa: FBT001  what the work returned
            return _one(cursor, statements.STREAM_HEAD, stream) is not None

        if self._database.write(Checked(work, kept)):
            self._search.fold()

    def restate(self, stream: StreamId, version: int, projections: Projections) -> None:
        """Replace a stream's summary, words and these attempts. Conflict unless at the version."""

        def work(cursor: Cursor) -> bool:
            cursor.execute(statements.HOLD_STREAM, (stream,))
            row = _one(cursor, statements.STREAM_HEAD, stream)
            if row is None or row[1] != version:
                raise Conflict
            key = int(row[0])
            _project(cursor, key, projections)
            self._search.drop(cursor, key)
            return self._search.add(cursor, key, " ".join(projections.words))

        if self._database.write(work):
            self._search.fold()

    def reindex(self) -> None:
        """Make what finds words anew from the words that are kept."""
        self._search.refill()

    def purge(
        self, stream: StreamId, tombstone: Tombstone, run: RunId | None = None
    ) -> Purged | None:
        """Remove a stream, its projections, its run, and the blobs that no other speaks of."""
        names = [stream] if run is None else [stream, run_stream(run)]
        seen: dict[str, int] = {}  # by name: the id of a stream that went may be given again
        own = self._database.read(lambda cursor: _own_blobs(cursor, names))
        self._database.read(lambda cursor: _spare(cursor, own, seen, names))

        def work(cursor: Cursor) -> Purged | None:
            # A run's row first, then streams, then blobs, as appends have it: nobody waits in a
            # ring.
            if run is not None:
                _drop_task(cursor, run)
            for name in names:
                cursor.execute(statements.HOLD_STREAM, (name,))
            if self._hold_blobs is not None:
                cursor.execute(self._hold_blobs, ())
            row = _one(cursor, statements.STREAM_HEAD, stream)
            if row is None:
                return None
            key = int(row[0])
            lone = set(own)
            _spare(cursor, lone, dict(seen), names)  # a copy: this may have to be done again
            values = (tombstone.session, tombstone.purged_at, tombstone.reason)
            cursor.execute(custody_statements.BURY, values)
            cursor.execute(custody_statements.BURY_ATTEMPTS, (key, tombstone.session))
            attempts = _dropped(cursor, custody_statements.DROP_ATTEMPTS, key)
            cursor.execute(custody_statements.DROP_GATES, (key,))
            cursor.execute(custody_statements.DROP_SUMMARY, (key,))
            self._search.drop(cursor, key)
            keys = _keys(cursor, names)
            events = sum(_dropped(cursor, custody_statements.DROP_EVENTS, each) for each in keys)
            for each in keys:
                cursor.execute(custody_statements.DROP_STREAM, (each,))
            blobs = sum(
                _dropped(cursor, custody_statements.DROP_BLOB, raw_digest(name))
                for name in sorted(lone)
            )
            return Purged(events=events, attempts=attempts, blobs=blobs, runs=len(keys) - 1)

        def kept(cursor: Cursor, _: Purged | None) -> bool:
            return _one(cursor, statements.STREAM_HEAD, stream) is None

        return self._database.write(Checked(work, kept))

    def tombstone(self, session: SessionId) -> Tombstone | None:
        """Return the tombstone of a session."""
        return self._tombstone(custody_statements.TOMBSTONE, session)

    def tombstone_of(self, nonce: bytes) -> Tombstone | None:
        """Return the tombstone of the session that a purged attempt belonged to."""
        return self._tombstone(custody_statements.TOMBSTONE_OF, nonce)

    def _tombstone(self, sql: str, key: SqlValue) -> Tombstone | None:
        row = self._database.read(lambda cursor: _one(cursor, sql, key))
        if row is None:
            return None
        session, purged_at, reason = row
        return Tombstone(
            session=SessionId(str(session)),
            purged_at=purged_at if type(purged_at) is int and 0 <= purged_at < TIME_MAX else 0,
            reason=reason if isinstance(reason, str) else "",
        )


def _project(cursor: Cursor, stream: int, projections: Projections) -> None:
    for row in projections.attempts:  # a damaged row may hold anything under its key
        cursor.execute(custody_statements.DROP_ATTEMPT, (row.nonce,))
    for nonce in projections.dropped:
        cursor.execute(custody_statements.DROP_ATTEMPT, (nonce,))
    cursor.executemany(
        statements.KEEP_ATTEMPT, [attempt_values(stream, row) for row in projections.attempts]
    )
    cursor.execute(custody_statements.DROP_GATES, (stream,))
    for gate in projections.gates:
        cursor.execute(statements.KEEP_GATE, (stream, gate.version, gate.nonce, gate.recorded_at))
    cursor.execute(custody_statements.DROP_SUMMARY, (stream,))
    if projections.summary is not None:
        cursor.execute(statements.KEEP_SUMMARY, _timed(stream, projections.summary))


def _timed(stream: int, summary: SessionSummary) -> tuple[SqlValue, ...]:
    *values, _, _ = summary_values(stream, summary, 0)
    return (*values, summary.started_at, summary.updated_at)


def _drop_task(cursor: Cursor, run: RunId) -> None:
    """Remove the row of a run, which must have ended. Raises RunUnfinished."""
    if _dropped(cursor, custody_statements.DROP_ENDED_TASK, run) == 0:
        row = _one(cursor, custody_statements.TASK, run)
        if row is not None:
            raise RunUnfinished(run, str(row[0]))


def _keys(cursor: Cursor, names: Sequence[StreamId]) -> list[int]:
    """Return the ids of the streams that are there."""
    rows = [_one(cursor, statements.STREAM_HEAD, name) for name in names]
    return [int(row[0]) for row in rows if row is not None]


def _own_blobs(cursor: Cursor, names: Sequence[StreamId]) -> set[Digest]:
    """Return the blobs that streams speak of and that are stored."""
    named: set[Digest] = set()
    for key in _keys(cursor, names):
        for _, data in _pages(cursor, key, 0):
            named |= mentions(data)
    return {name for name in named if _one(cursor, statements.BLOB, raw_digest(name)) is not None}


def _spare(
    cursor: Cursor, lone: set[Digest], seen: dict[str, int], own: Sequence[StreamId]
) -> None:
    """Take out the blobs that other streams speak of, in what was not seen of them yet."""
    cursor.execute(custody_statements.STREAM_ENDS, ())
    for key, name, version in cursor.fetchall():
        if not lone:
            return
        if name in own or version == seen.get(name):
            continue
        for at, data in _pages(cursor, key, seen.get(name, 0)):
            lone -= mentions(data)
            seen[name] = at


def _pages(cursor: Cursor, stream: int, after: int) -> Iterator[Row]:
    """Yield version and bytes of a stream's events, a page in memory at a time."""
    while True:
        cursor.execute(custody_statements.EVENT_BYTES, (stream, after, EVENTS_A_PAGE))
        page = cursor.fetchall()
        yield from page
        if len(page) < EVENTS_A_PAGE or not isinstance(page[-1][0], int):
            return
        after = page[-1][0]


def _dropped(cursor: Cursor, sql: str, key: int | bytes | str) -> int:
    cursor.execute(sql, (key,))
    return cursor.rowcount


def _one(cursor: Cursor, sql: str, *values: SqlValue) -> Row | None:
    cursor.execute(sql, values)
    return cursor.fetchone()

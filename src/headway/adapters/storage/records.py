"""What an SQL database holds, as it holds it: no cache, no check, nothing left out."""

from collections.abc import Sequence

from headway.adapters.storage import custody_statements, queue_statements, statements
from headway.adapters.storage.database import Cursor, Database, Row, SqlValue
from headway.adapters.storage.queue import task_of
from headway.adapters.storage.rows import (
    DIGEST_PREFIX,
    attempt_of,
    raw_digest,
    session_of,
    summary_of,
)
from headway.adapters.storage.search import Search
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import Digest, RunId, SessionId, StreamId
from headway.ports.custody import Damaged, Standing, StoredEvent, StoredTask
from headway.ports.ledger import AttemptRow
from headway.ports.sessions import GateRow, SessionSummary

_SUMMARY = slice(3, 20)  # with the stream's name in the place of its session
_HAS_SUMMARY = 20
_ATTEMPT_AFTER_NONCE = slice(22, 29)
_NONCE = 21


class SqlRecords:
    """Implements `ports.custody.Records`."""

    def __init__(self, database: Database, search: Search) -> None:
        self._database = database
        self._search = search

    def streams(self) -> tuple[StreamId, ...]:
        """Return the names of all streams, in order; one that is no text is a stray."""
        names = [row[0] for row in self._all(custody_statements.STREAMS)]
        return tuple(StreamId(name) for name in names if isinstance(name, str))

    def standing(self, stream: StreamId) -> Standing | None:
        """Return a stream's end and projections; None when there is no such stream."""
        rows = self._all(custody_statements.STANDING, stream, stream)
        if not rows:
            return None
        attempts: list[AttemptRow] = []
        damaged: list[Damaged] = []
        summary, damaged_summary = None, None
        for row in rows:
            if row[0] == 0:
                summary, damaged_summary = _summary(row)
                continue
            try:
                attempts.append(attempt_of((row[_NONCE], stream, *row[_ATTEMPT_AFTER_NONCE])))
            except SessionNotHealthy as fault:
                damaged.append(Damaged(row[_NONCE], fault.message))
        return Standing(
            version=rows[0][1],
            hash=rows[0][2],
            attempts=tuple(attempts),
            summary=summary,
            damaged_attempts=tuple(damaged),
            damaged_summary=damaged_summary,
            gates=tuple(_gate(stream, row) for row in self._all(custody_statements.GATES, stream)),
            words=self._words(stream),
        )

    def events(self, stream: StreamId, after: int, limit: int) -> Sequence[StoredEvent]:
        """Return at most `limit` events after a version, in order of version."""
        rows = self._all(custody_statements.EVENTS, stream, after, limit)
        return [StoredEvent._make(row) for row in rows]

    def task(self, run: RunId) -> StoredTask | None:
        """Return a run's row in the queue; None when there is no such row."""
        rows = self._all(custody_statements.TASK, run)
        if not rows:
            return None
        problem = None
        for row in self._all(queue_statements.TASK, run):
            try:
                task_of(row)
            except SessionNotHealthy as fault:
                problem = fault.message
        return StoredTask._make((*rows[0], problem))

    def blobs(self) -> tuple[Digest, ...]:
        """Return the names of all blobs."""
        rows = self._all(custody_statements.BLOBS)
        return tuple(
            Digest(DIGEST_PREFIX + row[0].hex()) for row in rows if isinstance(row[0], bytes)
        )

    def blob(self, digest: Digest) -> bytes | None:
        """Return the bytes stored under a name, whether they match it or not."""
        rows = self._all(statements.BLOB, raw_digest(digest))
        if not rows:
            return None
        data = rows[0][0]
        return data if isinstance(data, bytes) else b""

    def strays(self) -> tuple[str, ...]:
        """Return, in words, what stands without a stream."""
        found = []
        for kind, sql in custody_statements.STRAYS:
            count = int(self._all(sql)[0][0])
            if count:
                found.append(f"{count} {kind} row{'s' * (count > 1)} without a stream")
        names = [row[0] for row in self._all(custody_statements.STREAMS)]
        unnamed = sum(not isinstance(name, str) for name in names)
        if unnamed:
            found.append(f"{unnamed} stream{'s' * (unnamed > 1)} whose name cannot be read")
        if not self._database.read(self._search.is_sound):
            found.append("a search index that differs from the words it was made of")
        return tuple(found)

    def _words(self, stream: StreamId) -> frozenset[str]:
        def work(cursor: Cursor) -> frozenset[str]:
            cursor.execute(statements.STREAM_HEAD, (stream,))
            row = cursor.fetchone()
            return frozenset() if row is None else self._search.words(cursor, int(row[0]))

        return self._database.read(work)

    def _all(self, sql: str, *values: SqlValue) -> list[Row]:
        def work(cursor: Cursor) -> list[Row]:
            cursor.execute(sql, values)
            return cursor.fetchall()

        return self._database.read(work)


def _summary(row: Row) -> tuple[SessionSummary | None, str | None]:
    if row[_HAS_SUMMARY] is None:
        return None, None
    try:
        return summary_of(row[_SUMMARY]), None
    except SessionNotHealthy as fault:
        return None, fault.message


def _gate(stream: StreamId, row: Row) -> GateRow:
    """Return a waiting gate; a damaged one comes out as one that no history tells of."""
    version, nonce, recorded_at = row
    return GateRow(
        session=SessionId(str(session_of(stream))),
        version=version if isinstance(version, int) else -1,
        nonce=nonce if isinstance(nonce, bytes) else b"",
        recorded_at=recorded_at if isinstance(recorded_at, int) else -1,
    )

"""Streams in an SQL database: where one ends, and how it is extended, within a transaction."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from headway.adapters.storage import statements
from headway.adapters.storage.database import Cursor, Row
from headway.adapters.storage.queue_statements import HOLD_CLAIMED
from headway.adapters.storage.rows import raw_digest
from headway.adapters.storage.sealing import EMPTY, Head, Sealed, refuse_altered, refuse_missing
from headway.domain.chain import GENESIS
from headway.domain.ids import StreamId
from headway.ports.leases import Lease
from headway.ports.ledger import Blob, Conflict
from headway.ports.queue import LeaseLost

E = TypeVar("E")


class End(NamedTuple):
    """The end of a stream, and its row's id; None where there is no stream yet."""

    id: int | None
    head: Head


def stream_end(cursor: Cursor, stream: StreamId) -> End:
    """Return where a stream ends. Raises SessionNotHealthy for one that does not end there."""
    cursor.execute(statements.STREAM_END, (stream,))
    row = cursor.fetchone()
    if row is None:
        return End(None, EMPTY)
    *named, last = row[1:]
    head = head_named(stream, tuple(named))
    if last is None:
        refuse_missing(stream, head.version)
    if last != head.hash:
        refuse_altered(stream, head.version, "is not the end its stream names")
    return End(int(row[0]), head)


def head_named(stream: StreamId, row: Row) -> Head:
    """Return the end that a row (version, hash) names, checked."""
    version, own = row
    if not isinstance(version, int) or not isinstance(own, bytes) or len(own) != len(GENESIS):
        refuse_altered(stream, version, "is damaged where its stream names its end")
    return Head(version, own)


def extend_stream(cursor: Cursor, stream: StreamId, end: End, sealed: Sequence[Sealed[E]]) -> int:
    """Add events after the end and return the stream's id. Raises Conflict when it moved on."""
    own = _moved(cursor, stream, end, Head(sealed[-1].version, sealed[-1].hash))
    cursor.executemany(
        statements.KEEP_EVENT,
        [(own, each.version, each.recorded_at, each.hash, each.data) for each in sealed],
    )
    return own


def hold_claimed(cursor: Cursor, lease: Lease, now: int) -> None:
    """Hold the row of a run, claimed with this fence, for the transaction. Raises LeaseLost.

    The row is taken before a stream, always: two writes never wait for each other in a ring.
    """
    cursor.execute(HOLD_CLAIMED, (now, lease.run, lease.fence))
    if cursor.rowcount != 1:
        raise LeaseLost


def keep_blobs(cursor: Cursor, blobs: Sequence[Blob]) -> None:
    """Keep blobs, in one order everywhere: two writes never wait for each other in a ring."""
    if blobs:
        rows = sorted((raw_digest(blob.digest), blob.data) for blob in blobs)
        cursor.executemany(statements.KEEP_BLOB, rows)


def _moved(cursor: Cursor, stream: StreamId, end: End, to: Head) -> int:
    if end.id is None:
        cursor.execute(statements.BEGIN_STREAM, (stream, to.version, to.hash))
        begun = cursor.fetchone()
        if begun is None:
            raise Conflict
        return int(begun[0])
    cursor.execute(statements.MOVE_STREAM, (*to, end.id, *end.head, stream))
    if cursor.rowcount != 1:
        raise Conflict
    return end.id

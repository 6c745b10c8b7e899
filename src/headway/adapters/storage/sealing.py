"""Sealing: an event's bytes bound into the chain of their stream, and checked on the way back.

Every store seals and unseals here, so that no store can be laxer than another. What does not match
its proof is never handed on; the fault names the stream and the version.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, NamedTuple, NoReturn, TypeVar

from headway.adapters.storage.database import Row
from headway.domain.chain import GENESIS, HASH_BYTES, event_hash
from headway.domain.errors import SessionNotHealthy
from headway.domain.event_codec import decode, encode
from headway.domain.events import Event
from headway.domain.ids import StreamId
from headway.ports.custody import SealedEvent
from headway.ports.ledger import Recorded

VERSION_MAX = 2**63 - 1
E = TypeVar("E")


class Sealed(NamedTuple, Generic[E]):
    """An event as it is stored; `event` is what its bytes say."""

    version: int
    recorded_at: int
    prev_hash: bytes
    hash: bytes
    data: bytes
    event: E


class Head(NamedTuple):
    """The end of a stream."""

    version: int
    hash: bytes


EMPTY = Head(0, GENESIS)


def encode_all(events: Sequence[Event]) -> list[tuple[Event, bytes]]:
    """Return events with their bytes. Raises InvalidInput for one that would not come back."""
    assert events, "a write without events records nothing"
    return [(event, encode(event)) for event in events]


def seal(head: Head, encoded: Sequence[tuple[E, bytes]], now_ms: int) -> list[Sealed[E]]:
    """Return the events as they follow the head of their stream."""
    sealed = []
    prev_hash = head.hash
    for version, (event, data) in enumerate(encoded, head.version + 1):
        own = event_hash(prev_hash, version, now_ms, data)
        sealed.append(Sealed(version, now_ms, prev_hash, own, data, event))
        prev_hash = own
    return sealed


def recorded(stream: StreamId, sealed: Iterable[Sealed[Event]]) -> tuple[Recorded, ...]:
    """Return sealed events as the ledger hands them out."""
    return tuple(
        [
            Recorded(
                stream=stream,
                version=each.version,
                recorded_at=each.recorded_at,
                prev_hash=each.prev_hash,
                hash=each.hash,
                event=each.event,
            )
            for each in sealed
        ]
    )


def proven(stream: StreamId, row: Row, prev_hash: object) -> SealedEvent:
    """Return a row (version, time, hash, data), checked against its proof."""
    version, recorded_at, own, data = row
    if not _is_sound(version, recorded_at, own, data):
        refuse_altered(stream, version, "is damaged")
    if not isinstance(prev_hash, bytes) or len(prev_hash) != HASH_BYTES:
        refuse_altered(stream, version, "has no event before it")
    if event_hash(prev_hash, version, recorded_at, data) != own:
        refuse_altered(stream, version, "does not match its hash")
    return SealedEvent(version, recorded_at, own, data)


@contextmanager
def told_where(stream: StreamId, version: int) -> Iterator[None]:
    """Name the event in the fault of bytes that cannot be read."""
    try:
        yield
    except SessionNotHealthy as fault:
        raise SessionNotHealthy(
            f"Event {version} of {stream} cannot be read. {fault.message}",
            remedy=fault.remedy,
            details={**fault.details, "stream": stream, "version": version},
        ) from fault


def unseal(stream: StreamId, row: Row, prev_hash: object) -> Recorded:
    """Return the event of a row (version, time, hash, data), checked against its proof."""
    version, recorded_at, own, data = proven(stream, row, prev_hash)
    assert isinstance(prev_hash, bytes)
    with told_where(stream, version):
        event = decode(data)
    return Recorded(
        stream=stream,
        version=version,
        recorded_at=recorded_at,
        prev_hash=prev_hash,
        hash=own,
        event=event,
    )


def unseal_chain(stream: StreamId, rows: Iterable[Row], after: Head, end: Head) -> list[Recorded]:
    """Return the events of rows as they follow one another from `after` to `end`, all checked."""
    found: list[Recorded] = []
    for row, prev_hash in in_chain(stream, rows, after, end):
        found.append(unseal(stream, row, prev_hash))
    return found


def in_chain(
    stream: StreamId, rows: Iterable[Row], after: Head, end: Head
) -> Iterator[tuple[Row, bytes]]:
    """Yield rows with the hash before each, as they follow one another from `after` to `end`.

    Whoever takes a row checks it against that hash before taking the next.
    """
    at = after
    for row in rows:
        if row[0] != at.version + 1:
            refuse_missing(stream, at.version + 1)
        yield row, at.hash
        at = Head(row[0], row[2])
    if at.version < end.version:
        refuse_missing(stream, at.version + 1)
    if at != end:
        refuse_altered(stream, at.version, "is not the end its stream names")


def refuse_missing(stream: StreamId, version: int) -> NoReturn:
    """Raise the fault of an event that is not there."""
    refuse_altered(stream, version, "is missing")


def refuse_altered(stream: StreamId, version: object, problem: str) -> NoReturn:
    """Raise the fault of an event that is not what was recorded."""
    raise altered(stream, version, problem)


def altered(stream: StreamId, version: object, problem: str) -> SessionNotHealthy:
    """Return the fault of an event that is not what was recorded."""
    return SessionNotHealthy(
        f"Event {version} of {stream} {problem}.",
        remedy="Restore the store from a backup, or start a new session; "
        "other sessions are not affected.",
        details={"stream": stream, "version": version if isinstance(version, int) else None},
    )


def _is_sound(version: object, recorded_at: object, own: object, data: object) -> bool:
    return (
        isinstance(version, int)
        and 1 <= version <= VERSION_MAX
        and isinstance(recorded_at, int)
        and isinstance(own, bytes)
        and isinstance(data, bytes)
    )

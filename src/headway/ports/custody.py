"""Custody of whole streams: to look at what is stored as it is, and to move, mend or remove it.

`Records` reads past every cache and judges nothing, so that what is damaged can be named by whoever
reads. `Custody` changes a whole stream in one transaction: all of it, or nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from headway.domain.ids import Digest, RunId, SessionId, StreamId
from headway.domain.values import Value
from headway.ports.ledger import AttemptRow, Blob
from headway.ports.sessions import GateRow, SessionSummary


class StoredEvent(NamedTuple):
    """An event's row as a store returns it; a damaged one may hold anything."""

    version: object
    recorded_at: object
    hash: object
    data: object


class StoredTask(NamedTuple):
    """What a run's row in the queue says of its stream; a damaged one may hold anything."""

    state: object
    outcome: object
    fence: object
    tally: object  # as text, None before the run first rests or ends
    problem: str | None = None  # why the queue cannot read it


class SealedEvent(NamedTuple):
    """An event's row that was checked."""

    version: int
    recorded_at: int
    hash: bytes
    data: bytes


class Damaged(NamedTuple):
    """A row that cannot be read: its key, as the store returns it, and what is wrong."""

    nonce: object
    problem: str


class Standing(NamedTuple):
    """A stream's end and its projections, all of one moment. Rows that cannot be read are apart.

    `version` and `hash` are what the stream's row says, whatever that is.
    """

    version: object
    hash: object
    attempts: tuple[AttemptRow, ...]
    summary: SessionSummary | None
    damaged_attempts: tuple[Damaged, ...] = ()
    damaged_summary: str | None = None
    gates: tuple[GateRow, ...] = ()  # by version
    words: frozenset[str] = frozenset()  # that the session is found by


class Projections(Value):
    """The rows that stand beside a stream; summary and gates keep their own times.

    `dropped` are the keys of attempts that stand for nothing.
    """

    attempts: tuple[AttemptRow, ...]
    summary: SessionSummary | None
    gates: tuple[GateRow, ...] = ()
    words: frozenset[str] = frozenset()
    dropped: tuple[bytes, ...] = ()


class RunUnfinished(Exception):
    """A session cannot go while a run that drives it has not ended; `state` is that of its row."""

    def __init__(self, run: RunId, state: str) -> None:
        super().__init__(run)
        self.run = run
        self.state = state


class Tombstone(Value):
    """What stays of a purged session: that it was there, since when it is not, and why."""

    session: SessionId
    purged_at: int
    reason: str = ""


class Purged(Value):
    """How much a purge removed; `runs` with their events are those that drove the session."""

    events: int
    attempts: int
    blobs: int
    runs: int = 0


class Records(Protocol):
    """What is stored, as it is stored. Every method raises `StoreUnavailable`."""

    def streams(self) -> tuple[StreamId, ...]:
        """Return the names of all streams, in order."""

    def standing(self, stream: StreamId) -> Standing | None:
        """Return a stream's end and projections; None when there is no such stream."""

    def events(self, stream: StreamId, after: int, limit: int) -> Sequence[StoredEvent]:
        """Return at most `limit` events after a version, in order of version."""

    def task(self, run: RunId) -> StoredTask | None:
        """Return a run's row in the queue; None when there is no such row."""

    def blobs(self) -> tuple[Digest, ...]:
        """Return the names of all blobs."""

    def blob(self, digest: Digest) -> bytes | None:
        """Return the bytes stored under a name, whether they match it or not."""

    def strays(self) -> tuple[str, ...]:
        """Return, in words, what stands without a stream, and an index that does not serve."""


class Custody(Protocol):
    """Places, mends and removes whole streams. Every method raises `StoreUnavailable`."""

    def place(
        self,
        stream: StreamId,
        events: Sequence[SealedEvent],
        blobs: Sequence[Blob],
        projections: Projections,
    ) -> None:
        """Keep a whole stream with its proofs. Raises `Conflict` when one has or had that name."""

    def restate(self, stream: StreamId, version: int, projections: Projections) -> None:
        """Replace a stream's summary, gates, words and these attempts.

        Raises `Conflict` unless it is at the version.
        """

    def reindex(self) -> None:
        """Make what finds words anew from the words that are kept."""

    def purge(
        self, stream: StreamId, tombstone: Tombstone, run: RunId | None = None
    ) -> Purged | None:
        """Remove a stream, its projections, and the blobs that no other stream speaks of.

        With it goes the run named: its stream and its row. None when there is no such stream.
        Raises RunUnfinished, and removes nothing, when that run has not ended.
        """

    def tombstone(self, session: SessionId) -> Tombstone | None:
        """Return the tombstone of a session."""

    def tombstone_of(self, nonce: bytes) -> Tombstone | None:
        """Return the tombstone of the session that a purged attempt belonged to."""

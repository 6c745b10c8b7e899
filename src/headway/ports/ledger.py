"""The ledger: streams of events, blobs and attempts, written together or not at all."""

from collections.abc import Sequence
from typing import Protocol

from headway.domain.events import Event
from headway.domain.ids import AttemptId, Digest, NodeId, SessionId, StreamId
from headway.domain.values import Value
from headway.ports.leases import Lease
from headway.ports.sessions import GateRow, SessionSummary


class Conflict(Exception):
    """The stream is no longer at the expected version; load again and decide again."""


class Recorded(Value):
    """An event as it stands in its stream: version from 1, time in milliseconds since 1970 UTC.

    `hash` is SHA-256 over the version, kind, recorded time, `prev_hash` and stored bytes; the first
    event's `prev_hash` is 32 zero bytes. The recorded time is hashed, but never decided on.
    """

    stream: StreamId
    version: int
    recorded_at: int
    prev_hash: bytes
    hash: bytes
    event: Event


class AttemptRow(Value):
    """What a token stands for: one row per attempt, changed only in the transaction of an append.

    `nonce` is the 12 bytes its tokens share, `opened_at` the version of the event that opened the
    node, `blocks` the blocks in a row before this attempt; the `..._at` fields are the versions of
    the events that ended it, saved a checkpoint under it and recorded its checks.
    """

    nonce: bytes
    session: SessionId
    node: NodeId
    attempt: AttemptId
    opened_at: int
    blocks: int = 0
    outcome_at: int | None = None
    checkpoint_at: int | None = None
    checks_at: int | None = None


class Head(Value):
    """An attempt with the version its session's stream has reached.

    `remembered` tells that it was not read just now: the stream may have moved on since.
    """

    row: AttemptRow
    version: int
    remembered: bool = False


class Blob(Value):
    """Content-addressed bytes."""

    digest: Digest
    data: bytes


class Standing(Value):
    """The version of the event that says how a node stands from now on."""

    node: NodeId
    opened_at: int


class Write(Value):
    """One transaction: events after `expected_version`, and everything that must stand with them.

    `attempts` are inserted, or replace the row of the same nonce. `standings` are nodes whose
    standing this write changes: every attempt on them, known to the caller or not, is set to it.
    `gates` are opened, `decided` are the gates (the versions of their opening) that close. `words`,
    parted by blanks (see `domain.words`), are added to those the stream's session is found by.
    `lease` is the claim of the run that drives the session, where one does.
    """

    stream: StreamId
    expected_version: int
    events: tuple[Event, ...]
    blobs: tuple[Blob, ...] = ()
    attempts: tuple[AttemptRow, ...] = ()
    summary: SessionSummary | None = None
    standings: tuple[Standing, ...] = ()
    gates: tuple[GateRow, ...] = ()
    decided: tuple[int, ...] = ()
    words: str = ""
    lease: Lease | None = None


class Ledger(Protocol):
    """The durable log. Every method raises `StoreUnavailable` when the store cannot serve."""

    def append(self, write: Write) -> tuple[Recorded, ...]:
        """Commit the write durably and return its events as recorded.

        Raises `Conflict` when the stream has moved on, and `LeaseLost` when the lease it is made
        under is another worker's; then nothing of the write was kept.
        """

    def head(self, nonce: bytes, *, lately: bool = False) -> Head | None:
        """Return what a token's nonce stands for, or None when no such attempt was recorded.

        With `lately` an open attempt will do as it was when this process wrote it last. Whoever
        asks so may do one thing with the answer: append at its version, or else ask again.
        """

    def mint(self, row: AttemptRow) -> None:
        """Record a fresh attempt on a node, without an event; it may become a fork.

        Where the node's standing has changed since it was read, the attempt gets the new one.
        """

    def read(self, stream: StreamId, versions: Sequence[int]) -> tuple[Recorded, ...]:
        """Return the events of these versions, in order of version, their hashes checked.

        Raises `SessionNotHealthy` when one is missing, altered or of an unknown kind.
        """

    def scan(self, stream: StreamId, after: int = 0) -> tuple[Recorded, ...]:
        """Return all events after a version, in order, their chain checked from there."""

    def attempts_on(self, session: SessionId, node: NodeId) -> tuple[AttemptRow, ...]:
        """Return the attempts minted on a node, ended ones first by outcome version."""

    def blob(self, digest: Digest) -> bytes:
        """Return a blob's bytes, checked against its digest; `SessionNotHealthy` when absent."""

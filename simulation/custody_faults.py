"""Custody and records that fail on demand, by the same plan as the ledger (faults.py)."""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.application.naming import session_named
from headway.domain.event_codec import decode
from headway.domain.ids import Digest, RunId, SessionId, StreamId
from headway.ports.custody import (
    Custody,
    Projections,
    Purged,
    Records,
    SealedEvent,
    Standing,
    StoredEvent,
    StoredTask,
    Tombstone,
)
from headway.ports.ledger import Blob, Conflict
from simulation.faults import FaultyLedger, Violation


@dataclass(frozen=True)
class FaultyCustody:
    """Implements `ports.custody.Custody`; what it placed and purged stands in the ledger's log."""

    inner: Custody
    ledger: FaultyLedger

    def place(
        self,
        stream: StreamId,
        events: Sequence[SealedEvent],
        blobs: Sequence[Blob],
        projections: Projections,
    ) -> None:
        def work() -> None:
            self.inner.place(stream, events, blobs, projections)
            self.ledger.log[stream] = [decode(event.data) for event in events]
            self.ledger.calls[-1].landed += 1

        def again() -> None:
            try:
                self.inner.place(stream, events, blobs, projections)
            except Conflict:
                return
            raise Violation("the same stream was placed twice")

        self.ledger.troubled(work, again)

    def restate(self, stream: StreamId, version: int, projections: Projections) -> None:
        self.ledger.troubled(
            lambda: self.inner.restate(stream, version, projections),
            lambda: self.inner.restate(stream, version, projections),
        )

    def reindex(self) -> None:
        self.ledger.troubled(self.inner.reindex, self.inner.reindex)

    def purge(
        self, stream: StreamId, tombstone: Tombstone, run: RunId | None = None
    ) -> Purged | None:
        def work() -> Purged | None:
            purged = self.inner.purge(stream, tombstone, run)
            if purged is not None:
                if purged.events != len(self.ledger.log.pop(stream)):
                    raise Violation(f"{purged.events} events of {stream} were purged, not all")
                self.ledger.purged.add(session_named(stream))
                self.ledger.calls[-1].landed += 1
            return purged

        def again() -> None:
            if self.inner.purge(stream, tombstone) is not None:
                raise Violation("the same session was purged twice")

        return self.ledger.troubled(work, again)

    def tombstone(self, session: SessionId) -> Tombstone | None:
        return self.inner.tombstone(session)

    def tombstone_of(self, nonce: bytes) -> Tombstone | None:
        return self.inner.tombstone_of(nonce)


@dataclass(frozen=True)
class FaultyRecords:
    """Implements `ports.custody.Records`."""

    inner: Records
    ledger: FaultyLedger

    def streams(self) -> tuple[StreamId, ...]:
        self.ledger.before_read()
        return self.inner.streams()

    def standing(self, stream: StreamId) -> Standing | None:
        self.ledger.before_read()
        return self.inner.standing(stream)

    def events(self, stream: StreamId, after: int, limit: int) -> Sequence[StoredEvent]:
        self.ledger.before_read()
        return self.inner.events(stream, after, limit)

    def task(self, run: RunId) -> StoredTask | None:
        self.ledger.before_read()
        return self.inner.task(run)

    def blobs(self) -> tuple[Digest, ...]:
        self.ledger.before_read()
        return self.inner.blobs()

    def blob(self, digest: Digest) -> bytes | None:
        self.ledger.before_read()
        return self.inner.blob(digest)

    def strays(self) -> tuple[str, ...]:
        self.ledger.before_read()
        return self.inner.strays()

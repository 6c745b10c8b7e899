"""Custody of whole streams in memory: the same promises as on a database."""

from collections.abc import Sequence

import msgspec

from headway.adapters.storage.memory_kept import Kept
from headway.adapters.storage.rows import session_of, stream_of
from headway.adapters.storage.sealing import Sealed
from headway.domain.chain import GENESIS
from headway.domain.event_codec import decode
from headway.domain.history import mentions
from headway.domain.ids import Digest, RunId, SessionId, StreamId, run_stream
from headway.ports.custody import (
    Projections,
    Purged,
    RunUnfinished,
    SealedEvent,
    Standing,
    StoredEvent,
    StoredTask,
    Tombstone,
)
from headway.ports.ledger import Blob, Conflict
from headway.ports.sessions import GateRow


class MemoryRecords:
    """Implements `ports.custody.Records`."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def streams(self) -> tuple[StreamId, ...]:
        """Return the names of all streams, in order."""
        with self._kept.lock:
            return tuple(sorted(name for name, events in self._kept.streams.items() if events))

    def standing(self, stream: StreamId) -> Standing | None:
        """Return a stream's end and projections; None when there is no such stream."""
        with self._kept.lock:
            events = self._kept.streams.get(stream)
            if not events:
                return None
            return Standing(
                version=events[-1].version,
                hash=events[-1].hash,
                attempts=tuple(
                    row for row in self._kept.attempts.values() if stream_of(row) == stream
                ),
                summary=self._kept.summaries.get(_session(stream)),
                gates=_gates(self._kept, _session(stream)),
                words=self._kept.words.get(stream, frozenset()),
            )

    def events(self, stream: StreamId, after: int, limit: int) -> Sequence[StoredEvent]:
        """Return at most `limit` events after a version, in order of version."""
        with self._kept.lock:
            events = self._kept.streams.get(stream, [])[after : after + limit]
        return [
            StoredEvent(each.version, each.recorded_at, each.hash, each.data) for each in events
        ]

    def task(self, run: RunId) -> StoredTask | None:
        """Return a run's row in the queue; None when there is no such row."""
        with self._kept.lock:
            row = self._kept.tasks.get(run)
            if row is None:
                return None
            tally = None if row.tally is None else msgspec.json.encode(row.tally).decode()
            return StoredTask(row.state, row.outcome, row.fence, tally)

    def blobs(self) -> tuple[Digest, ...]:
        """Return the names of all blobs."""
        with self._kept.lock:
            return tuple(self._kept.blobs)

    def blob(self, digest: Digest) -> bytes | None:
        """Return the bytes stored under a name, whether they match it or not."""
        with self._kept.lock:
            return self._kept.blobs.get(digest)

    def strays(self) -> tuple[str, ...]:
        """Return, in words, what stands without a stream: here nothing can."""
        return ()


class MemoryCustody:
    """Implements `ports.custody.Custody`."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def place(
        self,
        stream: StreamId,
        events: Sequence[SealedEvent],
        blobs: Sequence[Blob],
        projections: Projections,
    ) -> None:
        """Keep a whole stream with its proofs. Raises Conflict when one has or had that name."""
        sealed = []
        prev_hash = GENESIS
        for version, recorded_at, own, data in events:
            sealed.append(Sealed(version, recorded_at, prev_hash, own, data, decode(data)))
            prev_hash = own
        kept = self._kept
        with kept.lock:
            if kept.streams.get(stream) or _session(stream) in kept.tombstones:
                raise Conflict
            kept.streams[stream] = [*sealed]
            for blob in blobs:
                kept.blobs.setdefault(blob.digest, blob.data)
            self._project(stream, projections)

    def restate(self, stream: StreamId, version: int, projections: Projections) -> None:
        """Replace a stream's summary, words and these attempts. Conflict unless at the version."""
        with self._kept.lock:
            if len(self._kept.streams.get(stream, [])) != version:
                raise Conflict
            self._project(stream, projections)

    def reindex(self) -> None:
        """Do nothing: the words themselves are searched."""

    def purge(
        self, stream: StreamId, tombstone: Tombstone, run: RunId | None = None
    ) -> Purged | None:
        """Remove a stream, its projections, its run, and the blobs that no other speaks of."""
        kept = self._kept
        with kept.lock:
            task = None if run is None else kept.tasks.get(run)
            if task is not None and task.state != "ended":
                raise RunUnfinished(task.run, task.state)
            events = kept.streams.pop(stream, None)
            if not events:
                return None
            talk = [] if run is None else kept.streams.pop(run_stream(run), [])
            if task is not None:
                del kept.tasks[task.run]
            events = [*events, *talk]
            named = {name for each in events for name in mentions(each.data)}
            for others in kept.streams.values():
                for each in others:
                    named -= mentions(each.data)
            lone = [name for name in kept.blobs if name in named]
            for name in lone:
                del kept.blobs[name]
            nonces = [nonce for nonce, row in kept.attempts.items() if stream_of(row) == stream]
            for nonce in nonces:
                del kept.attempts[nonce]
                kept.buried[nonce] = tombstone.session
            _drop_gates(kept, _session(stream))
            kept.summaries.pop(_session(stream), None)
            kept.words.pop(stream, None)
            kept.tombstones[tombstone.session] = tombstone
        return Purged(
            events=len(events), attempts=len(nonces), blobs=len(lone), runs=int(bool(talk))
        )

    def tombstone(self, session: SessionId) -> Tombstone | None:
        """Return the tombstone of a session."""
        with self._kept.lock:
            return self._kept.tombstones.get(session)

    def tombstone_of(self, nonce: bytes) -> Tombstone | None:
        """Return the tombstone of the session that a purged attempt belonged to."""
        with self._kept.lock:
            session = self._kept.buried.get(nonce)
            return None if session is None else self._kept.tombstones[session]

    def _project(self, stream: StreamId, projections: Projections) -> None:
        for nonce in projections.dropped:
            self._kept.attempts.pop(nonce, None)
        self._kept.attempts.update({row.nonce: row for row in projections.attempts})
        _drop_gates(self._kept, _session(stream))
        self._kept.gates.update({(gate.session, gate.version): gate for gate in projections.gates})
        self._kept.summaries.pop(_session(stream), None)
        self._kept.words[stream] = projections.words
        if projections.summary is not None:
            self._kept.summaries[_session(stream)] = projections.summary


def _session(stream: StreamId) -> SessionId:
    return SessionId(str(session_of(stream)))


def _drop_gates(kept: Kept, session: SessionId) -> None:
    for key in [key for key in kept.gates if key[0] == session]:
        del kept.gates[key]


def _gates(kept: Kept, session: SessionId) -> tuple[GateRow, ...]:
    return tuple(gate for key, gate in sorted(kept.gates.items()) if key[0] == session)

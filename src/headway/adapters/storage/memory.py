"""The store in memory: gone when closed. For tests and for runs that want no trace.

It keeps the same promises as a database, by the same means: events are stored as bytes, sealed into
their chain and checked on every read; one lock makes each call whole.
"""

import threading
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from headway.adapters.storage.bells import RungBell
from headway.adapters.storage.keyring import KEY_BYTES
from headway.adapters.storage.ledger import checked_blob
from headway.adapters.storage.memory_custody import MemoryCustody, MemoryRecords
from headway.adapters.storage.memory_kept import Kept
from headway.adapters.storage.memory_queue import MemoryQueue
from headway.adapters.storage.rows import stream_of
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
from headway.adapters.storage.sources import check_path
from headway.adapters.storage.store import Store
from headway.domain.events import Event
from headway.domain.ids import (
    Digest,
    NodeId,
    SessionId,
    StreamId,
    digest,
    encode_id,
    session_stream,
)
from headway.domain.runs.events import RunEvent
from headway.domain.words import Asked, asked_in, holds, words_in
from headway.ports.clock import Clock, Entropy
from headway.ports.keyring import Keys
from headway.ports.ledger import AttemptRow, Conflict, Recorded, Write
from headway.ports.ledger import Head as AttemptHead
from headway.ports.listing import Listing
from headway.ports.sessions import GateRow, SessionQuery, SessionSummary
from headway.ports.sources import GitSource

# What a later summary of the same session may change; the rest is what it began with.
PROGRESS: Final = ("status", "step_id", "step_title", "nonce", "depth", "recap")


def open_memory(clock: Clock, entropy: Entropy) -> Store:
    """Return a new, empty store."""
    kept = Kept()
    return Store(
        ledger_id=encode_id("ledger", entropy.draw(16)),
        ledger=MemoryLedger(kept, clock),
        sessions=MemorySessions(kept),
        keyring=MemoryKeyring(entropy),
        sources=MemorySources(),
        records=MemoryRecords(kept),
        custody=MemoryCustody(kept),
        queue=MemoryQueue(kept, clock),
        bell=lambda: RungBell(kept.bells),
        close=lambda: None,
    )


class MemoryLedger:
    """Implements `ports.ledger.Ledger`."""

    def __init__(self, kept: Kept, clock: Clock) -> None:
        self._kept = kept
        self._clock = clock

    def append(self, write: Write) -> tuple[Recorded, ...]:
        """Keep the write and return its events as recorded."""
        encoded = encode_all(write.events)
        assert all(digest(blob.data) == blob.digest for blob in write.blobs)
        assert all(stream_of(row) == write.stream for row in write.attempts)
        kept = self._kept
        with kept.lock:
            events = kept.streams.setdefault(write.stream, [])
            head = Head(len(events), events[-1].hash) if events else EMPTY
            if write.lease is not None:
                kept.hold_claimed(write.lease)
            if head.version != write.expected_version:
                raise Conflict
            sealed = seal(head, encoded, self._clock.now_ms())
            events.extend(sealed)
            for blob in write.blobs:
                kept.blobs.setdefault(blob.digest, blob.data)
            for row in write.attempts:
                old = kept.attempts.get(row.nonce, row)
                kept.attempts[row.nonce] = replace(row, node=old.node, attempt=old.attempt)
            self._move_standings(write)
            self._keep_gates(write, sealed[-1].recorded_at)
            if words := words_in(write.words):
                before = kept.words.get(write.stream, frozenset())
                kept.words[write.stream] = before | words
            if write.summary is not None:
                self._keep_summary(write.summary, sealed[-1].recorded_at)
        return recorded(write.stream, sealed)

    def head(self, nonce: bytes, *, lately: bool = False) -> AttemptHead | None:  # noqa: ARG002  nothing to spare
        """Return what a token's nonce stands for, or None when no such attempt was recorded."""
        with self._kept.lock:
            row = self._kept.attempts.get(nonce)
            if row is None:
                return None
            return AttemptHead(row=row, version=len(self._kept.streams[stream_of(row)]))

    def mint(self, row: AttemptRow) -> None:
        """Record a fresh attempt on a node, without an event."""
        with self._kept.lock:
            if not self._kept.streams.get(stream_of(row)):
                refuse_missing(stream_of(row), row.opened_at)
            there = self._on(row.session, row.node)
            standing = max((row.opened_at, *(each.opened_at for each in there)))
            self._kept.attempts.setdefault(row.nonce, replace(row, opened_at=standing))

    def read(self, stream: StreamId, versions: Sequence[int]) -> tuple[Recorded, ...]:
        """Return the events of these versions, in order of version, their hashes checked."""
        with self._kept.lock:
            events = self._kept.streams.get(stream, [])
            length = len(events)
        found = []
        for version in sorted(set(versions)):
            if not 1 <= version <= length:
                refuse_missing(stream, version)
            found.append(_unsealed(stream, events[version - 1]))
        return tuple(found)

    def scan(self, stream: StreamId, after: int = 0) -> tuple[Recorded, ...]:
        """Return all events after a version, in order, their chain checked from there."""
        with self._kept.lock:
            events = list(self._kept.streams.get(stream, []))
        if after >= len(events):
            return ()
        rows = [(each.version, each.recorded_at, each.hash, each.data) for each in events[after:]]
        start = Head(after, events[after - 1].hash) if after else EMPTY
        return tuple(unseal_chain(stream, rows, start, Head(len(events), events[-1].hash)))

    def attempts_on(self, session: SessionId, node: NodeId) -> tuple[AttemptRow, ...]:
        """Return the attempts minted on a node, ended ones first by outcome version."""
        with self._kept.lock:
            rows = self._on(session, node)
        return tuple(
            sorted(rows, key=lambda row: (row.outcome_at is None, row.outcome_at or 0, row.nonce))
        )

    def blob(self, digest: Digest) -> bytes:
        """Return a blob's bytes, checked against its digest."""
        with self._kept.lock:
            data = self._kept.blobs.get(digest)
        return checked_blob(digest, data)

    def _on(self, session: SessionId, node: NodeId) -> list[AttemptRow]:
        rows = self._kept.attempts.values()
        return [row for row in rows if row.session == session and row.node == node]

    def _move_standings(self, write: Write) -> None:
        for standing in write.standings:
            for row in list(self._kept.attempts.values()):
                if stream_of(row) == write.stream and row.node == standing.node:
                    moved = replace(row, opened_at=standing.opened_at)
                    self._kept.attempts[row.nonce] = moved

    def _keep_gates(self, write: Write, now_ms: int) -> None:
        for gate in write.gates:
            self._kept.gates[gate.session, gate.version] = replace(gate, recorded_at=now_ms)
        for session, version in list(self._kept.gates):
            if session_stream(session) == write.stream and version in write.decided:
                del self._kept.gates[session, version]

    def _keep_summary(self, summary: SessionSummary, now_ms: int) -> None:
        old = self._kept.summaries.get(summary.session)
        if old is None:
            kept = replace(summary, started_at=now_ms, updated_at=now_ms)
        else:
            progress = {name: getattr(summary, name) for name in PROGRESS}
            kept = replace(old, **progress, updated_at=now_ms)
        self._kept.summaries[summary.session] = kept


class MemorySessions:
    """Implements `ports.sessions.Sessions`."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def summary(self, session: SessionId) -> SessionSummary | None:
        """Return a session's summary."""
        with self._kept.lock:
            return self._kept.summaries.get(session)

    def find(self, query: SessionQuery) -> Listing[SessionSummary]:
        """Return the sessions that match every given field, the last updated first."""
        assert query.limit >= 0
        with self._kept.lock:
            summaries = list(self._kept.summaries.values())
            words = dict(self._kept.words)
        found = [summary for summary in summaries if _matches(query, summary)]
        if query.text.strip():
            asked = asked_in(query.text)
            found = [each for each in found if asked and _holds(words, each.session, asked)]
        found.sort(key=lambda summary: (-summary.updated_at, summary.session))
        return Listing(tuple(found[: query.limit]))

    def gates(self, limit: int) -> Listing[GateRow]:
        """Return the gates that wait, the one that waits longest first."""
        with self._kept.lock:
            gates = list(self._kept.gates.values())
        gates.sort(key=lambda gate: (gate.recorded_at, gate.session, gate.version))
        return Listing(tuple(gates[:limit]))


class MemoryKeyring:
    """Implements `ports.keyring.Keyring`."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._lock = threading.Lock()
        self._keys: Keys | None = None

    def keys(self) -> Keys:
        """Return the live keys; the first call draws the first key."""
        with self._lock:
            if self._keys is None:
                self._keys = Keys(current=self._entropy.draw(KEY_BYTES))
            return self._keys

    def lately(self) -> Keys:
        """Return the live keys."""
        return self.keys()

    def rotate(self) -> Keys:
        """Draw a new current key and keep the old one as previous."""
        with self._lock:
            previous = None if self._keys is None else self._keys.current
            self._keys = Keys(current=self._entropy.draw(KEY_BYTES), previous=previous)
            return self._keys


class MemorySources:
    """Implements `ports.sources.Sources`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: dict[str, None] = {}  # in the order of attaching
        self._git: dict[str, GitSource] = {}

    def attached(self) -> Listing[str]:
        """Return the attached folders."""
        with self._lock:
            return Listing(tuple(self._paths))

    def attach(self, path: str) -> None:
        """Attach a folder; attaching it twice changes nothing. Raises InvalidInput."""
        check_path(path)
        with self._lock:
            self._paths.setdefault(path)

    def detach(self, path: str) -> None:
        """Detach a folder; detaching an unknown one changes nothing. Raises InvalidInput."""
        check_path(path)
        with self._lock:
            self._paths.pop(path, None)

    def git_sources(self) -> Listing[GitSource]:
        """Return the git repositories."""
        with self._lock:
            return Listing(tuple(self._git.values()))

    def pin(self, source: GitSource) -> None:
        """Keep a repository, in the place of one with its id."""
        check_path(source.url)
        with self._lock:
            self._git[source.id] = source

    def drop(self, source_id: str) -> None:
        """Forget a repository; forgetting an unknown one changes nothing."""
        with self._lock:
            self._git.pop(source_id, None)


def _unsealed(stream: StreamId, sealed: Sealed[Event] | Sealed[RunEvent]) -> Recorded:
    row = (sealed.version, sealed.recorded_at, sealed.hash, sealed.data)
    return unseal(stream, row, sealed.prev_hash)


def _matches(query: SessionQuery, summary: SessionSummary) -> bool:
    narrowed = (
        (query.session, summary.session),
        (query.branch, summary.branch),
        (query.git_head, summary.git_head),
        (query.workspace, summary.workspace),
        (query.repository, summary.repository),
    )
    if any(wanted is not None and wanted != own for wanted, own in narrowed):
        return False
    return not query.statuses or summary.status in query.statuses


def _holds(
    words: dict[StreamId, frozenset[str]], session: SessionId, asked: frozenset[Asked]
) -> bool:
    own = words.get(session_stream(session), frozenset())
    return all(holds(own, each) for each in asked)

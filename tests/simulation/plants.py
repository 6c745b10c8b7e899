"""Ledgers with a fault planted in them, for the simulation to find."""

from collections.abc import Sequence

from msgspec.structs import replace

from headway.domain.ids import Digest, NodeId, SessionId, StreamId
from headway.ports.ledger import AttemptRow, Head, Ledger, Recorded, Write


class Through:
    """Implements `ports.ledger.Ledger` by handing everything on."""

    def __init__(self, inner: Ledger) -> None:
        self.inner = inner
        self.count = 0

    def append(self, write: Write) -> tuple[Recorded, ...]:
        return self.inner.append(write)

    def head(self, nonce: bytes, *, lately: bool = False) -> Head | None:
        return self.inner.head(nonce, lately=lately)

    def mint(self, row: AttemptRow) -> None:
        self.inner.mint(row)

    def read(self, stream: StreamId, versions: Sequence[int]) -> tuple[Recorded, ...]:
        return self.inner.read(stream, versions)

    def scan(self, stream: StreamId, after: int = 0) -> tuple[Recorded, ...]:
        return self.inner.scan(stream, after)

    def attempts_on(self, session: SessionId, node: NodeId) -> tuple[AttemptRow, ...]:
        return self.inner.attempts_on(session, node)

    def blob(self, digest: Digest) -> bytes:
        return self.inner.blob(digest)

    def nth(self, times: int) -> bool:
        self.count += 1
        return self.count % times == 0


class Loses(Through):
    """Acknowledges every third append of a session that exists, and does not keep it."""

    def append(self, write: Write) -> tuple[Recorded, ...]:
        if write.expected_version and self.nth(3):
            return ()
        return super().append(write)


class Forgets(Through):
    """Says of every third ended attempt that it is open, so that a retry is decided afresh."""

    def head(self, nonce: bytes, *, lately: bool = False) -> Head | None:
        found = super().head(nonce, lately=lately)
        if found and found.row.outcome_at and self.nth(3):
            return replace(found, row=replace(found.row, outcome_at=None))
        return found


class Doubles(Through):
    """Takes every third write for one at the version the stream is at now."""

    def append(self, write: Write) -> tuple[Recorded, ...]:
        if write.expected_version and self.nth(3):
            version = len(self.inner.scan(write.stream))
            return super().append(replace(write, expected_version=version))
        return super().append(write)


class Mixes(Through):
    """Keeps the summary of every third write back."""

    def append(self, write: Write) -> tuple[Recorded, ...]:
        if write.expected_version and self.nth(3):
            write = replace(write, summary=None)
        return super().append(write)

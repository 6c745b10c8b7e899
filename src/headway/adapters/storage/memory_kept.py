"""What the store in memory holds, and the lock that makes each call on it whole."""

import threading
from dataclasses import dataclass, field

from headway.adapters.storage.sealing import Sealed
from headway.domain.events import Event
from headway.domain.ids import Digest, RunId, SessionId, StreamId
from headway.domain.runs.events import RunEvent
from headway.ports.custody import Tombstone
from headway.ports.leases import Lease
from headway.ports.ledger import AttemptRow
from headway.ports.queue import LeaseLost, Task
from headway.ports.sessions import GateRow, SessionSummary


@dataclass(slots=True)
class Kept:
    """What the ports of one store in memory share."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    streams: dict[StreamId, list[Sealed[Event] | Sealed[RunEvent]]] = field(default_factory=dict)
    attempts: dict[bytes, AttemptRow] = field(default_factory=dict)
    blobs: dict[Digest, bytes] = field(default_factory=dict)
    summaries: dict[SessionId, SessionSummary] = field(default_factory=dict)
    words: dict[StreamId, frozenset[str]] = field(default_factory=dict)
    gates: dict[tuple[SessionId, int], GateRow] = field(default_factory=dict)
    tombstones: dict[SessionId, Tombstone] = field(default_factory=dict)
    buried: dict[bytes, SessionId] = field(default_factory=dict)
    tasks: dict[RunId, Task] = field(default_factory=dict)
    bells: list[threading.Event] = field(default_factory=list)

    def hold_claimed(self, lease: Lease) -> Task:
        """Return the row of a run that is claimed with this fence. Raises LeaseLost."""
        task = self.tasks.get(lease.run)
        if task is None or task.fence != lease.fence or task.state != "claimed":
            raise LeaseLost
        return task

    def ring(self) -> None:
        """Tell whoever waits for a run to claim."""
        for bell in self.bells:
            bell.set()

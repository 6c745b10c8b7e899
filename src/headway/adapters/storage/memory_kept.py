"""What the store in memory holds, and the lock that makes each call on it whole."""

import threading
from dataclasses import dataclass, field

from headway.adapters.storage.sealing import Sealed
from headway.domain.events import Event
from headway.domain.ids import Digest, RunId, SessionId, StreamId
from headway.domain.runs.events import RunEvent
from headway.ports.custody import Tombstone
from headway.ports.ledger import AttemptRow
from headway.ports.queue import Task
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

"""A simulated process: an engine on a disk behind a faulty ledger, and the calls made to it.

A process dies and is followed by another on the same disk; what it held in memory is gone. Every
call goes through `call`, which draws what is to go wrong during it and judges what came of it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from headway.adapters.storage.store import Store
from headway.application.engine import Engine
from headway.domain.errors import Code, Fault, StoreUnavailable
from headway.domain.events import GateMode
from headway.domain.ids import SessionId
from headway.ports.catalogue import Entry
from headway.ports.ledger import Ledger
from simulation.choices import TROUBLE, Choices
from simulation.custody_faults import FaultyCustody, FaultyRecords
from simulation.disks import Disk, MemoryDisk
from simulation.faults import Call, FaultyLedger, Trouble, Violation
from simulation.shrinking import TRIES_MAX
from simulation.surroundings import CountingEntropy, DrawnCatalogue, JumpingClock, PlainWorkspace

T = TypeVar("T")
Plant = Callable[[Ledger], Ledger]  # puts a fault of our own between the store and everyone

READS_MAX: Final = 5
TIMES_MAX: Final = 3
_DUE: Final[tuple[Trouble, ...]] = (
    *(("none",) * 40),
    *(("overtaken",) * 4),
    *(("followed",) * 2),
    *(("interrupted",) * 2),
    "unreadable",
    "refused",
    "unanswered",
    "unanswered",
    "doubled",
    "delayed",
    "cut_down",
    "dies",
)


def unplanted(ledger: Ledger) -> Ledger:
    return ledger


@dataclass(frozen=True, slots=True)
class Setting:
    """What a world is made of, apart from its choices."""

    disk: Callable[[], Disk] = MemoryDisk
    plant: Plant = unplanted
    tries_max: int = TRIES_MAX  # how long to look for the shortest history


@dataclass
class Process:
    """The engine of the day, and what outlives it."""

    choices: Choices
    disk: Disk
    plant: Plant
    entries: tuple[Entry, ...]
    gates: GateMode
    cut_in: Callable[[], None]
    clock: JumpingClock = field(default_factory=JumpingClock)
    entropy: CountingEntropy = field(default_factory=CountingEntropy)
    counts: Counter[str] = field(default_factory=Counter)
    calm: bool = False  # nothing goes wrong any more

    def __post_init__(self) -> None:
        self._planted: tuple[Ledger, Ledger] | None = None
        self._due: tuple[Trouble, ...] = (*_DUE, *self.disk.breaks)
        store = self.disk.open(self.clock, self.entropy)
        self.ledger = FaultyLedger(self._with_plant(store.ledger), self.cut_in, self.disk.breaking)
        self.engine = self._engine(store)

    def restart(self) -> None:
        """Begin a new process on what the one before it left."""
        store = self.disk.open(self.clock, self.entropy)
        self.ledger = replace(self.ledger, inner=self._with_plant(store.ledger), calls=[Call()])
        self.engine = self._engine(store)
        self.counts["restarts"] += 1

    def events(self) -> int:
        """Return how much was simulated: calls, faults, jumps of the clock and restarts."""
        return self.counts.total() + self.ledger.injected.total()

    def call(
        self,
        allowed: frozenset[Code],
        verb: Callable[[Engine], T],
        about: SessionId | None = None,
    ) -> T | Fault:
        """Make a call and return its answer, or a fault it may meet. Raises Violation for others.

        `about` is the session that is asked for: once it is purged, the answer says so. Raises
        ProcessDied when the process dies during it.
        """
        purged = self.ledger.purged
        gone = about in purged
        call = self._troubled()
        self.counts["calls"] += 1
        self.ledger.calls.append(call)
        try:
            answer = verb(self.engine)
        except StoreUnavailable as fault:
            if not call.hurt:
                raise Violation(f"the store was well and was told to be ill: {fault}") from fault
            return fault
        except Fault as fault:
            if about in purged and "was purged" in fault.message:
                return fault
            if gone and fault.code != Code.VALIDATION_ERROR:
                raise Violation(f"session {about} was purged, and a call got {fault}") from fault
            if fault.code not in allowed:
                raise Violation(f"the call got {fault.code}: {fault}") from fault
            if call.landed:
                raise Violation(f"refused with {fault.code}, and yet recorded") from fault
            return fault
        finally:
            self.ledger.calls.pop()
        if gone:
            raise Violation(f"session {about} was purged, and a call to it was answered")
        return answer

    def _troubled(self) -> Call:
        if self.calm:
            return Call()
        with self.choices.span(TROUBLE):
            trouble = self.choices.of(self._due)
            times = 1 + self.choices.below(TIMES_MAX) if trouble == "overtaken" else 1
            reads = 0
            if trouble in ("interrupted", "unreadable"):
                reads = self.choices.below(READS_MAX)
        return Call(trouble=trouble, times=times, reads=reads)

    def _with_plant(self, ledger: Ledger) -> Ledger:
        """Return the ledger with our own fault before it; it outlives the process with its disk."""
        if self._planted is None or self._planted[0] is not ledger:
            self._planted = (ledger, self.plant(ledger))
        return self._planted[1]

    def _engine(self, store: Store) -> Engine:
        return Engine(
            ledger=self.ledger,
            sessions=store.sessions,
            keyring=store.keyring,
            sources=store.sources,
            records=FaultyRecords(store.records, self.ledger),
            custody=FaultyCustody(store.custody, self.ledger),
            catalogue=DrawnCatalogue(self.entries),
            workspace=PlainWorkspace(),
            clock=self.clock,
            entropy=self.entropy,
            gates=self.gates,
        )

"""A ledger that fails on demand: refuses, tears, doubles, delays, dies, and lets others cut in.

It stands before a real ledger and is told, call by call, what is to go wrong and when. It keeps a
log of its own of every write that landed, against which the streams are checked later.

| trouble     | what happens                                                                       |
|-------------|------------------------------------------------------------------------------------|
| overtaken   | other callers' whole calls run before the append, so it meets a moved stream     |
| followed    | other callers' whole calls run between the append and its answer                   |
| interrupted | the same before a read                                                             |
| unreadable  | a read is refused                                                                  |
| refused     | the append is refused                                                              |
| unanswered  | the append lands, and its answer is lost                                           |
| doubled     | the append is offered twice, and must be taken once                                |
| delayed     | the append is refused, and lands later if the stream has not moved                 |
| cut_down    | the process dies before the append, in it, with nothing kept                       |
| dies        | the process dies after the append                                                  |

A line to a server also breaks (disks.py), and the store is to make up for that by itself: the call
must not notice.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeAlias, TypeVar

from headway.domain.errors import StoreUnavailable
from headway.domain.events import Event
from headway.domain.ids import Digest, NodeId, SessionId, StreamId
from headway.ports.ledger import AttemptRow, Conflict, Head, Ledger, Recorded, Write
from simulation.disks import LINE_BREAKS, Break

T = TypeVar("T")

Trouble: TypeAlias = Literal[
    "none", "overtaken", "followed", "interrupted", "unreadable", "refused", "unanswered",
    "doubled", "delayed", "cut_down", "dies",
] | Break  # fmt: skip


class ProcessDied(Exception):
    """The simulated process is gone, with everything it had not written."""


class Violation(Exception):
    """A promise of the engine was broken."""


@dataclass(slots=True)
class Call:
    """A verb at work: what is to trouble it, and what became of its writes."""

    trouble: Trouble = "none"
    times: int = 1
    reads: int = 0  # how many reads to let pass first
    hurt: bool = False  # a refusal was handed to it
    landed: int = 0


@dataclass
class FaultyLedger:
    """Implements `ports.ledger.Ledger`; `cut_in` runs other callers' calls."""

    inner: Ledger
    cut_in: Callable[[], None]
    breaking: Callable[[Break], AbstractContextManager[None]]
    log: dict[StreamId, list[Event]] = field(default_factory=dict)
    minted: list[AttemptRow] = field(default_factory=list)
    injected: Counter[str] = field(default_factory=Counter)
    delayed: list[Write] = field(default_factory=list)
    calls: list[Call] = field(default_factory=lambda: [Call()])  # the last is at work
    purged: set[SessionId] = field(default_factory=set)
    no_space_for: int = 0  # writes yet to be refused

    def append(self, write: Write) -> tuple[Recorded, ...]:
        return self.troubled(
            lambda: self._keep(write), lambda: self._offer_again(write), late=write
        )

    def head(self, nonce: bytes, *, lately: bool = False) -> Head | None:
        self.before_read()
        return self.inner.head(nonce, lately=lately)

    def mint(self, row: AttemptRow) -> None:
        self.troubled(lambda: self._mint(row), lambda: self.inner.mint(row))

    def read(self, stream: StreamId, versions: Sequence[int]) -> tuple[Recorded, ...]:
        self.before_read()
        return self.inner.read(stream, versions)

    def scan(self, stream: StreamId, after: int = 0) -> tuple[Recorded, ...]:
        self.before_read()
        return self.inner.scan(stream, after)

    def attempts_on(self, session: SessionId, node: NodeId) -> tuple[AttemptRow, ...]:
        self.before_read()
        return self.inner.attempts_on(session, node)

    def blob(self, digest: Digest) -> bytes:
        return self.inner.blob(digest)

    def land_delayed(self) -> bool:
        """Let the oldest delayed write arrive; tell whether it landed."""
        write = self.delayed.pop(0)
        try:
            self.inner.append(write)
        except Conflict:
            return False
        self._landed(write)
        return True

    def troubled(
        self, work: Callable[[], T], again: Callable[[], None], late: Write | None = None
    ) -> T:
        """Do a write, with what is to go wrong with it; `again` offers it a second time."""
        call = self.calls[-1]
        self._check_space(call)
        trouble = self._taken(call, append=True)
        match trouble:
            case "overtaken":
                self.cut_in()
            case "refused":
                self._refuse(call)
            case "delayed":
                if late is not None:
                    self.delayed.append(late)
                self._refuse(call)
            case "cut_down":
                raise ProcessDied
            case _:
                pass
        result = self._do(trouble, work)
        match trouble:
            case "followed":
                self.cut_in()
            case "unanswered":
                self._refuse(call)
            case "doubled":
                again()
            case "dies":
                raise ProcessDied
            case _:
                pass
        return result

    def _do(self, trouble: Trouble, work: Callable[[], T]) -> T:
        if trouble in LINE_BREAKS:
            with self.breaking(trouble):
                return work()
        return work()

    def before_read(self) -> None:
        """Do what is to happen before a read."""
        call = self.calls[-1]
        if call.trouble not in ("interrupted", "unreadable"):
            return
        if call.reads:
            call.reads -= 1
            return
        if self._taken(call, append=False) == "interrupted":
            self.cut_in()
        else:
            self._refuse(call)

    def _taken(self, call: Call, *, append: bool) -> Trouble:
        """Return the trouble that is due now; each comes as often as the call was told."""
        trouble = call.trouble
        if trouble == "none" or append == (trouble in ("interrupted", "unreadable")):
            return "none"
        call.times -= 1
        if call.times <= 0:
            call.trouble = "none"
        self.injected[trouble] += 1
        return trouble

    def _check_space(self, call: Call) -> None:
        if self.no_space_for:
            self.no_space_for -= 1
            self.injected["no space"] += 1
            self._refuse(call)

    def _refuse(self, call: Call) -> NoReturn:
        call.hurt = True
        raise StoreUnavailable("The simulated store cannot serve.", remedy="Try again.")

    def _keep(self, write: Write) -> tuple[Recorded, ...]:
        recorded = self.inner.append(write)
        self._landed(write)
        self.calls[-1].landed += 1
        return recorded

    def _mint(self, row: AttemptRow) -> None:
        self.inner.mint(row)
        self.minted.append(row)

    def _offer_again(self, write: Write) -> None:
        try:
            self.inner.append(write)
        except Conflict:
            return
        raise Violation("the same write was taken twice")

    def _landed(self, write: Write) -> None:
        self.log.setdefault(write.stream, []).extend(write.events)

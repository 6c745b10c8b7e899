"""The journal: the only bridge from the loop to the record, one thread hop for each write."""

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Final, TypeAlias

import anyio
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync

from headway.application.end_run import end_run, rest_run
from headway.application.heartbeat_run import heartbeat_run
from headway.application.record_turn import record_turn, refresh_run
from headway.application.runs import Held, Runs
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEnded, RunEvent
from headway.domain.runs.messages import ToolCall
from headway.domain.runs.outcomes import Outcome
from headway.ports.ledger import Blob

HEARTBEATS_AT_ONCE: Final = 8
_THREADS: Final = RunVar[CapacityLimiter]("headway_heartbeat_threads")

# Is told each event after it was recorded, with the conversation as it is then, and with the tool
# call that it came of, if any: what the events themselves say of that is a digest.
Teller: TypeAlias = Callable[[Conversation, RunEvent, ToolCall | None], None]


class Journal:
    """A run that is held, its conversation, and the way to add to it.

    Every method raises LeaseLost when another worker has the run, and Fault. What `record` and
    `refresh` return to has the lease: a process that was stopped for longer than it lasts learns
    here, before it has any effect, whether it still holds the run.
    """

    def __init__(self, runs: Runs, held: Held, tell: Teller) -> None:
        self.runs = runs
        self._held = held
        self._tell = tell
        self._turn = anyio.Lock()  # the loop writes while the watch reads
        self._stands_until = -inf  # by the clock of the event loop, which goes on while we stop

    @property
    def held(self) -> Held:
        """Return the run as it is known here."""
        return self._held

    @property
    def conversation(self) -> Conversation:
        """Return what was said and done so far."""
        return self._held.conversation

    async def record(
        self, *events: RunEvent, blobs: tuple[Blob, ...] = (), call: ToolCall | None = None
    ) -> None:
        """Record events; what follows from them may be done once this has returned.

        `call` is what they came of, for whoever is told.
        """
        async with self._turn:
            write = partial(record_turn, self.runs, self._held, *events, blobs=blobs)
            self._held = await run_sync(write)
        for event in events:
            self._tell(self.conversation, event, call)
        await self._assure()

    async def refresh(self) -> None:
        """Take in what others recorded."""
        async with self._turn:
            self._held = await run_sync(refresh_run, self.runs, self._held)
        await self._assure()

    async def end(self, outcome: Outcome) -> None:
        """Record how the run ended."""
        async with self._turn:
            self._held = await run_sync(end_run, self.runs, self._held, outcome)
        self._tell(self.conversation, RunEnded(outcome=outcome), None)

    async def rest(self, outcome: Outcome) -> bool:
        """Record that the run rests; False when others said something first: that is taken in."""
        async with self._turn:
            self._held = await run_sync(rest_run, self.runs, self._held, outcome)
        if self.conversation.outcome is None:
            return False
        self._tell(self.conversation, RunEnded(outcome=outcome), None)
        return True

    async def prolong(self) -> None:
        """Prolong the lease."""
        began = anyio.current_time()
        await run_sync(heartbeat_run, self.runs, self._held, limiter=_heartbeat_threads())
        self._stands_until = began + self.runs.terms.ttl_ms / 1_000

    async def _assure(self) -> None:
        if anyio.current_time() >= self._stands_until:
            await self.prolong()


def _heartbeat_threads() -> CapacityLimiter:
    """Return the threads of heartbeats: those of tools may all be taken for longer than a lease."""
    try:
        return _THREADS.get()
    except LookupError:
        limiter = CapacityLimiter(HEARTBEATS_AT_ONCE)
        _THREADS.set(limiter)
        return limiter

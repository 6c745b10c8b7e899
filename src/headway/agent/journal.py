"""The journal: the only bridge from the loop to the record, one thread hop for each write."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import anyio
from anyio.to_thread import run_sync

from headway.application.end_run import end_run
from headway.application.heartbeat_run import heartbeat_run
from headway.application.record_turn import record_turn, refresh_run
from headway.application.runs import Held, Runs
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEnded, RunEvent
from headway.domain.runs.outcomes import Outcome
from headway.ports.ledger import Blob

# Is told each event after it was recorded, with the conversation as it is then.
Teller: TypeAlias = Callable[[Conversation, RunEvent], None]


class Journal:
    """A run that is held, its conversation, and the way to add to it.

    Every method raises LeaseLost when another worker has the run, and Fault.
    """

    def __init__(self, runs: Runs, held: Held, tell: Teller) -> None:
        self.runs = runs
        self._held = held
        self._tell = tell
        self._turn = anyio.Lock()  # the loop writes while the watch reads

    @property
    def held(self) -> Held:
        """Return the run as it is known here."""
        return self._held

    @property
    def conversation(self) -> Conversation:
        """Return what was said and done so far."""
        return self._held.conversation

    async def record(self, *events: RunEvent, blobs: tuple[Blob, ...] = ()) -> None:
        """Record events; what follows from them may be done once this has returned."""
        async with self._turn:
            write = partial(record_turn, self.runs, self._held, *events, blobs=blobs)
            self._held = await run_sync(write)
        for event in events:
            self._tell(self.conversation, event)

    async def refresh(self) -> None:
        """Take in what others recorded."""
        async with self._turn:
            self._held = await run_sync(refresh_run, self.runs, self._held)

    async def end(self, outcome: Outcome) -> None:
        """Record how the run ended."""
        async with self._turn:
            self._held = await run_sync(end_run, self.runs, self._held, outcome)
        self._tell(self.conversation, RunEnded(outcome=outcome))

    async def prolong(self) -> None:
        """Prolong the lease."""
        await run_sync(heartbeat_run, self.runs, self._held)

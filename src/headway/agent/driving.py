"""Driving a run that is held: the loop, and beside it the lease's heartbeat and the watch.

The watch looks for what others say to the run: an abort ends a call or a reply that is under way,
and does not wait for it.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from headway.agent.crew import Crew
from headway.agent.journal import Journal, Teller
from headway.agent.loop import Loop
from headway.agent.preparing import prepare
from headway.application.runs import Held, Runs
from headway.domain.errors import Fault
from headway.domain.runs.outcomes import Cancelled, Failed, Outcome
from headway.ports.queue import LeaseLost

WATCH_SECONDS: Final = 1.0


async def drive(runs: Runs, held: Held, crew: Crew, tell: Teller) -> Outcome | None:
    """Drive a run to its end or rest, record that, and return it.

    None when another worker took the run: it goes on there. When this is cancelled the run is left
    as it stands, to be gone on with by anybody. A fault that would come again ends the run; others
    are raised, and leave it to whoever claims it later.
    """
    drive = _Drive(Journal(runs, held, tell), crew)
    return await drive.run()


class _Drive:
    def __init__(self, journal: Journal, crew: Crew) -> None:
        self._journal = journal
        self._crew = crew
        self._work = anyio.CancelScope()
        self._lost = False

    async def run(self) -> Outcome | None:
        outcome: Outcome | None = None
        failure: Fault | None = None
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._every, self._heartbeat_seconds(), self._journal.prolong)
            beside.start_soon(self._every, WATCH_SECONDS, self._look)
            with self._work:
                try:
                    outcome = await self._outcome()
                except LeaseLost:
                    self._lost = True
                except Fault as fault:  # out of the group, as itself
                    failure = fault
            beside.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return None if self._lost else await self._recorded(outcome)

    async def _outcome(self) -> Outcome:
        try:
            await prepare(self._journal, self._crew)
            return await Loop(self._journal, self._crew).run()
        except Fault as fault:
            if fault.retry_after_ms is not None:
                raise  # the store is away: whoever claims the run later goes on with it
            return Failed(reason="fault", message=f"{fault.message} {fault.remedy}")

    async def _recorded(self, outcome: Outcome | None) -> Outcome | None:
        abort = self._journal.conversation.abort
        if outcome is None:
            assert abort is not None, "work is only cut short for an abort"
            outcome = Cancelled(by=abort.by, reason=abort.reason)
        try:
            if self._journal.conversation.outcome is None:
                await self._journal.end(outcome)
        except LeaseLost:
            return None
        return self._journal.conversation.outcome

    async def _every(self, seconds: float, what: Callable[[], Awaitable[None]]) -> None:
        while True:
            await anyio.sleep(seconds)
            try:
                await what()
            except LeaseLost:
                self._lost = True
                self._work.cancel()
                return
            except Fault as fault:
                if fault.retry_after_ms is None:
                    raise
                continue  # a store that stays away is met by the loop, which tells of it

    async def _look(self) -> None:
        await self._journal.refresh()
        if self._journal.conversation.abort is not None:
            self._work.cancel()

    def _heartbeat_seconds(self) -> float:
        return self._journal.runs.terms.heartbeat_ms / 1_000

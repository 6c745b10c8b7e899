"""Driving a run that is held: the loop, and beside it the lease's heartbeat and the watch.

The watch looks for what others say to the run: an abort ends a call or a reply that is under way,
and does not wait for it.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import anyio
from anyio.to_thread import run_sync

from headway.agent.crew import Crew
from headway.agent.journal import Journal, Teller
from headway.agent.loop import Loop
from headway.agent.preparing import prepare
from headway.application.resume_run import resume_run
from headway.application.runs import Held, Runs
from headway.domain.errors import Fault
from headway.domain.runs.acting import Stop, next_action
from headway.domain.runs.outcomes import Cancelled, Failed, Outcome, Parked, is_rest
from headway.ports.engine import GateWaits
from headway.ports.queue import LeaseLost

logger = logging.getLogger(__name__)

WATCH_SECONDS: Final = 1.0
DECIDED: Final = "the gate's decision"  # by whom a run is resumed that had just parked


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
        now = self._journal.conversation
        over = next_action(now) if now.losses else None
        if isinstance(over, Stop) and isinstance(over.outcome, Failed):
            return over.outcome  # what it is prepared with may be what its workers are lost in
        try:
            return await prepare(self._journal, self._crew) or await self._driven()
        except Fault as fault:
            if fault.retry_after_ms is not None:
                raise  # the store is away: whoever claims the run later goes on with it
            code = str(fault.details.get("kind") or fault.code.value)
            return Failed(reason="fault", message=f"{fault.message} {fault.remedy}", code=code)

    async def _driven(self) -> Outcome:
        loop = Loop(self._journal, self._crew)
        while True:
            outcome = await loop.run()
            if is_rest(outcome) and not await self._journal.rest(outcome):
                continue  # somebody resumed or aborted it in that moment
            if isinstance(outcome, Parked):
                await self._unpark()
            return outcome

    async def _unpark(self) -> None:
        """Have the run wait for a worker if its gate was decided before it was seen to rest.

        Who decides looks for a run at rest afterwards; so one of the two finds the other.
        """
        session = self._journal.conversation.session
        assert session is not None
        with suppress(
            Fault
        ):  # somebody was first; or the engine is away, where gates are elsewhere
            if not isinstance(await self._crew.engine.sync(session), GateWaits):
                await run_sync(resume_run, self._journal.runs, self._journal.held.run, DECIDED)

    async def _recorded(self, outcome: Outcome | None) -> Outcome | None:
        abort = self._journal.conversation.abort
        if outcome is None:
            assert abort is not None, "work is only cut short for an abort"
            outcome = Cancelled(by=abort.by, reason=abort.reason)
        try:
            if self._journal.conversation.outcome is None:
                await self._clear_away()
                await self._journal.end(outcome)
        except LeaseLost:
            return None
        return self._journal.conversation.outcome

    async def _clear_away(self) -> None:
        """Leave nothing of a worktree that was removed under the run, whatever it ends for."""
        planned = self._journal.conversation.worktree
        try:
            if planned is not None and not await self._crew.place.is_there(planned):
                await self._crew.place.forget(planned)
        except Fault as fault:  # the run ends all the same
            logger.warning("of the worktree of %s is left: %s", self._journal.held.run, fault)

    async def _every(self, seconds: float, what: Callable[[], Awaitable[None]]) -> None:
        while True:
            await anyio.sleep(seconds)
            try:
                await what()
            except LeaseLost:
                self._lost = True
                self._work.cancel()
                return
            except Fault:
                continue  # one that stays is met by the loop, which tells of it

    async def _look(self) -> None:
        await self._journal.refresh()
        if self._journal.conversation.abort is not None:
            self._work.cancel()

    def _heartbeat_seconds(self) -> float:
        return self._journal.runs.terms.heartbeat_ms / 1_000

"""A worker: claims runs while it has room, and drives each as if it were alone.

Laws.
1. What befalls one run ends neither the worker nor another run.
2. A run that is not driven here any more, and has not ended, is handed back: its lease ends at
   once. While the store is away that waits, at most until the lease has run out by itself.
3. Told to drain, it claims nothing more, and lets each run go on to the end of its turn.
4. While an engine elsewhere is away its runs wait here, under their leases: no worker is lost.
5. A provider that does not serve it stops no more runs than are driven just then; see `barring`.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import anyio
from anyio import CancelScope, CapacityLimiter
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync

from headway.agent.barring import BARRED_MS, Bars
from headway.agent.crew import Crew
from headway.agent.driving import drive
from headway.application.claim_run import claim_run
from headway.application.end_run import end_run, rest_run
from headway.application.hand_back_run import hand_back_run
from headway.application.heartbeat_run import heartbeat_run
from headway.application.record_turn import refresh_run
from headway.application.runs import Held, Runs
from headway.domain.errors import EngineUnavailable, Fault, InvalidInput, SessionNotHealthy
from headway.domain.ids import RunId
from headway.domain.runs.acting import Stop, brought_to, next_action
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import ModelReplied, RunEvent, RunSubmitted
from headway.domain.runs.messages import ToolCall
from headway.domain.runs.outcomes import Cancelled, Failed, Outcome, in_words, is_rest
from headway.ports.models import KEY_MISSING
from headway.ports.queue import Bell, LeaseLost

LOOK_SECONDS_MAX: Final = 5.0  # between two looks into the queue, when nothing rings
STORE_SECONDS: Final = 1.0  # between two tries while the store, or an engine, is away
MESSAGE_MAX: Final = 2_000

logger = logging.getLogger(__name__)


# Is told as `journal.Teller` is, and of which run.
Teller: TypeAlias = Callable[[RunId, Conversation, RunEvent, ToolCall | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How many runs at once: in this worker, in one workspace, and in all. None is no bound."""

    here: int = 3
    per_workspace: int | None = None
    in_all: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a worker works with.

    `crew` raises InvalidInput where a run's model cannot be had. `say` takes a sentence about a
    run, or about the worker itself; `tell` every event of a run after it was recorded.
    """

    runs: Runs
    bell: Bell
    crew: Callable[[Held], Crew]
    say: Callable[[RunId | None, str], None]
    tell: Teller
    bounds: Bounds
    grace_seconds: float


@dataclass(slots=True)
class _Driven:
    held: Held
    now: Conversation  # as last told
    scope: CancelScope

    @property
    def submitted(self) -> RunSubmitted:
        submitted = self.held.conversation.submitted
        assert submitted is not None
        return submitted


class Worker:
    """One worker. `drain` and `stop` are called in its event loop."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._driven: dict[RunId, _Driven] = {}
        self._news = anyio.Event()
        self._drains = False
        self._away: str | None = None  # what keeps the store from serving
        self._bars = Bars(means.runs.engine.clock)
        # Beside the threads of the tools, which may all be taken for long.
        self._threads = CapacityLimiter(2)

    async def run(self, *, until_idle: bool = False) -> None:
        """Work until told to drain; or, if asked, until there is nothing to claim and to drive."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._listen)
            while not self._drains:
                self._news = anyio.Event()
                await self._fill(group)
                if until_idle and not self._driven and self._away is None:
                    break
                await self._news.wait()
            await self._let_turns_end()
            self._means.bell.cut()
            group.cancel_scope.cancel()

    def drain(self) -> None:
        """Claim nothing more; hand each run back when its turn is over, at the latest in a while.

        The first call of the two counts; see `stop` for what a second wish means.
        """
        self._drains = True
        self._news.set()
        for each in self._driven.values():
            self._end_between_turns(each)

    def stop(self) -> None:
        """Hand every run back now, in the middle of its turn: what is under way is cut off."""
        self._drains = True
        self._news.set()
        for each in self._driven.values():
            each.scope.cancel()

    @property
    def drains(self) -> bool:
        """Tell whether it was told to drain."""
        return self._drains

    @property
    def driven(self) -> int:
        """Return how many runs are driven now."""
        return len(self._driven)

    async def _listen(self) -> None:
        look = min(LOOK_SECONDS_MAX, self._means.runs.terms.ttl_ms / 1_000)
        while not self._drains:
            await run_sync(self._means.bell.wait, look, limiter=self._threads)
            self._news.set()

    async def _let_turns_end(self) -> None:
        with anyio.move_on_after(self._means.grace_seconds):
            await self._emptied()
        if self._driven:
            grace = f"{self._means.grace_seconds:g} s"
            self._means.say(None, f"{len(self._driven)} turns did not end within {grace}.")
            self.stop()
            await self._emptied()

    async def _emptied(self) -> None:
        while self._driven:
            self._news = anyio.Event()
            await self._news.wait()

    async def _fill(self, group: TaskGroup) -> None:
        """Claim while there is room and something to be had."""
        while len(self._driven) < self._means.bounds.here and not self._drains:
            held = await self._claimed()
            if held is None:
                return
            if self.drains:  # told so while it claimed
                await self._hand_back(held)
                return
            driven = _Driven(held, held.conversation, CancelScope())
            self._bars.let_through(driven.submitted.provider)
            self._driven[held.run] = driven
            group.start_soon(self._have_driven, driven)

    def _tell_set_aside(self, run: RunId, fault: SessionNotHealthy) -> None:
        self._means.say(run, f"set aside, it cannot be driven: {fault.message} {fault.remedy}")

    async def _claimed(self) -> Held | None:
        bounds = self._means.bounds
        try:
            await self._see_who_rests()
            claim = partial(
                claim_run,
                self._means.runs,
                per_workspace_max=bounds.per_workspace,
                claimed_max=bounds.in_all,
                without=self._bars.closed(),
                tell=self._tell_set_aside,
            )
            held = await run_sync(claim, limiter=self._threads)
        except Fault as fault:
            if self._away != fault.message:
                self._means.say(None, f"Waits: {fault.message} {fault.remedy}")
            self._away = fault.message
            await anyio.sleep(STORE_SECONDS)
            self._news.set()
            return None
        if self._away is not None:
            self._means.say(None, "Goes on: the queue can be read again.")
            self._away = None
        return held

    async def _see_who_rests(self) -> None:
        """Try providers again of whose runs one was resumed. Raises Fault."""
        for run in tuple(self._bars.at_rest()):
            found = await run_sync(self._means.runs.queue.find, run, 1, limiter=self._threads)
            if not any(row.state == "resting" for row in found.rows):
                self._bars.taken_up(run)

    async def _have_driven(self, driven: _Driven) -> None:
        """Drive one run to wherever it comes, and let go of it."""
        held = driven.held
        try:
            with driven.scope:
                told = await self._told_end(driven)
            if driven.scope.cancelled_caught:
                told = "is handed back: another worker goes on with it"
                await self._hand_back(held)
            self._means.say(held.run, told)
        finally:
            del self._driven[held.run]
            self._news.set()

    async def _told_end(self, driven: _Driven) -> str:
        """Drive a run; return what came of it as the rest of a sentence."""
        held = driven.held
        try:
            outcome = await self._outcome(driven)
        except LeaseLost:
            outcome = None
        except Fault as fault:  # of the store: the run is as it was recorded, here or elsewhere
            await anyio.sleep(STORE_SECONDS)
            await self._hand_back(held)
            return f"is handed back: {fault.message}"
        except Exception as bug:
            # A run that fails like this does so wherever it is driven: it ends, and is no burden.
            logger.exception("the run %s met a bug", held.run)
            return await self._ended(held, f"a bug of Headway: {type(bug).__name__}: {bug}")
        if outcome is None:
            return "was taken by another worker; nothing more was written here"
        provider = driven.submitted.provider
        if self._bars.stopped(provider, held.run, outcome):
            self._means.say(None, _leaving_alone(provider, held.run, outcome))
        return in_words(outcome)

    async def _outcome(self, driven: _Driven) -> Outcome | None:
        means, held = self._means, driven.held

        def tell(now: Conversation, event: RunEvent, call: ToolCall | None) -> None:
            driven.now = now
            means.tell(held.run, now, event, call)
            provider = driven.submitted.provider
            if isinstance(event, ModelReplied) and self._bars.replied(provider):
                means.say(None, f"Claims runs of {provider} again: it has replied.")
                self._news.set()
            if self._drains:
                self._end_between_turns(driven)

        means.say(held.run, _beginning(held))
        try:
            crew = await run_sync(means.crew, held)
        except InvalidInput as fault:
            return await run_sync(self._unmanned, held, fault)
        is_told = False
        while True:
            try:
                return await drive(means.runs, driven.held, crew, tell)
            except EngineUnavailable as fault:
                if not is_told:
                    means.say(held.run, f"waits: {fault.message}")
                is_told = True
            await anyio.sleep(STORE_SECONDS)
            driven.held = await run_sync(self._still_held, driven.held, limiter=self._threads)

    def _unmanned(self, held: Held, fault: InvalidInput) -> Outcome:
        """Record and return what a run comes to whose model cannot be had here.

        Raises LeaseLost and Fault.
        """
        failed = Failed(
            reason="credential_missing"
            if fault.details.get("kind") == KEY_MISSING
            else "model_unusable",
            message=f"{fault.message} {fault.remedy}",
        )
        runs = self._means.runs
        while held.conversation.outcome is None:
            abort = held.conversation.abort
            outcome = (
                Cancelled(by=abort.by, reason=abort.reason)
                if abort
                else brought_to(held.conversation, failed)
            )
            held = (rest_run if is_rest(outcome) else end_run)(runs, held, outcome)
        return held.conversation.outcome

    def _still_held(self, held: Held) -> Held:
        """Prolong the lease and take in what was recorded. Raises LeaseLost and Fault."""
        heartbeat_run(self._means.runs, held)
        return refresh_run(self._means.runs, held)

    async def _ended(self, held: Held, message: str) -> str:
        failed = Failed(reason="fault", message=message[:MESSAGE_MAX])
        try:
            await run_sync(end_run, self._means.runs, held, failed)
        except (LeaseLost, Fault) as error:
            await self._hand_back(held)
            return f"is handed back after {message}; its end could not be recorded: {error}"
        return in_words(failed)

    async def _hand_back(self, held: Held) -> None:
        ttl = self._means.runs.terms.ttl_ms / 1_000
        with anyio.move_on_after(ttl):  # by then it is over anyway
            while True:
                try:
                    await run_sync(hand_back_run, self._means.runs, held, limiter=self._threads)
                except Fault:
                    await anyio.sleep(STORE_SECONDS)  # told of where runs are claimed
                else:
                    return

    @staticmethod
    def _end_between_turns(driven: _Driven) -> None:
        if not is_in_turn(driven.now):
            driven.scope.cancel()


def _leaving_alone(provider: str, run: RunId, outcome: Outcome) -> str:
    resumed = f", or until {run} is resumed" if is_rest(outcome) else ""
    return (
        f"Claims no more runs of {provider} for {BARRED_MS // 60_000} minutes{resumed}: what keeps "
        "that run from its model would keep them all. Then one of them tries."
    )


def _beginning(held: Held) -> str:
    submitted = held.conversation.submitted
    assert submitted is not None
    said = f"claimed {held.run}: {submitted.workflow_id}, {submitted.model}"
    if held.conversation.recovered:
        said += f"; recovered by another worker (claim {held.fence})"
    if held.left:
        said += f"; {held.left} processes that the one before had left running were ended"
    return said


def is_in_turn(now: Conversation) -> bool:
    """Tell whether something is under way, or over, that is better brought to its end."""
    if now.asked or any(call.state in {"waiting", "running"} for call in now.calls):
        return True
    return isinstance(next_action(now), Stop)

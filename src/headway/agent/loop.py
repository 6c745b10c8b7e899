"""The loop: what `next_action` says is recorded, done, and its end recorded, until it says stop.

Law. Nothing has an effect before it is recorded, and an effect that was recorded as ended is never
had again. So a run whose process died is gone on with by this same loop, begun anew.
"""

from typing import Final, assert_never

import anyio
from msgspec.structs import replace

from headway.agent.asking import MESSAGE_MAX, Asking
from headway.agent.crew import Crew
from headway.agent.journal import Journal
from headway.agent.memory import Memory
from headway.agent.nudging import cut_call, nudge
from headway.agent.preparing import blobs_of, events_of, gone, moved, told
from headway.agent.tooling import FatalToolError
from headway.application.runs import text_blob
from headway.domain.errors import PreconditionFailed
from headway.domain.runs.acting import (
    CallModel,
    Compact,
    Note,
    Nudge,
    RunTools,
    Stop,
    next_action,
)
from headway.domain.runs.events import CallAsked, ChangesCommitted, ToolEnded, ToolStarted
from headway.domain.runs.messages import ToolCall, ToolResult
from headway.domain.runs.outcomes import Failed, Outcome, Success

LOOK_SECONDS: Final = 0.5
COMMIT_WAITS_SECONDS: Final = (1.0, 5.0, 25.0)  # between the tries of a commit that git refuses
NOT_TAKEN: Final = "The JSON that ended your turn was read as the arguments of complete_step:"


class Loop:
    """Drives one run that was prepared."""

    def __init__(self, journal: Journal, crew: Crew) -> None:
        self._journal = journal
        self._crew = crew
        self._memory = Memory(journal.runs)
        place = journal.conversation.worktree
        assert place is not None, "a run is prepared before its first turn"
        self._planned = place
        self._tools = crew.tools(place.path)
        self._asking = Asking(journal, crew, self._memory, self._tools.specs)

    async def run(self) -> Outcome:
        """Take turns until the run is over and return how; that is not recorded here.

        Raises LeaseLost and Fault.
        """
        outcome: Outcome | None = None
        while outcome is None:
            await self._journal.refresh()
            outcome = await self._act()
        return outcome

    async def _act(self) -> Outcome | None:
        """Do the one thing that is next; return the end when there is one."""
        now = self._journal.conversation
        action = next_action(now, self._asking.room)
        match action:
            case Stop(outcome=outcome):
                unfinished = isinstance(outcome, Success) and now.committed is None
                return await self._commit() if unfinished else outcome
            case Nudge(why=why):
                assert now.said is not None
                text = nudge(why, now.said, self._crew.model.traits)
                news = (told(text, "nudge"),)
                await self._journal.record(*events_of(news), blobs=blobs_of(news))
                return None
            case Note(event=event):
                await self._journal.record(event)
                return None
            case CallModel():
                return await self._asking.turn(action) if await self._waited(action) else None
            case Compact():
                return await self._asking.summary(action) if await self._waited(action) else None
            case RunTools(calls=calls):
                return await self._use(calls[0])
            case _:
                assert_never(action)

    async def _commit(self) -> Failed | None:
        if not await self._crew.place.is_there(self._planned):
            return await gone(self._planned, self._crew.place)
        commit = await self._committed()
        await self._journal.record(ChangesCommitted(commit=commit))
        return None

    async def _committed(self) -> str | None:
        """Have the work committed; again where another program, or a full disk, was in the way."""
        for seconds in COMMIT_WAITS_SECONDS:
            try:
                return await self._crew.place.commit(self._journal.conversation)
            except PreconditionFailed:
                await anyio.sleep(seconds)
        return await self._crew.place.commit(self._journal.conversation)

    async def _waited(self, action: CallModel | Compact) -> bool:
        """Wait before the call; False when something else is to be done first by then."""
        until = anyio.current_time() + action.wait_ms / 1_000
        while (left := until - anyio.current_time()) > 0:
            await anyio.sleep(min(left, LOOK_SECONDS))
            now = self._journal.conversation  # the watch has read on
            if next_action(now, self._asking.room) != action:
                return False
        return True

    async def _use(self, asked: CallAsked) -> Failed | None:
        said = self._journal.conversation.said
        assert said is not None
        reply = await self._memory.reply(said.reply)
        call = next(call for call in reply.calls if call.id == asked.id)
        await self._journal.record(ToolStarted(call=call.id), call=call)
        began = anyio.current_time()
        try:
            result = cut_call(reply, call, self._crew.model.traits) or await self._tools.run(call)
        except FatalToolError as fatal:
            message = f"{fatal} {fatal.remedy}"[:MESSAGE_MAX]
            return Failed(reason="tool_fatal", message=message)
        if reply.answered and result.failed:
            result = replace(result, text=f"{NOT_TAKEN}\n{result.text}")
        await self._ended(call, result, round((anyio.current_time() - began) * 1_000))
        if result.failed and not await self._crew.place.is_there(self._planned):
            return await gone(self._planned, self._crew.place)
        return None

    async def _ended(self, call: ToolCall, result: ToolResult, duration_ms: int) -> None:
        text = text_blob(result.text)
        whole = text_blob(result.whole) if result.whole is not None else None
        ended = ToolEnded(
            call=result.call,
            text=text.digest,
            whole=whole.digest if whole else None,
            failed=result.failed,
            duration_ms=duration_ms,
        )
        news = moved(self._journal.conversation, await self._crew.engine.current())
        blobs = (text, whole) if whole else (text,)
        blobs = (*blobs, *blobs_of(news))
        await self._journal.record(ended, *events_of(news), blobs=blobs, call=call)

"""The loop: what `next_action` says is recorded, done, and its end recorded, until it says stop.

Law. Nothing has an effect before it is recorded, and an effect that was recorded as ended is never
had again. So a run whose process died is gone on with by this same loop, begun anew.
"""

from typing import Final, assert_never

import anyio

from headway.agent.crew import Crew
from headway.agent.journal import Journal
from headway.agent.memory import Memory
from headway.agent.preparing import blobs_of, events_of, moved
from headway.agent.tooling import FatalToolError
from headway.application.runs import text_blob
from headway.domain.ids import digest
from headway.domain.runs.conversation import CallModel, RunTools, Stop, Tell, next_action
from headway.domain.runs.events import (
    CallAsked,
    ChangesCommitted,
    ModelAsked,
    ModelErred,
    ModelReplied,
    TextTold,
    ToolEnded,
    ToolStarted,
)
from headway.domain.runs.messages import Reply, ToolCall, ToolResult
from headway.domain.runs.outcomes import Failed, Outcome, Stuck, Success
from headway.ports.models import ModelFailed

SILENCE_SECONDS_MAX: Final = 600
WAIT_MS_FIRST: Final = 1_000
WAIT_MS_MAX: Final = 60_000
MESSAGE_MAX: Final = 2_000


class Loop:
    """Drives one run that was prepared."""

    def __init__(self, journal: Journal, crew: Crew) -> None:
        self._journal = journal
        self._crew = crew
        self._memory = Memory(journal.runs)
        place = journal.conversation.worktree
        assert place is not None, "a run is prepared before its first turn"
        self._tools = crew.tools(place.path)

    async def run(self) -> Outcome:
        """Take turns until the run is over and return how; that is not recorded here.

        Raises LeaseLost and Fault.
        """
        while True:
            await self._journal.refresh()
            action = next_action(self._journal.conversation)
            match action:
                case Stop(outcome=outcome):
                    if not isinstance(outcome, Success) or self._journal.conversation.committed:
                        return outcome
                    commit = await self._crew.place.commit(self._journal.conversation)
                    await self._journal.record(ChangesCommitted(commit=commit))
                case Tell(text=text, origin=origin):
                    blob = text_blob(text)
                    told = TextTold(text=blob.digest, origin=origin)
                    await self._journal.record(told, blobs=(blob,))
                case CallModel():
                    silence = await self._ask(action)
                    if silence is not None:
                        return silence
                case RunTools(calls=calls):
                    fatal = await self._use(calls[0])
                    if fatal is not None:
                        return fatal
                case _:
                    assert_never(action)

    async def _ask(self, action: CallModel) -> Stuck | None:
        await anyio.sleep(action.wait_ms / 1_000)
        await self._journal.record(ModelAsked(turn=action.turn))
        request = await self._memory.request(self._journal.conversation, self._tools.specs)
        began = anyio.current_time()
        try:
            with anyio.fail_after(SILENCE_SECONDS_MAX):
                reply = await self._crew.model.reply(request)
        except TimeoutError:
            message = f"no word from the model for {SILENCE_SECONDS_MAX} seconds"
            return Stuck(sign="silence", message=message)
        except ModelFailed as failure:
            erred = ModelErred(
                turn=action.turn,
                problem=failure.problem,
                message=str(failure)[:MESSAGE_MAX],
                wait_ms=self._wait_ms(failure),
                duration_ms=_since(began),
            )
            await self._journal.record(erred)
            return None
        blob = self._memory.keep(reply)
        replied = ModelReplied(
            turn=action.turn,
            reply=blob.digest,
            stop=reply.stop,
            model=reply.model,
            calls=tuple(map(_asked, reply.calls)),
            usage=reply.usage,
            duration_ms=_since(began),
        )
        await self._journal.record(replied, blobs=(blob,))
        return None

    async def _use(self, asked: CallAsked) -> Failed | None:
        said = self._journal.conversation.said
        assert said is not None
        call = _call(await self._memory.reply(said.reply), asked)
        await self._journal.record(ToolStarted(call=call.id))
        began = anyio.current_time()
        try:
            result = await self._tools.run(call)
        except FatalToolError as fatal:
            message = f"{fatal} {fatal.remedy}"[:MESSAGE_MAX]
            return Failed(reason="tool_fatal", message=message)
        await self._ended(result, _since(began))
        return None

    async def _ended(self, result: ToolResult, duration_ms: int) -> None:
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
        await self._journal.record(ended, *events_of(news), blobs=(*blobs, *blobs_of(news)))

    def _wait_ms(self, failure: ModelFailed) -> int:
        """Return how long to wait: twice as long each time, spread by chance, or as asked."""
        errors = self._journal.conversation.errors
        most: int = min(WAIT_MS_FIRST << errors, WAIT_MS_MAX)
        (chance,) = self._journal.runs.engine.entropy.draw(1)
        own = most // 2 + most // 2 * chance // 255
        return max(own, failure.retry_after_ms or 0)


def _asked(call: ToolCall) -> CallAsked:
    arguments = digest(call.arguments.encode("utf-8", "surrogatepass"))
    return CallAsked(id=call.id, name=call.name, arguments=arguments)


def _call(reply: Reply, asked: CallAsked) -> ToolCall:
    return next(call for call in reply.calls if call.id == asked.id)


def _since(began: float) -> int:
    return round((anyio.current_time() - began) * 1_000)

"""Asking the model of a run: for its next reply, or to sum up turns that must make room.

Each request is recorded before it is made, and what came of it afterwards: a reply, a summary, or
a failure with how long to wait before it is made again.
"""

from typing import Final

import anyio
from msgspec.structs import replace

from headway.agent.crew import Crew
from headway.agent.journal import Journal
from headway.agent.memory import Memory
from headway.agent.summing import in_place_of_turns, summing
from headway.agent.tooling import COMPLETE_STEP
from headway.application.runs import text_blob
from headway.domain.ids import digest
from headway.domain.runs.acting import CallModel, Compact
from headway.domain.runs.events import (
    CallAsked,
    CompactionAsked,
    ConversationCompacted,
    ModelAsked,
    ModelErred,
    ModelReplied,
)
from headway.domain.runs.messages import ModelRequest, Reply, ToolCall, ToolSpec
from headway.domain.runs.outcomes import Stuck
from headway.domain.runs.parts import turns_until
from headway.ports.models import Model, ModelFailed, ModelProblem

SILENCE_SECONDS_MAX: Final = 600
WAIT_MS_FIRST: Final = 1_000
WAIT_MS_MAX: Final = 60_000
WAIT_ASKED_MS_MAX: Final = 3_600_000  # a provider that asks for more is asked again after this
ASKED_AGAIN: Final = frozenset({"transient", "malformed"})  # as it was, after a wait
MESSAGE_MAX: Final = 2_000


class Asking:
    """Asks the model of one run. Every method raises LeaseLost and Fault."""

    def __init__(
        self, journal: Journal, crew: Crew, memory: Memory, tools: tuple[ToolSpec, ...]
    ) -> None:
        self._journal = journal
        self._model = crew.model
        self._memory = memory
        answers = crew.model.traits.answers
        self._tools = tuple(tool for tool in tools if not answers or tool.name != COMPLETE_STEP)
        schemas = (tool.schema for tool in tools if answers and tool.name == COMPLETE_STEP)
        self._answer_schema = next(schemas, None)

    @property
    def room(self) -> int | None:
        """Return how many tokens a conversation may have, with room for a reply beside it."""
        window = self._model.traits.window
        if window is None:
            return None
        return max(min(window * 4 // 5, window - self._model.traits.output_tokens_max), window // 2)

    async def turn(self, wanted: CallModel) -> Stuck | None:
        """Ask for the next reply; return the end that a silent model is."""
        await self._journal.record(ModelAsked(turn=wanted.turn))
        now = self._journal.conversation
        request = ModelRequest(
            system=await self._memory.system(now),
            messages=await self._memory.messages(now),
            tools=self._tools,
            output_tokens_max=self._model.traits.output_tokens_max,
            answer_schema=self._answer_schema,
        )
        began = anyio.current_time()
        said = await self._said(request)
        if not isinstance(said, Reply):
            return said
        reply = self._read(said, wanted.turn)
        blob = self._memory.keep(reply)
        replied = ModelReplied(
            turn=wanted.turn,
            reply=blob.digest,
            stop=reply.stop,
            model=reply.model,
            calls=tuple(map(_asked, reply.calls)),
            answered=reply.answered,
            usage=reply.usage,
            duration_ms=_since(began),
        )
        await self._journal.record(replied, blobs=(blob,))
        return None

    async def summary(self, wanted: Compact) -> Stuck | None:
        """Ask for a summary of the turns; return the end that a silent model is."""
        now = self._journal.conversation
        await self._journal.record(CompactionAsked(first=wanted.first, last=wanted.last))
        messages = await self._memory.messages(now)
        shown = messages[: len(turns_until(now.parts, wanted.last))]
        assert now.submitted is not None
        most = self._model.traits.output_tokens_max
        began = anyio.current_time()
        said = await self._said(summing(now.submitted.goal, shown, most))
        if not isinstance(said, Reply):
            return said
        if said.stop == "refused" or not said.text.strip():
            problem: ModelProblem = "refused" if said.stop == "refused" else "malformed"
            await self._erred(ModelFailed(problem, "the model gave no summary"), began)
            return None
        blob = text_blob(in_place_of_turns(said))
        compacted = ConversationCompacted(
            first=wanted.first,
            last=wanted.last,
            summary=blob.digest,
            model=said.model,
            usage=said.usage,
            duration_ms=_since(began),
        )
        await self._journal.record(compacted, blobs=(blob,))
        return None

    async def _said(self, request: ModelRequest) -> Reply | Stuck | None:
        """Return the reply, or the end; None for a failure, which was recorded."""
        began = anyio.current_time()
        try:
            return await _heard_out(self._model, request)
        except TimeoutError:
            message = f"no word from the model for {SILENCE_SECONDS_MAX} seconds"
            return Stuck(sign="silence", message=message)
        except ModelFailed as failure:
            await self._erred(failure, began)
            return None

    async def _erred(self, failure: ModelFailed, began: float) -> None:
        erred = ModelErred(
            turn=self._journal.conversation.turn,
            problem=failure.problem,
            message=str(failure)[:MESSAGE_MAX],
            wait_ms=self._wait_ms(failure) if failure.problem in ASKED_AGAIN else 0,
            duration_ms=_since(began),
        )
        await self._journal.record(erred)

    def _read(self, reply: Reply, turn: int) -> Reply:
        """Return a reply whose text is an answer as the call that it stands for."""
        is_answer = reply.stop == "end" and not reply.calls and bool(reply.text.strip())
        if self._answer_schema is None or not is_answer:
            return reply
        call = ToolCall(id=f"answer-{turn}", name=COMPLETE_STEP, arguments=reply.text)
        return replace(reply, calls=(call,), answered=True)

    def _wait_ms(self, failure: ModelFailed) -> int:
        """Return how long to wait: twice as long each time, spread by chance, or as asked."""
        errors = self._journal.conversation.errors
        most: int = min(WAIT_MS_FIRST << errors, WAIT_MS_MAX)
        (chance,) = self._journal.runs.engine.entropy.draw(1)
        own = most // 2 + most // 2 * chance // 255
        return max(own, min(failure.retry_after_ms or 0, WAIT_ASKED_MS_MAX))


async def _heard_out(model: Model, request: ModelRequest) -> Reply:
    """Return the reply, however long it is. Raises TimeoutError for a silence that is too long."""
    with anyio.fail_after(SILENCE_SECONDS_MAX) as waiting:

        def heard() -> None:
            waiting.deadline = anyio.current_time() + SILENCE_SECONDS_MAX

        return await model.reply(request, heard)


def _asked(call: ToolCall) -> CallAsked:
    arguments = digest(call.arguments.encode("utf-8", "surrogatepass"))
    return CallAsked(id=call.id, name=call.name, arguments=arguments)


def _since(began: float) -> int:
    return round((anyio.current_time() - began) * 1_000)

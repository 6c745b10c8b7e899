"""What the model is sent: the parts of a conversation, read from their blobs and kept decoded.

A request is the one before it and what is new, so only what is new is read.
"""

from typing import Final, assert_never

import msgspec
from anyio.to_thread import run_sync

from headway.application.runs import Runs, text_of
from headway.domain.ids import Digest, digest
from headway.domain.runs.conversation import (
    CallStanding,
    Conversation,
    Part,
    ReplyPart,
    ResultsPart,
    ToldPart,
)
from headway.domain.runs.messages import (
    Message,
    ModelRequest,
    Reply,
    Results,
    Told,
    ToolResult,
    ToolSpec,
)
from headway.ports.ledger import Blob

INTERRUPTED: Final = (
    "Interrupted: the process that ran this call ended before the call did. It may have done all, "
    "some or nothing of its work. Look at how things are before you do it again."
)


class Memory:
    """The messages of one run."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._parts: tuple[Part, ...] = ()
        self._messages: tuple[Message, ...] = ()
        self._replies: dict[Digest, Reply] = {}

    async def request(self, now: Conversation, tools: tuple[ToolSpec, ...]) -> ModelRequest:
        """Return the request that stands at the end of a conversation. Raises Fault."""
        return await run_sync(self._request, now, tools)

    async def reply(self, name: Digest) -> Reply:
        """Return a recorded reply. Raises Fault."""
        return await run_sync(self._reply, name)

    def keep(self, reply: Reply) -> Blob:
        """Return the blob of a reply that was just made."""
        data = msgspec.json.encode(reply)
        blob = Blob(digest=digest(data), data=data)
        self._replies[blob.digest] = reply
        return blob

    def _request(self, now: Conversation, tools: tuple[ToolSpec, ...]) -> ModelRequest:
        known = len(self._parts)
        assert now.parts[:known] == self._parts, "a conversation only grows"
        new = now.parts[known:]
        self._messages += tuple(self._message(part) for part in new)
        self._parts = now.parts
        assert now.joined is not None
        system = text_of(self._runs, now.joined.system)
        return ModelRequest(system=system, messages=self._messages, tools=tools)

    def _message(self, part: Part) -> Message:
        match part:
            case ToldPart(text=text, origin=origin):
                return Told(text=text_of(self._runs, text), origin=origin)
            case ReplyPart(reply=reply):
                return self._reply(reply)
            case ResultsPart(calls=calls):
                return Results(results=tuple(map(self._result, calls)))
            case _:
                assert_never(part)

    def _reply(self, name: Digest) -> Reply:
        if name not in self._replies:
            data = self._runs.engine.ledger.blob(name)
            self._replies[name] = msgspec.json.decode(data, type=Reply)
        return self._replies[name]

    def _result(self, call: CallStanding) -> ToolResult:
        if call.text is None:
            return ToolResult(call=call.asked.id, text=INTERRUPTED, failed=True, interrupted=True)
        text = text_of(self._runs, call.text)
        return ToolResult(call=call.asked.id, text=text, failed=call.state == "failed")

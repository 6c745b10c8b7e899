"""What the model is sent: the parts of a conversation, read from their blobs and kept decoded.

A request is the one before it and what is new, so only what is new is read. Where turns made room
for a summary, what stayed is taken over as it was.
"""

from typing import Final, assert_never

import msgspec
from anyio.to_thread import run_sync

from headway.application.runs import Runs, text_of
from headway.domain.ids import Digest, digest
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.messages import Message, Reply, Results, Told, ToolResult
from headway.domain.runs.parts import CallStanding, Part, ReplyPart, ResultsPart, ToldPart
from headway.ports.ledger import Blob

INTERRUPTED: Final = (
    "Interrupted: the process that ran this call ended before the call did. It may have done all, "
    "some or nothing of its work. Look at how things are before you do it again."
)


class Memory:
    """The messages of one run."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._replaced = 0
        self._parts: tuple[Part, ...] = ()
        self._messages: tuple[Message, ...] = ()
        self._system = ""
        self._newest: tuple[Digest, Reply] | None = None

    async def messages(self, now: Conversation) -> tuple[Message, ...]:
        """Return what a conversation consists of, one message for each part. Raises Fault."""
        return await run_sync(self._read, now)

    async def system(self, now: Conversation) -> str:
        """Return what every request begins with. Raises Fault."""
        assert now.joined is not None
        if not self._system:
            self._system = await run_sync(text_of, self._runs, now.joined.system)
        return self._system

    async def reply(self, name: Digest) -> Reply:
        """Return a recorded reply. Raises Fault."""
        if self._newest is not None and self._newest[0] == name:
            return self._newest[1]
        return await run_sync(self._reply, name)

    def keep(self, reply: Reply) -> Blob:
        """Return the blob of a reply that was just made."""
        data = msgspec.json.encode(reply)
        blob = Blob(digest=digest(data), data=data)
        self._newest = (blob.digest, reply)
        return blob

    def _read(self, now: Conversation) -> tuple[Message, ...]:
        if now.replaced != self._replaced:
            self._take_over(now)
        known = len(self._parts)
        assert not known or now.parts[known - 1] == self._parts[-1], "a conversation only grows"
        self._messages += tuple(self._message(part) for part in now.parts[known:])
        self._parts = now.parts
        return self._messages

    def _take_over(self, now: Conversation) -> None:
        known = dict(zip(self._parts, self._messages, strict=True))
        self._messages = tuple(known.get(part) or self._message(part) for part in now.parts)
        self._parts, self._replaced = now.parts, now.replaced

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
        if self._newest is None or self._newest[0] != name:
            data = self._runs.engine.ledger.blob(name)
            self._newest = (name, msgspec.json.decode(data, type=Reply))
        return self._newest[1]

    def _result(self, call: CallStanding) -> ToolResult:
        if call.text is None:
            return ToolResult(call=call.asked.id, text=INTERRUPTED, failed=True, interrupted=True)
        text = text_of(self._runs, call.text)
        return ToolResult(call=call.asked.id, text=text, failed=call.state == "failed")

"""The wire formats of providers: how each sends a reply in pieces, and an error.

They are written down from the providers' own descriptions, apart from any library that reads them.
"""

import base64
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from tests.support.provider_acts import Fails, Says

CREATED = 1_700_000_000


@dataclass(frozen=True)
class ErrorAnswer:
    status: int
    headers: dict[str, str]
    body: dict[str, Any]


class Wire(Protocol):
    content_type: str

    def pieces(self, says: Says, model: str) -> Iterator[bytes]:
        """Yield a reply as it stands on the wire."""

    def error(self, fails: Fails) -> ErrorAnswer:
        """Return an error that is the whole answer."""

    def error_inside(self, fails: Fails) -> bytes:
        """Return an error in a stream that has begun."""


def words(text: str) -> list[str]:
    """Return a text in pieces that make it up again."""
    *heads, last = text.split(" ")
    return [*(head + " " for head in heads), last] if text else []


class AnthropicWire:
    """Anthropic's Messages, as server-sent events."""

    content_type = "text/event-stream"
    STOPS = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refused": "refusal"}

    def pieces(self, says: Says, model: str) -> Iterator[bytes]:
        for event in self.events(says, model):
            yield self.framed(event)

    def framed(self, event: dict[str, Any]) -> bytes:
        return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

    def error(self, fails: Fails) -> ErrorAnswer:
        return ErrorAnswer(fails.status, {"request-id": "req_1"}, self._error(fails))

    def error_inside(self, fails: Fails) -> bytes:
        return self.framed(self._error(fails))

    def events(self, says: Says, model: str) -> Iterator[dict[str, Any]]:
        usage = {
            "input_tokens": says.took.fresh,
            "cache_read_input_tokens": says.took.cache_read,
            "cache_creation_input_tokens": says.took.cache_write,
            "output_tokens": 1,
        }
        message: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        yield {"type": "message_start", "message": message}
        yield {"type": "ping"}
        for index, (block, deltas) in enumerate(self._blocks(says)):
            yield {"type": "content_block_start", "index": index, "content_block": block}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        stop = self.STOPS[says.stop or ("tools" if says.calls else "end")]
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": says.took.out},
        }
        yield {"type": "message_stop"}

    def _blocks(self, says: Says) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        if says.thinking:
            thoughts: list[dict[str, Any]] = [
                {"type": "thinking_delta", "thinking": word} for word in words(says.thinking)
            ]
            signed = [{"type": "signature_delta", "signature": f"signed:{says.thinking}"}]
            yield {"type": "thinking", "thinking": "", "signature": ""}, thoughts + signed
        if says.text:
            yield (
                {"type": "text", "text": ""},
                [{"type": "text_delta", "text": word} for word in words(says.text)],
            )
        for call in says.calls:
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            yield (
                block,
                [
                    {"type": "input_json_delta", "partial_json": word}
                    for word in words(call.arguments)
                ],
            )

    def _error(self, fails: Fails) -> dict[str, Any]:
        return {"type": "error", "error": {"type": fails.code, "message": fails.message}}


class BedrockWire:
    """Claude on Bedrock: Anthropic's events in frames of AWS's event stream."""

    content_type = "application/vnd.amazon.eventstream"

    def pieces(self, says: Says, model: str) -> Iterator[bytes]:
        for event in AnthropicWire().events(says, model):
            held = base64.b64encode(json.dumps(event).encode()).decode()
            yield framed({"event-type": "chunk", "message-type": "event"}, {"bytes": held})

    def error(self, fails: Fails) -> ErrorAnswer:
        headers = {"x-amzn-errortype": f"{fails.code}:http://internal.amazon.com/coral/"}
        return ErrorAnswer(fails.status, headers, {"message": fails.message})

    def error_inside(self, fails: Fails) -> bytes:
        name = fails.code[0].lower() + fails.code[1:]
        return framed(
            {"exception-type": name, "message-type": "exception"}, {"message": fails.message}
        )


def framed(headers: dict[str, str], payload: dict[str, Any]) -> bytes:
    """Return one message of AWS's event stream: lengths, headers, payload, check sums."""
    body = json.dumps(payload).encode()
    written = b"".join(
        struct.pack("!B", len(name) + 1)
        + f":{name}".encode()
        + struct.pack("!BH", 7, len(value))
        + value.encode()
        for name, value in {**headers, "content-type": "application/json"}.items()
    )
    prelude = struct.pack("!II", 16 + len(written) + len(body), len(written))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + written + body
    return message + struct.pack("!I", zlib.crc32(message))


class OpenAIWire:
    """OpenAI's Chat Completions, as server-sent events."""

    content_type = "text/event-stream"
    STOPS = {
        "end": "stop",
        "tools": "tool_calls",
        "length": "length",
        "refused": "content_filter",
    }

    def pieces(self, says: Says, model: str) -> Iterator[bytes]:
        for delta in self._deltas(says):
            yield self._chunk(model, [{"index": 0, "delta": delta, "finish_reason": None}])
        stop = self.STOPS[says.stop or ("tools" if says.calls else "end")]
        yield self._chunk(model, [{"index": 0, "delta": {}, "finish_reason": stop}])
        took = says.took
        given = took.fresh + took.cache_read + took.cache_write
        usage = {
            "prompt_tokens": given,
            "completion_tokens": took.out,
            "total_tokens": given + took.out,
            "prompt_tokens_details": {"cached_tokens": took.cache_read},
        }
        yield self._chunk(model, [], usage=usage)
        yield b"data: [DONE]\n\n"

    def error(self, fails: Fails) -> ErrorAnswer:
        return ErrorAnswer(fails.status, {"x-request-id": "req_1"}, self._error(fails))

    def error_inside(self, fails: Fails) -> bytes:
        return f"data: {json.dumps(self._error(fails))}\n\n".encode()

    def _deltas(self, says: Says) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": ""}
        for word in words(says.thinking):
            yield {"reasoning_content": word}
        for word in words(says.text):
            yield {"content": word}
        for index, call in enumerate(says.calls):
            function = {"name": call.name, "arguments": ""}
            head = {"index": index, "id": call.id, "type": "function", "function": function}
            yield {"tool_calls": [head]}
            for word in words(call.arguments):
                yield {"tool_calls": [{"index": index, "function": {"arguments": word}}]}

    def _chunk(self, model: str, choices: list[dict[str, Any]], **more: object) -> bytes:
        chunk = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": model,
            "choices": choices,
            **more,
        }
        return f"data: {json.dumps(chunk)}\n\n".encode()

    def _error(self, fails: Fails) -> dict[str, Any]:
        error = {"message": fails.message, "type": fails.code, "param": None, "code": fails.code}
        return {"error": error}

"""OpenAI's Responses, as server-sent events."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.provider_acts import Fails, Says
from tests.support.provider_wires import CREATED, ErrorAnswer, words

EMPTY: dict[str, Any] = {"content": [], "summary": [], "arguments": ""}


class ResponsesWire:
    """Each item of a reply is announced, comes in pieces, and is told once more as a whole."""

    content_type = "text/event-stream"
    INCOMPLETE = {"length": "max_output_tokens", "refused": "content_filter"}

    def pieces(self, says: Says, model: str) -> Iterator[bytes]:
        for number, event in enumerate(self.events(says, model)):
            yield self.framed({"sequence_number": number, **event})

    def framed(self, event: dict[str, Any]) -> bytes:
        return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

    def error(self, fails: Fails) -> ErrorAnswer:
        error = {"message": fails.message, "type": fails.code, "param": None, "code": fails.code}
        return ErrorAnswer(fails.status, {"x-request-id": "req_1"}, {"error": error})

    def error_inside(self, fails: Fails) -> bytes:
        event = {"type": "error", "code": fails.code, "message": fails.message, "param": None}
        return self.framed({"sequence_number": 9, **event})

    def events(self, says: Says, model: str) -> Iterator[dict[str, Any]]:
        begun = self._response(model, "in_progress", [])
        yield {"type": "response.created", "response": begun}
        yield {"type": "response.in_progress", "response": begun}
        items = []
        for index, (item, events) in enumerate(self._items(says)):
            place = {"output_index": index, "item_id": item["id"]}
            empty = {name: EMPTY.get(name, held) for name, held in item.items()}
            yield {"type": "response.output_item.added", "output_index": index, "item": empty}
            for event in events:
                yield {**place, **event}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
            items.append(item)
        cause = self.INCOMPLETE.get(says.stop or "")
        ended = self._response(model, "incomplete" if cause else "completed", items)
        given = says.took.fresh + says.took.cache_read + says.took.cache_write
        ended["incomplete_details"] = {"reason": cause} if cause else None
        ended["usage"] = {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": says.took.cache_read},
            "output_tokens": says.took.out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + says.took.out,
        }
        yield {"type": f"response.{ended['status']}", "response": ended}

    def _items(self, says: Says) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        if says.thinking:
            yield self._thought(says.thinking)
        if says.text:
            yield self._message(says.text)
        for number, call in enumerate(says.calls):
            item = {
                "id": f"fc_{number}",
                "type": "function_call",
                "status": "completed",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            }
            kind = "response.function_call_arguments"
            events = [{"type": f"{kind}.delta", "delta": word} for word in words(call.arguments)]
            whole = {"type": f"{kind}.done", "name": call.name, "arguments": call.arguments}
            yield item, [*events, whole]

    def _thought(self, text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        part = {"type": "summary_text", "text": text}
        item = {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [part],
            "encrypted_content": f"sealed:{text}",
        }
        kind = "response.reasoning_summary"
        at = {"summary_index": 0}
        return item, [
            {"type": f"{kind}_part.added", "part": {**part, "text": ""}, **at},
            *({"type": f"{kind}_text.delta", "delta": word, **at} for word in words(text)),
            {"type": f"{kind}_text.done", "text": text, **at},
            {"type": f"{kind}_part.done", "part": part, **at},
        ]

    def _message(self, text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        part: dict[str, Any] = {
            "type": "output_text",
            "text": text,
            "annotations": [],
            "logprobs": [],
        }
        item = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        at: dict[str, Any] = {"content_index": 0}
        kind = "response.output_text"
        return item, [
            {"type": "response.content_part.added", "part": {**part, "text": ""}, **at},
            *(
                {"type": f"{kind}.delta", "delta": word, "logprobs": [], **at}
                for word in words(text)
            ),
            {"type": f"{kind}.done", "text": text, "logprobs": [], **at},
            {"type": "response.content_part.done", "part": part, **at},
        ]

    def _response(self, model: str, status: str, items: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "model": model,
            "output": items,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "temperature": 1.0,
            "top_p": 1.0,
        }

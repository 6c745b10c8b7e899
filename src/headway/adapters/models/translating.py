"""A conversation in pydantic_ai's form, and its replies in ours."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias, assert_never

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from headway.domain.runs.messages import (
    Message,
    Reply,
    Results,
    StopReason,
    Told,
    ToolCall,
    ToolResult,
)

STOPS: Final[dict[str, StopReason]] = {
    "stop": "end",
    "tool_call": "end",  # said by those who then call nothing
    "length": "length",
    "content_filter": "refused",
}

# What one message becomes: a reply, or parts of the request that follows it.
Piece: TypeAlias = ModelResponse | tuple[ModelRequestPart, ...]


class Translation:
    """The messages of a talk; what was translated for the request before is not again.

    `marks_failures`: the provider has a mark of its own for a result that is a failure. Elsewhere
    such a result is plain text, which says so itself.
    """

    def __init__(self, *, marks_failures: bool) -> None:
        self._marks_failures = marks_failures
        self._messages: list[Message] = []
        self._pieces: list[Piece] = []

    def of(self, messages: Sequence[Message]) -> list[ModelMessage]:
        """Return the messages; texts and results that follow each other are one request."""
        pairs = zip(self._messages, messages, strict=False)
        known = next((i for i, (old, new) in enumerate(pairs) if old is not new), None)
        if known is None:
            known = min(len(self._messages), len(messages))
        del self._messages[known:], self._pieces[known:]
        for message in messages[known:]:
            self._pieces.append(self._piece(message))
            self._messages.append(message)
        return list(_grouped(self._pieces))

    def _piece(self, message: Message) -> Piece:
        match message:
            case Reply():
                response = _response_of(message)
                # Thoughts that a limit cut short of saying anything are refused by providers.
                return response if any(map(_says, response.parts)) else ()
            case Told(text=text):
                return (UserPromptPart(content=text),)
            case Results(results=results):
                names = self._names_called()
                return tuple(self._result(each, names) for each in results)
            case _:
                assert_never(message)

    def _names_called(self) -> dict[str, str]:
        """Return the tools that the last reply called, by call; what it answered calls nothing."""
        last = next((each for each in reversed(self._messages) if isinstance(each, Reply)), None)
        if last is None or last.answered:
            return {}
        return {call.id: call.name for call in last.calls}

    def _result(self, result: ToolResult, names: dict[str, str]) -> ModelRequestPart:
        if result.call not in names:
            return UserPromptPart(content=result.text)
        return ToolReturnPart(
            tool_name=names[result.call],
            content=result.text,
            tool_call_id=result.call,
            outcome="failed" if result.failed and self._marks_failures else "success",
        )


def with_own_ids(response: ModelResponse) -> ModelResponse:
    """Return a reply in which no two calls have one id, which some servers give to all."""
    seen: set[str] = set()
    parts: list[ModelResponsePart] = []
    for number, part in enumerate(response.parts):
        own = part
        if isinstance(part, ToolCallPart):
            if part.tool_call_id in seen:
                own = replace(part, tool_call_id=f"{part.tool_call_id}-{number}")
            seen.add(part.tool_call_id)
        parts.append(own)
    return replace(response, parts=parts)


def stop_of(response: ModelResponse, calls: Sequence[ToolCall]) -> StopReason | None:
    """Return why a reply ended; None when it did not, and was cut."""
    stop = STOPS.get(response.finish_reason or "")
    return "tools" if stop == "end" and calls else stop


def text_of(response: ModelResponse) -> str:
    """Return what a reply says, without what it thought."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def calls_of(response: ModelResponse) -> tuple[ToolCall, ...]:
    """Return the calls of a reply; arguments are as they were sent, JSON or not."""
    return tuple(
        ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=_arguments(part))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )


def native_of(response: ModelResponse) -> str:
    """Return a reply as it is needed again: with signatures and ids."""
    return ModelMessagesTypeAdapter.dump_json([response], exclude_none=True).decode()


def _arguments(part: ToolCallPart) -> str:
    return part.args if isinstance(part.args, str) and part.args else part.args_as_json_str()


def _response_of(reply: Reply) -> ModelResponse:
    if reply.native is not None:
        try:
            (kept,) = ModelMessagesTypeAdapter.validate_json(reply.native)
        except ValueError:  # another model's reply, in a form of its own
            kept = None
        if isinstance(kept, ModelResponse):
            return replace(kept, parts=[part for part in kept.parts if not _is_blank(part)])
    parts: list[ModelResponsePart] = [TextPart(content=reply.text)] if reply.text.strip() else []
    if not reply.answered:
        parts += [
            ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id)
            for call in reply.calls
        ]
    return ModelResponse(parts=parts)


def _says(part: ModelResponsePart) -> bool:
    return not isinstance(part, ThinkingPart)


def _is_blank(part: ModelResponsePart) -> bool:
    return isinstance(part, TextPart) and not part.content.strip()


def _grouped(pieces: Sequence[Piece]) -> Iterator[ModelMessage]:
    waiting: list[ModelRequestPart] = []
    for piece in pieces:
        if isinstance(piece, ModelResponse):
            if waiting:
                yield ModelRequest(parts=waiting)
                waiting = []
            yield piece
        else:
            waiting.extend(piece)
    if waiting:
        yield ModelRequest(parts=waiting)

"""What is said between a run and its model, in no provider's form.

A turn is one reply of the model with the results of the tools it called. Money is in millionths of
a US dollar, since an event holds no fractions.
"""

from typing import Literal, TypeAlias

from headway.domain.values import JsonObject, Value

# Where a text of ours comes from: a step's prompt, a person, or the engine itself, which tells a
# model that its turn is not over, what was found in its place, what earlier turns came to, or shows
# it those turns to be summed up.
Origin: TypeAlias = Literal["step", "steer", "nudge", "notice", "summary", "turns"]
# Why a model ended its reply. `length` is its own limit, met in mid-reply.
StopReason: TypeAlias = Literal["end", "tools", "length", "refused"]


class Told(Value, tag="told"):
    """A text of ours."""

    text: str
    origin: Origin


class ToolCall(Value):
    """A call a model asks for; `arguments` is the text it sent, which need not be JSON."""

    id: str
    name: str
    arguments: str


class Usage(Value):
    """What one reply took, in tokens; `cost` is None where the price is not known.

    `input_tokens` were neither read from the provider's cache nor written to it.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: int | None = None

    @property
    def size(self) -> int:
        """Return how long the conversation is with the reply, in tokens."""
        read = self.input_tokens + self.cache_read_tokens + self.cache_write_tokens
        return read + self.output_tokens


class Reply(Value, tag="reply"):
    """What a model said. `native` is the reply as its adapter needs it again, opaque to others.

    `answered`: it called nothing, and its one call is what its text was read as.
    """

    text: str
    stop: StopReason
    model: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    native: str | None = None
    answered: bool = False


class ToolResult(Value):
    """What came of a call. `interrupted`: it was begun and its end is not known.

    `whole` is set where `text` is a part of more: it is kept, and read by its name.
    """

    call: str
    text: str
    failed: bool = False
    interrupted: bool = False
    whole: str | None = None


class Results(Value, tag="results"):
    """The results of all calls of one reply, in the order of the calls."""

    results: tuple[ToolResult, ...]


Message: TypeAlias = Told | Reply | Results


class ToolSpec(Value):
    """A tool as a model is told of it; `schema` is that of its arguments."""

    name: str
    description: str
    schema: JsonObject


class ModelRequest(Value):
    """All that a model is sent for one reply.

    With `answer_schema` the model may end its turn with JSON of that form instead of calling the
    tool that completes a step.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    output_tokens_max: int = 8_192
    answer_schema: JsonObject | None = None

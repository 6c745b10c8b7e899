"""One tool: its arguments as a type, what it answers, and how it fails.

The arguments' type is also the schema the model is told, so the two cannot differ.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from headway.domain.runs.messages import ToolSpec
from headway.domain.values import JsonObject, Value

Arguments = TypeVar("Arguments", bound=Value)


class Answer(Value):
    """What a tool has to say, as long as it is; `failed` when it did not do what was asked."""

    text: str
    failed: bool = False


class ToolFailed(Exception):
    """The tool could not do what was asked; the message is for the model, with what to do next."""


class Callee(Protocol):
    """A tool of whatever arguments, as a set of tools knows it."""

    @property
    def spec(self) -> ToolSpec:
        """Return the tool as a model is told of it."""

    async def run(self, text: str) -> Answer:
        """Do what the text of the arguments asks. Raises ToolFailed and FatalToolError."""


class Tool(Generic[Arguments]):
    """A tool: its name, what the model is told of it, its arguments and its work.

    The work raises ToolFailed and FatalToolError; when it is cancelled, nothing of it goes on.
    """

    def __init__(
        self,
        name: str,
        description: str,
        arguments: type[Arguments],
        work: Callable[[Arguments], Awaitable[Answer]],
    ) -> None:
        self.spec: Final = ToolSpec(name=name, description=description, schema=schema_of(arguments))
        self._arguments = arguments
        self._work = work

    async def run(self, text: str) -> Answer:
        """Read the arguments and do the work. Raises ToolFailed for arguments that do not fit."""
        try:
            # Some models send nothing where there is nothing to say.
            arguments = msgspec.json.decode(text or "{}", type=self._arguments)
        except msgspec.ValidationError as error:
            raise ToolFailed(f"The arguments of {self.spec.name} do not fit: {error}.") from error
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
            raise ToolFailed(
                f"The arguments of {self.spec.name} are not JSON: {error}. Send one JSON object."
            ) from error
        return await self._work(arguments)


def schema_of(arguments: type[Value]) -> JsonObject:
    """Return the JSON Schema of a type of arguments, without references."""
    _, parts = msgspec.json.schema_components((arguments,))
    schema: dict[str, JsonObject] = parts[arguments.__name__]
    return {key: value for key, value in schema.items() if key not in {"title", "description"}}

"""Tools as the loop sees them: told to the model, called one at a time, never a surprise.

Laws.
1. A tool that fails answers: whatever the model did wrong, and whatever the world refused, is a
   result the model reads. Arguments that are no JSON and names that are unknown are such results.
2. What no further turn can mend is `FatalToolError`, and nothing else is: it ends the run.
3. A result is short enough for a conversation. Where there is more, `ToolResult.whole` holds it
   all, and the text says under which name `read_output` shows the rest.
"""

from typing import Final, Protocol

from headway.domain.ids import Digest, digest
from headway.domain.runs.messages import ToolCall, ToolResult, ToolSpec

COMPLETE_STEP: Final = "complete_step"  # the tool that hands in a step
OUTPUT_PREFIX: Final = "out_"
OUTPUT_CHARACTERS: Final = 16


class FatalToolError(Exception):
    """The run cannot go on: a token was not taken, the session is gone or its records are damaged.

    `code` is that of the fault it came from, `remedy` what a person can do.
    """

    def __init__(self, message: str, *, code: str, remedy: str) -> None:
        super().__init__(message)
        self.code: Final = code
        self.remedy: Final = remedy


class Tools(Protocol):
    """The tools of one run."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools as a model is told of them, always in the same order."""

    async def run(self, call: ToolCall) -> ToolResult:
        """Run one call and return what came of it.

        Raises FatalToolError. When it is cancelled, every process the call began is gone.
        """


class Outputs(Protocol):
    """The whole texts of results that were cut, as they were recorded with the run."""

    async def find(self, name: str) -> str | None:
        """Return the text of a name given by `output_name`, None when this run has none such."""


def output_name(text: str) -> str:
    """Return the name under which a cut text can be read."""
    return output_named(digest(text.encode("utf-8", "surrogatepass")))


def output_named(whole: Digest) -> str:
    """Return the name of a text with this digest."""
    return OUTPUT_PREFIX + whole.partition(":")[2][:OUTPUT_CHARACTERS]

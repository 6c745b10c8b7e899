"""The tools of a run together: finding the one that is called, and keeping answers short."""

import difflib
from collections.abc import Sequence
from typing import Final

from headway.agent.tooling import output_name
from headway.agent.tools.tool import Answer, Callee, ToolFailed
from headway.domain.runs.messages import ToolCall, ToolResult, ToolSpec

TEXT_CHARS_MAX: Final = 30_000
HEAD_CHARS: Final = 10_000  # of a text that is cut; what comes last, as errors do, gets more room
TAIL_CHARS: Final = 18_000


class Toolset:
    """Runs the calls of one run; see `Tools` for what it promises."""

    def __init__(self, tools: Sequence[Callee]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        assert len(self._tools) == len(tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools as a model is told of them."""
        return tuple(tool.spec for tool in self._tools.values())

    async def run(self, call: ToolCall) -> ToolResult:
        """Run one call. Raises FatalToolError."""
        try:
            answer = await self._found(call.name).run(call.arguments)
        except ToolFailed as failure:
            answer = Answer(text=str(failure), failed=True)
        text = shortened(answer.text)
        whole = None if text == answer.text else answer.text
        return ToolResult(call=call.id, text=text, failed=answer.failed, whole=whole)

    def _found(self, name: str) -> Callee:
        if name in self._tools:
            return self._tools[name]
        near = difflib.get_close_matches(name, self._tools, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        names = ", ".join(self._tools)
        raise ToolFailed(f"There is no tool called {name[:100]!r}.{meant} There are: {names}.")


def shortened(text: str) -> str:
    """Return a text as it may stand in a conversation: the middle of a long one is left out."""
    if len(text) <= TEXT_CHARS_MAX:
        return text
    left_out = len(text) - HEAD_CHARS - TAIL_CHARS
    return (
        f"{text[:HEAD_CHARS]}\n[... {left_out} characters are left out here; "
        f'read_output with output "{output_name(text)}" and offset {HEAD_CHARS} shows them ...]\n'
        f"{text[-TAIL_CHARS:]}"
    )

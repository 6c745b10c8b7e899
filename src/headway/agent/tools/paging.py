"""Reading on in an answer that was too long to stand in the conversation."""

from typing import Annotated, Final

from msgspec import Meta

from headway.agent.tooling import OUTPUT_PREFIX, Outputs
from headway.agent.tools.tool import Answer, Tool, ToolFailed
from headway.domain.values import Value

PAGE_CHARS: Final = 20_000


class ReadOutput(Value):
    """Arguments of read_output."""

    output: Annotated[str, Meta(description=f"Its name, which begins with {OUTPUT_PREFIX}.")]
    offset: Annotated[int, Meta(ge=0, description="The first character to show, from 0.")] = 0


def read_output(outputs: Outputs) -> Tool[ReadOutput]:
    """Return the tool that pages through the long answers of other tools."""

    async def work(arguments: ReadOutput) -> Answer:
        text = await outputs.find(arguments.output)
        if text is None:
            raise ToolFailed(f"No answer of this run is called {arguments.output[:100]!r}.")
        end = arguments.offset + PAGE_CHARS
        page = text[arguments.offset : end]
        if not page:
            raise ToolFailed(f"It has {len(text)} characters; the offset is past them.")
        if end < len(text):
            page += f"\n[{len(text) - end} characters follow: offset {end} shows them]"
        return Answer(text=page)

    return Tool(
        "read_output",
        "Show a part of an answer that was cut, by the name that was given where it was cut.",
        ReadOutput,
        work,
    )

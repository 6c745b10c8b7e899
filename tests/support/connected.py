"""An MCP client of the protocol library on our server, in this process, asked from plain tests."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Literal, TypeAlias

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, Implementation, TextContent

from headway.domain.values import Json
from tests.support.patience import SECONDS_MAX

Era: TypeAlias = Literal["legacy", "2026-07-28"]  # sessions by handshake, or calls by themselves


class Connected:
    """A client that has shaken hands; every call waits for its answer."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def ask(self, tool: str, **arguments: Json) -> CallToolResult:
        return self.post(tool, **arguments).result()

    def post(self, tool: str, **arguments: Json) -> "Future[CallToolResult]":
        """Send a call without waiting for its answer."""
        return self.portal.start_task_soon(self.client.call_tool, tool, arguments, SECONDS_MAX)

    def call(self, tool: str, **arguments: Json) -> dict[str, Json]:
        return structured(self.ask(tool, **arguments))

    def told(self, tool: str, **arguments: Json) -> str:
        """Return the text of an answer, which is all that some agents see."""
        return text_of(self.ask(tool, **arguments))


def structured(result: CallToolResult) -> dict[str, Json]:
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@contextmanager
def connected(
    server: Server,
    era: Era = "legacy",
    elicit: ElicitationFnT | None = None,
    name: str = "tests",
) -> Iterator[Connected]:
    """Connect a client to a server; `elicit` is what its user answers when the server asks."""
    who = Implementation(name=name, version="1")
    client = Client(server, mode=era, elicitation_callback=elicit, cache=None, client_info=who)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as entered:
        yield Connected(portal, entered)

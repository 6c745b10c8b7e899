"""The MCP library's own client, speaking to `headway mcp`, which passes all on to the server."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from headway.application.requests import Json, JsonObject
from headway.cli.demo.serving import log_of
from headway.cli.demo.shell import DemoFailedError

CALL_SECONDS_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Connection:
    """One client's connection, which outlives the server."""

    client: Client

    async def call(self, tool: str, arguments: dict[str, Json]) -> JsonObject:
        """Return a tool's structured reply. Raises DemoFailedError when it is an error."""
        try:
            result = await self.client.call_tool(
                tool, arguments, read_timeout_seconds=CALL_SECONDS_MAX
            )
        except MCPError as error:
            raise DemoFailedError(f"{tool} was not answered: {error}") from error
        reply = result.structured_content
        if result.is_error or not isinstance(reply, dict):
            raise DemoFailedError(f"{tool} failed: {reply}")
        return reply

    async def tools(self) -> int:
        """Return how many tools are offered."""
        return len((await self.client.list_tools()).tools)


@asynccontextmanager
async def connected(folder: Path, environment: Mapping[str, str]) -> AsyncIterator[Connection]:
    """Start `headway mcp` as an agent's program would, and connect to it."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "headway", "mcp"],
        env=dict(environment),
        cwd=folder,
    )
    with log_of(folder).open("a", encoding="utf-8") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            yield Connection(client)


def log_tail(folder: Path, lines: int = 20) -> str:
    """Return the last lines that the servers and `headway mcp` logged."""
    log = log_of(folder)
    if not log.exists():
        return ""
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-lines:])


def environment_of_children(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the environment of this process with the demo's home and no other setting of ours.

    This Python goes first: what is typed as `python3` is the one that runs the demo.
    """
    kept = {name: text for name, text in environment.items() if not name.startswith("HEADWAY_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])
    return kept | {"HEADWAY_HOME": str(home), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

"""A real server process and the MCP library's own client on its stdin and stdout."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from headway.application.requests import Json, JsonObject
from headway.cli.demo.shell import DemoFailedError

CALL_SECONDS_MAX: Final = 20
# The shell writes its process id down and then becomes the server, so the id is the server's.
LAUNCH: Final = ("-c", 'echo $$ >"$0" && exec "$@"')


@dataclass(frozen=True, slots=True)
class Connection:
    """One client on one server process."""

    client: Client
    pid: int

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
        """Return how many tools the server offers."""
        return len((await self.client.list_tools()).tools)

    async def kill(self) -> None:
        """Kill the server with SIGKILL and see for ourselves that it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        with anyio.fail_after(CALL_SECONDS_MAX):
            try:
                await self.client.list_tools(cache_mode="bypass")
            except MCPError:
                return
        raise DemoFailedError(f"The server (pid {self.pid}) answered after it was killed.")


@asynccontextmanager
async def connected(folder: Path, home: Path) -> AsyncIterator[Connection]:
    """Start a server on a home and connect to it; at the end it is gone."""
    pid_file, log = folder / "server.pid", folder / "server.log"
    pid_file.unlink(missing_ok=True)
    parameters = StdioServerParameters(
        command="/bin/sh",
        args=[*LAUNCH, str(pid_file), sys.executable, "-m", "headway", "mcp"],
        env={"HEADWAY_HOME": str(home)},
        cwd=folder,
    )
    with log.open("a", encoding="utf-8") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            yield Connection(client, int(pid_file.read_text("utf-8")))


def log_tail(folder: Path, lines: int = 20) -> str:
    """Return the last lines the servers logged."""
    log = folder / "server.log"
    if not log.exists():
        return ""
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-lines:])


def environment_of_server(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return what settings of this process look like when they are read for the demo's home."""
    kept = {name: text for name, text in environment.items() if not name.startswith("HEADWAY_")}
    return kept | {"HEADWAY_HOME": str(home)}

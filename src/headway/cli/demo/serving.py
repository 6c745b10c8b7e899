"""A real `headway up` in a process of its own: started, killed, started again, told to stop."""

import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import Struct, json

from headway.cli.demo.shell import DemoFailedError

START_SECONDS_MAX: Final = 30
STOP_SECONDS_MAX: Final = 30
LINE_BYTES_MAX: Final = 64 * 1024


class Said(Struct, frozen=True):
    """What `headway up --json` says when it serves, as far as we need it."""

    mcp: str


@dataclass(frozen=True, slots=True)
class Server:
    """A server that serves: its process and the address of its MCP endpoint."""

    process: Process
    url: str

    @property
    def pid(self) -> int:
        """Return the id of its process."""
        return self.process.pid

    async def kill(self) -> None:
        """Kill it with SIGKILL, which no process can answer, and see that it is gone."""
        self.process.kill()
        await self._ended(-signal.SIGKILL)

    async def stop(self) -> None:
        """Tell it to stop, as a person would with Ctrl-C, and see that it ends well."""
        self.process.terminate()
        await self._ended(0)

    async def _ended(self, expected: int) -> None:
        with anyio.fail_after(STOP_SECONDS_MAX):
            code = await self.process.wait()
        if code != expected:
            raise DemoFailedError(f"The server ended with {code}, not with {expected}.")


@asynccontextmanager
async def serving(folder: Path, environment: Mapping[str, str]) -> AsyncIterator[Server]:
    """Start a server on any free port and yield it once it serves; at the end it is gone."""
    command = [sys.executable, "-m", "headway", "up", "--no-worker", "--port", "0", "--json"]
    with log_of(folder).open("ab") as log:
        process = await anyio.open_process(
            command, stdin=DEVNULL, stderr=log, env=environment, cwd=folder
        )
        async with process:
            try:
                yield Server(process, await _address(process))
            finally:
                if process.returncode is None:
                    process.kill()


def log_of(folder: Path) -> Path:
    """Return the file that the servers log to."""
    return folder / "server.log"


async def _address(process: Process) -> str:
    """Wait for the line in which a server says where it serves."""
    assert process.stdout is not None
    line = b""
    with anyio.move_on_after(START_SECONDS_MAX):
        try:
            line = await BufferedByteReceiveStream(process.stdout).receive_until(
                b"\n", LINE_BYTES_MAX
            )
        except anyio.IncompleteRead:
            raise DemoFailedError("The server ended before it served.") from None
    if not line:
        raise DemoFailedError(f"The server did not serve within {START_SECONDS_MAX} seconds.")
    return json.decode(line, type=Said).mcp

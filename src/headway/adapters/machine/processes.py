"""Commands on this machine: one process group each, killed whole, and none of our secrets in sight.

The group is killed when the command ends, when its time is up, when the call is cancelled, and, by
a watcher in the group that reads from a pipe of ours, when this very process dies. A process that
makes itself a session of its own leaves the group; to hold that too is the business of a sandbox,
which goes before the command (`before`).
"""

import asyncio
import contextlib
import os
import re
import signal
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

import anyio

from headway.ports.owners import MARK
from headway.ports.processes import CannotRun, Ended

GRACE_SECONDS: Final = 2.0  # between asking a group to end and killing it
DRAIN_SECONDS: Final = 1.0  # for what a process outside the group may still hold open
KEPT_BYTES_MAX: Final = 4 << 20  # of each end of an output
CHUNK_BYTES: Final = 1 << 16
# Settings of ours, of git and of models' providers, whose addresses may hold a password.
SECRET: Final = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|^HEADWAY_|^GIT_|^ANTHROPIC_|^OPENAI_", re.IGNORECASE
)
QUIET: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
# The watcher kills its group once nobody holds the other end of the pipe. It holds no output.
WATCHED: Final = (
    '(read -r _ <&"$1"; kill -KILL 0) >/dev/null 2>&1 & eval "exec $1<&-"; shift; exec "$@"'
)


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment less whatever looks like a secret and our own settings."""
    return {name: text for name, text in environment.items() if not SECRET.search(name)}


class HostProcesses:
    """Implements `Processes`.

    `environment` is what commands see, less whatever looks like a secret and our own settings, but
    for the mark of a run; `before` is put before each command, where a sandbox is to confine it.
    """

    def __init__(self, environment: Mapping[str, str], before: Sequence[str] = ()) -> None:
        self._before = tuple(before)
        mark = {MARK: environment[MARK]} if MARK in environment else {}
        self._environment = without_secrets(environment) | mark | QUIET

    async def run(self, command: str, folder: str, seconds: float) -> Ended:
        """Run a command to its end or to its deadline."""
        output = _Output()
        printed, prints = os.pipe()  # a pipe of asyncio's would make the end wait for every holder
        held, ours = os.pipe()
        try:
            process = await self._start(command, folder, held, prints)
        except BaseException:
            os.close(printed)
            os.close(ours)
            raise
        finally:
            os.close(held)
            os.close(prints)
        try:
            in_time = await _follow(process, output, printed, seconds)
        finally:
            os.close(ours)
        assert process.returncode is not None
        return output.ended(process.returncode, in_time=in_time)

    async def _start(self, command: str, folder: str, held: int, prints: int) -> Process:
        line = [*self._before, "bash", "-c", command]
        try:
            return await asyncio.create_subprocess_exec(
                *("bash", "-c", WATCHED, "bash", str(held), *line),
                cwd=folder,
                env=self._environment,
                stdin=DEVNULL,
                stdout=prints,
                stderr=STDOUT,
                start_new_session=True,
                pass_fds=(held,),
            )
        except (OSError, ValueError) as error:
            raise CannotRun(str(error)) from error


class _Output:
    """What a command printed: both ends of it, and how much lies between."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._lost = 0

    def add(self, data: bytes) -> None:
        room = KEPT_BYTES_MAX - len(self._head)
        self._head += data[:room]
        rest = data[room:]
        if rest:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail_bytes - len(self._tail[0] if self._tail else b"") >= KEPT_BYTES_MAX:
            dropped = len(self._tail.popleft())
            self._tail_bytes -= dropped
            self._lost += dropped

    def ended(self, code: int, *, in_time: bool) -> Ended:
        return Ended(
            code=code,
            head=bytes(self._head),
            tail=b"".join(self._tail),
            lost=self._lost,
            in_time=in_time,
        )


async def _follow(process: Process, output: _Output, printed: int, seconds: float) -> bool:
    """Read what a process prints until it ends; tell whether that was in time.

    However this is left, its group is gone.
    """
    reading = asyncio.create_task(_read(printed, output))
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE_SECONDS)
        return False
    finally:
        _signal(process, signal.SIGKILL)
        # Who was cancelled is so at every wait; what was killed is waited for all the same.
        with anyio.CancelScope(shield=True):
            await process.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(reading, DRAIN_SECONDS)
    return True


async def _read(printed: int, output: _Output) -> None:
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(printed, "rb")
    )
    try:
        while data := await reader.read(CHUNK_BYTES):
            output.add(data)
    finally:
        transport.close()


def _signal(process: Process, number: signal.Signals) -> None:
    """Signal the group of a process, which may outlive it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)

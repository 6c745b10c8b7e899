"""The same tools without a server: a child process that serves this home on its stdin and stdout.

It stands in when a server has gone, until one is there again. It ends by itself when the relay
does, since its stdin ends then.
"""

import json
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO

from headway.mcp.relay.failures import UNSERVED, Unserved
from headway.mcp.relay.handshake import INITIALIZED, Handshake
from headway.mcp.relay.messages import Message
from headway.mcp.relay.remote import Tell
from headway.mcp.relay.wire import Cut


class _Owed:
    """An answer that a thread waits for."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.lost = False


class Local:
    """One such process; it is told at once what the client opened with."""

    def __init__(self, handshake: Handshake, tell: Tell) -> None:
        """Start it. Raises Cut when it does not serve, Unserved when it speaks another protocol."""
        self._tell = tell
        self._lock = threading.Lock()
        self._owed: dict[int | str, list[_Owed]] = {}
        self._gone = False
        self._served = False
        command = [sys.executable, "-m", "headway", "mcp", "--in-process"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        if handshake.asked is not None:
            self._write(handshake.asked.line)
            answer = self._process.stdout.readline()
            if not answer:
                self._process.kill()
                self._process.wait()
                raise Cut("the process that was to serve ended")
            handshake.check(answer)
            self._served = True
            self._write(INITIALIZED)
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()

    def ask(self, message: Message, tell: Tell) -> None:  # noqa: ARG002 - `_listen` tells it
        """Pass a request on and wait until its answer was told.

        Raises Cut, or Unserved when it ended without ever having answered.
        """
        assert message.request is not None
        owed = _Owed()
        with self._lock:
            if self._gone:
                raise Cut("the process that served has ended")
            self._owed.setdefault(message.request, []).append(owed)
        self._write(message.line)
        owed.ended.wait()
        if owed.lost and not self._served:
            raise Unserved(UNSERVED)
        if owed.lost:
            raise Cut("the process that served ended")

    def say(self, message: Message) -> None:
        """Pass on what wants no answer. Raises Cut."""
        self._write(message.line)

    def cancel(self, request: int | str) -> None:
        """Expect no answer to a request any more."""
        self._settle(request)

    def close(self) -> None:
        """End it."""
        self._process.terminate()

    def may_retire(self) -> bool:
        """Tell whether it owes no answer: a question it asked the client is answered to it."""
        with self._lock:
            return not self._owed

    def retire(self) -> None:
        """End its input, and thereby itself."""
        with self._lock, suppress(OSError):  # it may have left already
            self._stdin.close()

    def _write(self, line: bytes) -> None:
        with self._lock:
            try:
                self._stdin.write(line + b"\n")
                self._stdin.flush()
            except (OSError, ValueError) as error:
                raise Cut(str(error)) from error

    def _listen(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self._tell(line.rstrip(b"\n"))
            content = json.loads(line)
            if "method" not in content:
                self._served = True
                self._settle(content.get("id"))
        self._process.wait()
        with self._lock:
            self._gone = True
            lost = [owed for each in self._owed.values() for owed in each]
        for owed in lost:
            owed.lost = True
            owed.ended.set()

    def _settle(self, request: int | str) -> None:
        with self._lock:
            waiting = self._owed.get(request, [])
            owed = waiting.pop(0) if waiting else None
            if not waiting:
                self._owed.pop(request, None)
        if owed is not None:
            owed.ended.set()

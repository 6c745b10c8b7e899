"""Relaying: every line of the client goes to whoever serves this home, now or after a break.

Theory of operation. The main thread reads lines. What wants no answer it passes on itself, in
order; each request gets a thread, which asks until it has an answer: the server by its lock file,
after a cut the one that is there then, and where none comes back a process of our own. When stdin
ends, the answers still owed are written first. A client that no longer reads ends the relay at
once: it holds nothing that would have to be put away.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from headway import __version__
from headway.mcp.relay.failures import UNSERVED, Unserved, fits, other_version, silent
from headway.mcp.relay.handshake import Handshake
from headway.mcp.relay.messages import Message, cancelled_request, read_message
from headway.mcp.relay.remote import Remote, Tell
from headway.mcp.relay.wire import Cut
from headway.server_lock import Running

REQUESTS_AT_ONCE_MAX: Final = 64  # further lines are not read before one was answered
DRAIN_SECONDS_MAX: Final = 60.0  # for answers still owed when stdin ends; longer than any patience
ABSENT_SECONDS_MAX: Final = 5.0  # a server that restarts is back within this
SILENT_SECONDS_MAX: Final = 30.0  # one that holds the lock but cannot be reached
PAUSE_SECONDS_MIN: Final = 0.02
PAUSE_SECONDS_MAX: Final = 0.5

Look: TypeAlias = Callable[[], Running | None]


class Upstream(Protocol):
    """Whoever serves: a server, or a process of our own."""

    def ask(self, message: Message, tell: Tell) -> None:
        """Pass a request on and `tell` what comes back. Raises Cut, Unserved."""

    def say(self, message: Message) -> None:
        """Pass on what wants no answer. Raises Cut."""

    def cancel(self, request: int | str) -> None:
        """Give an answer up."""

    def close(self) -> None:
        """Let it go."""


class Patience:
    """How long a request has been without a server; waits a little longer each time."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._pause = PAUSE_SECONDS_MIN

    def spent(self) -> float:
        """Return the seconds since the cut."""
        return time.monotonic() - self._since

    def wait(self) -> None:
        """Wait before the next look."""
        time.sleep(self._pause)
        self._pause = min(self._pause * 2, PAUSE_SECONDS_MAX)


class Relay:
    """One client's connection, through however many servers."""

    def __init__(self, look: Look, out: int, token: str | None) -> None:
        self._look = look
        self._token = token
        self._out = out
        self._writing = threading.Lock()
        self._finding = threading.Lock()
        self._upstream: Upstream | None = None
        self._handshake = Handshake()
        self._room = threading.Semaphore(REQUESTS_AT_ONCE_MAX)
        self._asking: dict[threading.Thread, int | str] = {}
        self._cancelled: set[int | str] = set()

    def receive(self, line: bytes) -> None:
        """Take a line of the client."""
        message = read_message(line)
        if not isinstance(message, Message):
            self.tell(message)
        elif message.request is None:
            self._say(message)
        else:
            self._room.acquire()
            asking = (message, message.request)
            thread = threading.Thread(target=self._ask, args=asking, daemon=True)
            self._asking[thread] = message.request
            thread.start()

    def drain(self) -> None:
        """Wait, for a while, until every request was answered."""
        until = time.monotonic() + DRAIN_SECONDS_MAX
        for thread in list(self._asking):
            thread.join(max(0.0, until - time.monotonic()))

    def tell(self, line: bytes) -> None:
        """Write a line to the client; where nobody reads any more, end the process."""
        rest = memoryview(line.replace(b"\n", b" ") + b"\n")
        with self._writing:
            try:
                while rest:
                    rest = rest[os.write(self._out, rest) :]
            except OSError:
                os._exit(0)

    def _ask(self, message: Message, request: int | str) -> None:
        try:
            self._ask_until_answered(message, request)
        except Unserved as unserved:
            self.tell(unserved.failure.reply(request))
        finally:
            self._cancelled.discard(request)
            del self._asking[threading.current_thread()]
            self._room.release()

    def _ask_until_answered(self, message: Message, request: int | str) -> None:
        patience: Patience | None = None
        while request not in self._cancelled:
            upstream = self._find(patience or Patience())
            try:
                upstream.ask(message, self.tell)
            except Cut as cut:
                if request in self._cancelled:
                    return
                self._lose(upstream)
                patience = patience or Patience()
                if patience.spent() > SILENT_SECONDS_MAX:
                    raise Unserved(silent(message, str(cut))) from cut
                patience.wait()
            else:
                return

    def _say(self, message: Message) -> None:
        request = cancelled_request(message)
        if request is not None and request in self._asking.values():
            self._cancelled.add(request)
        upstream = self._upstream
        if upstream is None:
            return  # whoever serves next has not heard of what this is about
        try:
            upstream.say(message)
        except Cut:
            self._lose(upstream)
        if request is not None:
            upstream.cancel(request)

    def _find(self, patience: Patience) -> Upstream:
        """Return whoever serves now, waiting for it. Raises Unserved."""
        with self._finding:
            while self._upstream is None:
                running = self._look()
                if running is not None:
                    self._upstream = self._remote(running)
                elif patience.spent() > ABSENT_SECONDS_MAX:
                    self._upstream = self._local()
                else:
                    patience.wait()
            return self._upstream

    def _lose(self, upstream: Upstream) -> None:
        with self._finding:
            if self._upstream is upstream:
                self._upstream = None
        upstream.close()

    def _remote(self, running: Running) -> Remote:
        if not fits(running.version, __version__):
            raise Unserved(other_version(running, __version__))
        host = running.url.removeprefix("http://").rpartition(":")[0].strip("[]")
        headers = {"User-Agent": f"headway-mcp/{__version__}"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        return Remote(host, running.port, self._handshake, headers)

    def _local(self) -> Upstream:
        from headway.mcp.relay.local import Local

        try:
            return Local(self._handshake, self.tell)
        except Cut as cut:
            raise Unserved(UNSERVED) from cut

"""Relaying: every line of the client goes to whoever serves this home, now or after a break.

Theory of operation. The main thread reads lines. What wants no answer it passes on itself, in
order; each request gets a thread, which asks until it has an answer: the server by its lock file,
after a cut the one that is there then, and where none comes back a process of our own, until a
server is there again. When stdin ends, the answers still owed are written first. A client that no
longer reads ends the relay at once: it holds nothing that would have to be put away.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

from headway import __version__
from headway.mcp.relay.failures import BROKEN, UNSERVED, Unserved, fits, other_version, silent
from headway.mcp.relay.handshake import Handshake
from headway.mcp.relay.messages import Message, cancelled_request, read_message
from headway.mcp.relay.remote import Remote, Tell
from headway.mcp.relay.wire import Cut
from headway.server_lock import Running

REQUESTS_AT_ONCE_MAX: Final = 64  # further lines are not read before one was answered
DRAIN_SECONDS_MAX: Final = 60.0  # for answers still owed when stdin ends; longer than any patience
PAUSE_SECONDS_MIN: Final = 0.02
PAUSE_SECONDS_MAX: Final = 0.5

Look: TypeAlias = Callable[[], Running | None]


class Wishes(NamedTuple):
    """What a client came with: its token, and settings that count only where the home is served."""

    token: str | None = None
    settings: Mapping[str, str] = {}


class Limits(NamedTuple):
    """How long to wait, in seconds: for a server that has gone, and for one that is not reached."""

    absent: float = 5.0  # a server that restarts is back within this
    silent: float = 30.0  # it holds the lock, and its door stays shut


class Upstream(Protocol):
    """Whoever serves: a server, or a process of our own that stands in for one."""

    def ask(self, message: Message, tell: Tell) -> None:
        """Pass a request on and `tell` what comes back. Raises Cut, Unserved."""

    def say(self, message: Message) -> None:
        """Pass on what wants no answer. Raises Cut."""

    def cancel(self, request: int | str) -> None:
        """Give an answer up."""

    def close(self) -> None:
        """Let it go: it is lost."""

    def may_retire(self) -> bool:
        """Tell whether a server, once there is one, is to be asked instead from now on."""

    def retire(self) -> None:
        """Let it end: nothing more is asked of it."""


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

    def __init__(self, look: Look, out: int, wishes: Wishes, limits: Limits = Limits()) -> None:  # noqa: B008 - a constant
        self._look = look
        self._wishes = wishes
        self._limits = limits
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
        except Exception:  # noqa: BLE001 - the outermost loop of a request: it must get an answer
            import traceback

            _log(f"a request could not be passed on\n{traceback.format_exc()}")
            self.tell(BROKEN.reply(request))
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
                if patience.spent() > self._limits.silent:
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
            self._return_to_server()
            while self._upstream is None:
                running = self._look()
                if running is not None:
                    self._upstream = self._remote(running)
                elif patience.spent() > self._limits.absent:
                    self._upstream = self._local()
                else:
                    patience.wait()
            return self._upstream

    def _return_to_server(self) -> None:
        """Ask a server again, once there is one, instead of the process that stands in for it."""
        upstream = self._upstream
        if upstream is None or not upstream.may_retire():
            return
        running = self._look()
        if running is not None and fits(running.version, __version__):
            _log("a server serves this home again; going back to it")
            self._upstream = self._remote(running)
            upstream.retire()

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
        token = self._wishes.token or _token_in(running.token_file)
        if token is not None and token.isascii() and token.isprintable():
            headers["Authorization"] = f"Bearer {token}"
        self._tell_differences(running)
        return Remote(host, running.port, self._handshake, headers)

    def _tell_differences(self, running: Running) -> None:
        for name, asked in self._wishes.settings.items():
            used = running.settings.get(name, asked)
            if used != asked:
                _log(
                    f"{name} is {asked!r} here, which does not count: the server of this home "
                    f"(pid {running.pid}) has {used!r}. Set it for headway up."
                )

    def _local(self) -> Upstream:
        from headway.mcp.relay.local import Local

        _log("the server has gone; serving this home in process")
        try:
            return Local(self._handshake, self.tell)
        except (Cut, OSError) as error:  # it ended, or could not be started at all
            raise Unserved(UNSERVED) from error


def _token_in(file: str | None) -> str | None:
    """Return the token in a server's file; None where it cannot be read, which the server tells."""
    if file is None:
        return None
    try:
        return Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _log(text: str) -> None:
    sys.stderr.write(f"headway mcp: {text}\n")

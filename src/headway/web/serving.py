"""Listening and serving: a port, an event loop, and an orderly end."""

import asyncio
import contextlib
import errno
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from headway.web.wire import Wire

PORT: Final = 7430
PORTS_TRIED_MAX: Final = 20
BACKLOG: Final = 2048
OPEN_FILES_MAX: Final = 65_536
DRAIN_SECONDS_MAX: Final = 10
# Longer than a client keeps a connection it does not use, so that it is the client who closes it.
KEEP_ALIVE_SECONDS: Final = 75
STOPPING: Final = (signal.SIGTERM, signal.SIGINT)


class PortTaken(Exception):
    """No port could be had: the first and the last one tried."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__(f"{first}-{last}")
        self.first: Final = first
        self.last: Final = last


def raise_open_files_limit() -> None:
    """Let as many connections be open as the system allows this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES_MAX if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES_MAX)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket on a port, or on the first free one of the usual ports.

    Raises PortTaken, or OSError for a host that is none of this machine's.
    """
    first, tries = (PORT, PORTS_TRIED_MAX) if port is None else (port, 1)
    for each in range(first, first + tries):
        try:
            return _listen_on(host, each)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    raise PortTaken(first, first + tries - 1)


def _listen_on(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def serve(app: ASGIApp, listener: socket.socket, started: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; then let calls in flight have their answers, for a while.

    `started` is called once, when requests are taken and a signal is heeded. A SIGINT during the
    wait ends it.
    """
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=Wire,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS_MAX,
    )
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_Server(config, started).serve([listener]))


class _Server(uvicorn.Server):
    """Says when it has started; ends well on a signal, where uvicorn would raise it once more."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._say_started()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for each in STOPPING:
            loop.add_signal_handler(each, self.handle_exit, each, None)
        try:
            yield
        finally:
            for each in STOPPING:
                loop.remove_signal_handler(each)

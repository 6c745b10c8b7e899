"""A line to a server that can be cut, or fall silent, at the worst moment: beside a commit."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

COMMIT = b"COMMIT"
CHUNK = 65_536

# `before`: the server never hears of the commit. `after`: it does, but its answer is lost. `mute`:
# as `after`, but the line stays open, so that nobody is told that no answer will come.
Moment = Literal["before", "after", "mute"]


class Line:
    """Passes everything on but, once when told, a commit or the answer to one.

    While `mute` is set, no answer of the server comes through at all.
    """

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.port: int = self._listener.getsockname()[1]
        self.cut_next: Moment | None = None
        self.cuts = 0
        self.mute = threading.Event()
        self._start(self._accept)

    def close(self) -> None:
        for each in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in (self._listener, *self._sockets):
            each.close()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                for each in (client, server):  # or small words wait 40 ms for company
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets += [client, server]
                silent = threading.Event()
                self._start(self._ask, client, server, silent)
                self._start(self._answer, server, client, silent)

    def _ask(self, client: socket.socket, server: socket.socket, silent: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(CHUNK):
                moment = self.cut_next if COMMIT in data else None
                if moment is not None:
                    self.cut_next = None
                    self.cuts += 1
                    silent.set()
                if moment != "before":
                    server.sendall(data)
                if moment in {"before", "after"}:
                    client.shutdown(socket.SHUT_RDWR)
                    return  # the server does not hear that the client has gone
            server.shutdown(socket.SHUT_RDWR)

    def _answer(
        self, server: socket.socket, client: socket.socket, silent: threading.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(CHUNK):
                if not (silent.is_set() or self.mute.is_set()):
                    client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(host: str, port: int) -> Iterator[Line]:
    line = Line(host, port)
    try:
        yield line
    finally:
        line.close()

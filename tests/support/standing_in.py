"""A stand-in for the server of a home: what a test scripts it to answer, on a real socket.

It is announced in `server.lock` like a server, so that a relay finds it.
"""

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from headway import __version__
from headway.server_lock import Running, ServerLock

Answer: TypeAlias = Callable[[bytes], bytes | None]


class StandIn:
    """Hands each request's body to `answer`, which returns the raw response; None hangs up."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.hung_up = threading.Event()
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self._start(self._accept)

    def close(self) -> None:
        for each in (self._listener, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in (self._listener, *self._open):
            each.close()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client.makefile("rb") as reader:
            while reader.readline():
                headers = http.client.parse_headers(reader)
                answer = self._answer(reader.read(int(headers["content-length"])))
                if answer is None:
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(answer)
            self.hung_up.set()


def reply(
    body: bytes, status: int = 200, kind: str = "application/json", session: str = ""
) -> bytes:
    lines = [
        f"HTTP/1.1 {status} X",
        f"content-type: {kind}",
        f"content-length: {len(body)}",
        *([f"mcp-session-id: {session}"] if session else []),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def standing_in(home: Path, answer: Answer, version: str = __version__) -> Iterator[StandIn]:
    stand_in = StandIn(answer)
    lock = ServerLock(home)
    lock.announce(
        Running(pid=1, host="127.0.0.1", port=stand_in.port, version=version, started_at="then")
    )
    try:
        yield stand_in
    finally:
        lock.release()
        stand_in.close()

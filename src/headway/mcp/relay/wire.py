"""HTTP/1.1 as far as the relay needs it: one POST after another on a kept connection.

By hand on a socket: the standard library's client takes longer to import than the rest of the
relay takes to start. It speaks to our own server alone, and takes anything it does not know for a
cut line.
"""

import select
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

CONNECT_SECONDS_MAX: Final = 5.0
SEND_SECONDS_MAX: Final = 30.0
QUIET_SECONDS_MAX: Final = 15.0  # then a server is asked whether it still answers anything
AWAKE_SECONDS_MAX: Final = 15.0
HEAD_LINE_BYTES_MAX: Final = 64 * 1024
HEAD_LINES_MAX: Final = 200
BODY_BYTES_MAX: Final = 256 * 1024 * 1024
FINAL_STATUS_MIN: Final = 200
CHUNK_BYTES: Final = 256 * 1024


class Cut(Exception):
    """The line to the server broke: whether it did what it was asked is not known."""


class Answer(NamedTuple):
    """The head of an answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]

    @property
    def kind(self) -> str:
        """Return the media type of the body."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Connection:
    """One connection to a server; `body` must be read to its end before the next `post`."""

    def __init__(self, host: str, port: int) -> None:
        """Connect. Raises Cut."""
        try:
            self._socket = socket.create_connection((host, port), CONNECT_SECONDS_MAX)
        except OSError as error:
            raise Cut(str(error)) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = self._socket.makefile("rb", CHUNK_BYTES)
        self._address = (host, port)
        self.reusable = False

    def post(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request and return the head of its answer. Raises Cut."""
        self.reusable = False
        fields = {"Host": _authority(*self._address), "Content-Length": str(len(body)), **headers}
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {text}" for name, text in fields.items())]
        try:
            self._socket.settimeout(SEND_SECONDS_MAX)
            self._socket.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            self._socket.settimeout(None)  # a call may take as long as it takes
            self._await_word()
        except (OSError, ValueError) as error:  # ValueError: closed meanwhile
            raise Cut(str(error)) from error
        return self._head()

    def body(self, answer: Answer) -> Iterator[bytes]:
        """Yield the body of an answer as it comes. Raises Cut."""
        if answer.headers.get("transfer-encoding", "").lower() == "chunked":
            yield from self._chunks()
        elif "content-length" in answer.headers:
            yield from self._counted(_number(answer.headers["content-length"], 10))
        elif answer.status not in {202, 204}:
            raise Cut("an answer without a length")
        self.reusable = answer.headers.get("connection", "").lower() != "close"

    def is_alive(self) -> bool:
        """Tell whether the server still listens on an idle connection."""
        try:
            self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False  # it hung up, or said what nobody asked

    def close(self) -> None:
        """Hang up, also under a thread that waits for an answer."""
        with suppress(OSError):  # the other side was first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _await_word(self) -> None:
        """Wait until an answer begins. A dead server resets the line, a stopped one keeps it."""
        while not select.select((self._socket,), (), (), QUIET_SECONDS_MAX)[0]:
            if not _is_awake(*self._address):
                raise Cut("it takes calls and answers none")

    def _head(self) -> Answer:
        while True:
            words = self._line().split(" ", 2)
            if not words[0].startswith("HTTP/1.") or len(words) == 1:
                raise Cut("an answer that is not HTTP")
            headers = {}
            for _ in range(HEAD_LINES_MAX):
                line = self._line()
                if not line:
                    break
                name, _, text = line.partition(":")
                headers[name.strip().lower()] = text.strip()
            else:
                raise Cut("an answer with too many headers")
            status = _number(words[1], 10)
            if status >= FINAL_STATUS_MIN:
                return Answer(status, headers)

    def _chunks(self) -> Iterator[bytes]:
        total = 0
        while size := _number(self._line().partition(";")[0], 16):
            total += size
            yield from self._counted(size, total)
            self._line()
        while self._line():
            pass  # trailers

    def _counted(self, size: int, total: int = 0) -> Iterator[bytes]:
        if max(size, total) > BODY_BYTES_MAX:
            raise Cut("an answer beyond the limit")
        while size:
            try:
                data = self._reader.read(min(size, CHUNK_BYTES))
            except (OSError, ValueError) as error:  # ValueError: closed meanwhile
                raise Cut(str(error)) from error
            if not data:
                raise Cut("the server left in the middle of an answer")
            size -= len(data)
            yield data

    def _line(self) -> str:
        try:
            line = self._reader.readline(HEAD_LINE_BYTES_MAX)
        except (OSError, ValueError) as error:  # ValueError: closed meanwhile
            raise Cut(str(error)) from error
        if not line.endswith(b"\n"):
            raise Cut("the server left")
        return line.rstrip(b"\r\n").decode("latin-1")


def _is_awake(host: str, port: int) -> bool:
    """Tell whether a server answers on another line."""
    asked = f"GET /healthz HTTP/1.1\r\nHost: {_authority(host, port)}\r\nContent-Length: 0\r\n"
    try:
        with socket.create_connection((host, port), AWAKE_SECONDS_MAX) as line:
            line.sendall(f"{asked}Connection: close\r\n\r\n".encode())
            return bool(line.recv(1))
    except OSError:
        return False


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _number(text: str, base: int) -> int:
    try:
        number = int(text, base)
    except ValueError as error:
        raise Cut("an answer with a number that is none") from error
    if number < 0:
        raise Cut("an answer with a negative number")
    return number


def event_data(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the data of every server-sent event in a body, as it comes."""
    kept = b""
    data: list[bytes] = []
    for chunk in chunks:
        *lines, kept = (kept + chunk).split(b"\n")
        for line in (each.rstrip(b"\r") for each in lines):
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data = []

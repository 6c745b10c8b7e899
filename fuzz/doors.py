"""Doors: real servers on a home of their own, and how a case is put to each."""

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

from fuzz.cases import Cases
from fuzz.judging import Broken, judge_http, judge_line
from headway.domain.values import Json, JsonObject

ANSWER_SECONDS_MAX: Final = 30.0
MORE_SECONDS_MAX: Final = 1.0  # what a server may wait for when a request was cut short
SCRIPT: Final = "turns:\n  - text: done\n"
HANDSHAKE: Final[JsonObject] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "fuzz", "version": "1"},
}


class Door(Protocol):
    """A way in."""

    def draw(self, cases: Cases) -> bytes:
        """Return the next case for this door."""

    def put(self, case: bytes) -> None:
        """Send a case and judge what comes back. Raises Broken."""

    def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        """Make a good call; return its structured answer. Raises Broken when there is none."""

    def log(self) -> str:
        """Return what the server has logged so far."""


class Stdio:
    """`headway mcp`: a case is a line, or several; a ping behind it shows that all was answered."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out, self._log = process.stdin, process.stdout, log
        self._asked = 0
        self._ask("initialize", HANDSHAKE)
        self._write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())

    def draw(self, cases: Cases) -> bytes:
        return cases.line()

    def put(self, case: bytes) -> None:
        self._write(case)
        self._ask("ping", {})

    def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        return _structured(answer)

    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def _ask(self, method: str, params: JsonObject) -> JsonObject:
        """Ask and judge every line up to the answer, which may come behind those to the case."""
        self._asked += 1
        request = f"fuzz ask {self._asked}"
        message = {"jsonrpc": "2.0", "id": request, "method": method, "params": params}
        self._write(json.dumps(message).encode())
        while True:
            line = self._out.readline()
            if not line:
                raise Broken("the server has left")
            answer = judge_line(line)
            if answer["id"] == request:
                return dict(answer)  # type: ignore[arg-type]  # parsed JSON

    def _write(self, line: bytes) -> None:
        try:
            self._in.write(line + b"\n")
            self._in.flush()
        except OSError as error:
            raise Broken("the server no longer reads") from error


class Http:
    """`headway up`: a case is a whole request on a connection of its own."""

    def __init__(self, url: str, log: Path) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._at, self._log = (parts.hostname, parts.port), log
        self._host = f"{parts.hostname}:{parts.port}"

    def draw(self, cases: Cases) -> bytes:
        return cases.http(self._host)

    def put(self, case: bytes) -> None:
        judge_http(self._exchange(case, MORE_SECONDS_MAX))

    def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        params: JsonObject = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nhost: {self._host}\r\ncontent-type: application/json\r\n"
            f"accept: application/json\r\nmcp-protocol-version: 2025-06-18\r\n"
            f"connection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        response = self._exchange(head.encode() + body)
        _, _, answer = response.partition(b"\r\n\r\n")
        return _structured(judge_line(answer))  # type: ignore[arg-type]  # parsed JSON

    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def _exchange(self, request: bytes, patience: float = ANSWER_SECONDS_MAX) -> bytes:
        """Send a request and read the response to its end.

        When nothing came for as long as `patience`, the request is ended from this side.
        """
        try:
            with socket.create_connection(self._at, ANSWER_SECONDS_MAX) as connection:
                return _sent(connection, request, patience)
        except TimeoutError as error:
            raise Broken(f"no answer within {ANSWER_SECONDS_MAX:.0f} s") from error
        except ConnectionRefusedError as error:
            raise Broken("the server has left") from error


class RunsHttp(Http):
    """`headway up`, whose cases are requests about runs."""

    def draw(self, cases: Cases) -> bytes:
        return cases.run_request(self._host)

    def submit(self, body: JsonObject) -> str:
        """Submit a run and return its id. Raises Broken when it is not taken."""
        data = json.dumps(body).encode()
        head = (
            f"POST /v1/runs HTTP/1.1\r\nhost: {self._host}\r\ncontent-type: application/json\r\n"
            f"connection: close\r\ncontent-length: {len(data)}\r\n\r\n"
        )
        response = self._exchange(head.encode() + data)
        answer = json.loads(response.partition(b"\r\n\r\n")[2])
        if "run" not in answer:
            raise Broken(f"a good request got no good answer: {response!r}"[:400])
        return str(answer["run"])


def _sent(connection: socket.socket, request: bytes, patience: float) -> bytes:
    parts: list[bytes] = []
    try:
        connection.sendall(request)
        while select.select([connection], [], [], patience)[0]:
            part = connection.recv(65_536)
            if not part:
                return b"".join(parts)
            parts.append(part)
        connection.shutdown(socket.SHUT_WR)  # nothing more comes, or the connection is kept open
        while part := connection.recv(65_536):
            parts.append(part)
    except (ConnectionResetError, BrokenPipeError):
        pass  # closed before all was read, as a refusal of a long body may be
    return b"".join(parts)


def _structured(answer: JsonObject) -> JsonObject:
    result = answer.get("result")
    content: Json = result.get("structuredContent") if isinstance(result, dict) else None
    if not isinstance(content, dict):
        raise Broken(f"a good call got no good answer: {answer!r}"[:400])
    return content


@contextmanager
def open_stdio(root: Path) -> Iterator[Stdio]:
    """Start `headway mcp` on a home under `root`."""
    with _process(root, "mcp") as (process, log):
        yield Stdio(process, log)


@contextmanager
def open_http(root: Path) -> Iterator[Http]:
    """Start `headway up` on a home under `root`, on any free port."""
    with _process(root, "up", "--no-worker", "--port", "0", "--json") as (process, log):
        assert process.stdout is not None
        yield Http(json.loads(process.stdout.readline())["url"], log)


@contextmanager
def open_runs(root: Path) -> Iterator[RunsHttp]:
    """Start `headway up` on a home under `root`, itself a git repository by then."""
    identity = ("-c", "user.name=fuzz", "-c", "user.email=fuzz@localhost")
    for words in (("init", "-q"), (*identity, "commit", "-qm", "Begin", "--allow-empty")):
        subprocess.run(["git", *words], cwd=root, check=True)
    (root / "script.yaml").write_text(SCRIPT, "utf-8")
    with _process(root, "up", "--no-worker", "--port", "0", "--json") as (process, log):
        assert process.stdout is not None
        yield RunsHttp(json.loads(process.stdout.readline())["url"], log)


@contextmanager
def _process(root: Path, *arguments: str) -> "Iterator[tuple[subprocess.Popen[bytes], Path]]":
    home = {"HOME": str(root), "HEADWAY_HOME": str(root / "home")}
    log = root / "log"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [sys.executable, "-m", "headway", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, **home},  # noqa: TID251  a child inherits what is there
        ) as process,
    ):
        try:
            yield process, log
        finally:
            process.kill()

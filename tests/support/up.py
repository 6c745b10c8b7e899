"""A real `headway up` in a process of its own, and a client that says exactly what it is told."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from headway.domain.values import Json, JsonObject
from tests.support.front_door import PLAIN
from tests.support.patience import SECONDS_MAX

TREE = Path(__file__).parents[2]
HANDSHAKE_VERSION = "2025-11-25"
MODERN_VERSION = "2026-07-28"
ENVELOPE: JsonObject = {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


class Up:
    """A server process and where it said it serves."""

    def __init__(self, process: subprocess.Popen[bytes], said: JsonObject, log: Path) -> None:
        self.process = process
        self.said = said
        self.port = int(str(said["port"]))
        self.url = str(said["url"])
        self._log = log

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(sign)
        return self.process.wait(SECONDS_MAX)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS_MAX)

    def log(self) -> str:
        return self._log.read_text("utf-8", errors="replace")

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, Json]]:
        return self.ask("GET", path, b"", headers)

    def ask(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Json]]:
        """Send one request on a connection of its own; return the status and the JSON answer."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        try:
            client.request(method, path, body, dict(headers))
            response = client.getresponse()
            text = response.read()
        finally:
            client.close()
        return response.status, json.loads(text) if text else {}

    def post(self, body: bytes, **headers: str) -> tuple[int, dict[str, Json]]:
        """Post bytes to /mcp; `headers` come on top of those that every client sends."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return self.ask("POST", "/mcp", body, {**FORM, **named})

    def send(self, message: JsonObject, **headers: str) -> tuple[int, dict[str, Json]]:
        return self.post(json.dumps(message).encode(), **headers)

    def call(self, tool: str, **arguments: Json) -> dict[str, Json]:
        """Call a tool as a client of the older era; return the structured answer."""
        status, answer = self.send(call(tool, arguments), mcp_protocol_version=HANDSHAKE_VERSION)
        assert status == 200, answer
        return structured(answer)

    def start(self, workspace: Path, workflow: str = "three-steps") -> dict[str, Json]:
        return self.call(
            "start_workflow", workflowId=workflow, workspacePath=str(workspace), goal="Try it"
        )

    def advance(self, token: Json, notes: str = "done") -> dict[str, Json]:
        return self.call(
            "continue_workflow",
            continueToken=token,
            intent="advance",
            output={"notesMarkdown": notes},
        )

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS_MAX)

    def wait_until_refused(self) -> None:
        """Wait until a server that was told to stop takes no connections any more."""
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            try:
                self.connect().close()
            except (ConnectionRefusedError, ConnectionResetError):
                return
        pytest.fail("the server still takes connections")


FORM = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


def head(body: bytes) -> bytes:
    """Return the head of a request with this body, for a client that says it piece by piece."""
    lines = {
        "host": "127.0.0.1",
        **FORM,
        "mcp-protocol-version": HANDSHAKE_VERSION,
        "content-length": str(len(body)),
    }
    told = "".join(f"{name}: {text}\r\n" for name, text in lines.items())
    return f"POST /mcp HTTP/1.1\r\n{told}\r\n".encode()


def call(tool: str, arguments: JsonObject, request: Json = 1) -> dict[str, Json]:
    return message("tools/call", {"name": tool, "arguments": arguments}, request)


def message(method: str, params: JsonObject, request: Json = 1) -> dict[str, Json]:
    return {"jsonrpc": "2.0", "id": request, "method": method, "params": params}


def structured(answer: JsonObject) -> dict[str, Json]:
    result = answer["result"]
    assert isinstance(result, dict)
    content = result["structuredContent"]
    assert isinstance(content, dict)
    return content


def told(answer: JsonObject) -> dict[str, Json]:
    """Return our part of a JSON-RPC error, which always has a code, a reason and a remedy."""
    error = answer["error"]
    assert isinstance(error, dict)
    data = error["data"]
    assert isinstance(data, dict)
    assert str(data["message"]).strip()
    assert str(data["remedy"]).strip()
    return data


def environment(root: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,  # noqa: TID251
        "HOME": str(root),
        "HEADWAY_HOME": str(root / "home"),
        "HEADWAY_WORKFLOW_PATH": str(root / "files"),
        **more,
    }


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "headway", "up", "--no-worker", *words]


def prepare(root: Path) -> Path:
    """Make the folders under `root`, with one plain workflow; return the workspace."""
    for name in ("work", "files"):
        (root / name).mkdir(exist_ok=True)
    (root / "files" / "three-steps.json").write_text(json.dumps(PLAIN), "utf-8")
    subprocess.run(["git", "init", "-q", str(root / "work")], check=True)
    return root / "work"


def port_to_come_back_to() -> str:
    """Return a free port below those that the system gives to whoever asks for any."""
    any_from = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("utf-8").split()[0])
    for port in range(any_from // 2 + os.getpid() % (any_from // 4), any_from):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return str(port)
    pytest.fail("there is no free port")


def try_up(root: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `headway up` where it is expected to end by itself, and to say why in JSON."""
    return subprocess.run(
        command("--json", *words),
        env=environment(root, **more),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


@contextmanager
def up(root: Path, *words: str, port: str | None = "0", **more: str) -> Iterator[Up]:
    """Start a server on the home under `root`, on any port unless told; kill it at the end.

    It has no worker; that is `up_with_worker`.
    """
    asked = ("--port", port) if port is not None else ()
    with _started(root, command("--json", *asked, *words), environment(root, **more)) as server:
        yield server


@contextmanager
def up_with_worker(root: Path, **more: str) -> Iterator[Up]:
    """Start a server that begins a worker of its own; kill it at the end."""
    line = [sys.executable, "-m", "headway", "up", "--json", "--port", "0"]
    with _started(root, line, environment(root, **more)) as server:
        yield server


@contextmanager
def hasty_up(root: Path, **more: str) -> Iterator[Up]:
    """Start a server that waits seconds where another waits a minute; kill it at the end."""
    words = ("up", "--no-worker", "--json", "--port", "0")
    line = [sys.executable, "-m", "tests.support.hasty_up", *words]
    with _started(root, line, environment(root, **more), cwd=TREE) as server:
        yield server


@contextmanager
def _started(
    root: Path, line: list[str], variables: dict[str, str], cwd: Path | None = None
) -> Iterator[Up]:
    prepare(root)
    log = root / f"log-{len(list(root.glob('log-*')))}"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            line, env=variables, cwd=cwd, stdout=subprocess.PIPE, stderr=stderr
        ) as process,
    ):
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            assert said, log.read_text("utf-8")
            yield Up(process, json.loads(said), log)
        finally:
            process.kill()

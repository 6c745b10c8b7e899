"""A real `headway mcp` in a process of its own, and a client that says exactly what it is told.

The client speaks in lines of bytes rather than through the protocol library, so that a test can
send what no library would.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.domain.values import Json, JsonObject
from tests.support.patience import SECONDS_MAX

HANDSHAKE: JsonObject = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Served:
    """A server process and the one connection to it."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.stdin = process.stdin
        self.stdout = process.stdout
        self._log = log
        self._calls = 0

    def send(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def receive(self) -> dict[str, Json]:
        line = self.stdout.readline()
        assert line, f"the server left: {self.log()}"
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def ask(self, line: bytes) -> dict[str, Json]:
        self.send(line)
        return self.receive()

    def post(self, tool: str, **arguments: Json) -> int:
        """Send a call without waiting for its answer; return the call's id."""
        self._calls += 1
        params: JsonObject = {"name": tool, "arguments": arguments}
        self.send(message("tools/call", params, self._calls))
        return self._calls

    def result(self, request: int) -> dict[str, Json]:
        """Return the structured answer that comes next, which must be to this call."""
        answer = self.receive()
        assert answer["id"] == request
        return structured(answer)

    def call(self, tool: str, **arguments: Json) -> dict[str, Json]:
        return self.result(self.post(tool, **arguments))

    def told(self, tool: str, **arguments: Json) -> str:
        """Return the text of an answer, which is all that some agents see."""
        self.post(tool, **arguments)
        result = self.receive()["result"]
        assert isinstance(result, dict)
        content = result["content"]
        assert isinstance(content, list)
        assert isinstance(content[0], dict)
        return str(content[0]["text"])

    def start(self, workspace: Path, workflow: str, **more: Json) -> dict[str, Json]:
        arguments: dict[str, Json] = {"workspacePath": str(workspace), "goal": "Try it", **more}
        return self.call("start_workflow", workflowId=workflow, **arguments)

    def advance(self, token: Json, notes: str = "done", **output: Json) -> dict[str, Json]:
        return self.call(
            "continue_workflow",
            continueToken=token,
            intent="advance",
            output={"notesMarkdown": notes, **output},
        )

    def rehydrate(self, token: Json, workspace: Path) -> dict[str, Json]:
        return self.call(
            "continue_workflow",
            continueToken=token,
            intent="rehydrate",
            workspacePath=str(workspace),
        )

    def shake_hands(self, **capabilities: Json) -> None:
        self.ask(message("initialize", {**HANDSHAKE, "capabilities": capabilities}, 0))
        self.send(message("notifications/initialized", {}))

    def leave(self) -> int:
        self.stdin.close()
        return self.process.wait(SECONDS_MAX)

    def kill(self) -> bytes:
        """Kill the process as a power cut would; return what it had still said."""
        self.process.kill()
        self.process.wait(SECONDS_MAX)
        return self.stdout.read()

    def log(self) -> str:
        return self._log.read_text("utf-8", errors="replace")


def message(method: str, params: JsonObject, request: Json = None) -> bytes:
    envelope: dict[str, Json] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(envelope if request is None else {**envelope, "id": request}).encode()


def structured(answer: JsonObject) -> dict[str, Json]:
    result = answer["result"]
    assert isinstance(result, dict)
    content = result["structuredContent"]
    assert isinstance(content, dict)
    return content


@contextmanager
def serve(root: Path, *, greet: bool = True, **environment: str) -> Iterator[Served]:
    """Start `headway mcp` on the home, the files and the home folder under `root`."""
    settings = {
        "HOME": str(root),
        "HEADWAY_HOME": str(root / "home"),
        "HEADWAY_WORKFLOW_PATH": str(root / "files"),
        **environment,
    }
    log = root / f"log-{len(list(root.glob('log-*')))}"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [sys.executable, "-m", "headway", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, **settings},  # noqa: TID251
        ) as process,
    ):
        served = Served(process, log)
        try:
            if greet:
                served.shake_hands()
            yield served
        finally:
            process.kill()

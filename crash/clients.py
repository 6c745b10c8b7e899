"""Clients that ask until they are answered, over HTTP and through a process on stdin and stdout."""

import contextlib
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from crash.work import Tally, Wrong
from headway.application.requests import Json, JsonObject
from headway.mcp.relay.messages import CALL_KEY
from headway.server_lock import read_lock

PATIENCE_SECONDS = 120.0
PAUSE_SECONDS = 0.05
MAY_REPEAT = frozenset({"SERVER_SILENT", "SERVER_GONE", "STORE_UNAVAILABLE", "SESSION_BUSY"})
Message: TypeAlias = dict[str, Json]
HELLO: JsonObject = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "crash", "version": "1"},
}


class Lost(Exception):
    """No answer came; the call may be repeated."""


def until_answered(
    ask: Callable[[JsonObject], Message], tool: str, params: JsonObject, tally: Tally
) -> Message:
    """Repeat a call until it is answered for good. Raises Wrong when that takes too long."""
    began, why, agent = time.perf_counter(), "no answer", threading.current_thread().name
    lives = tally.counts["kills"]
    while True:
        tally.count("calls")
        try:
            answer = ask({"name": tool, **params})
        except (Lost, OSError, http.client.HTTPException) as error:
            why = repr(error)
        else:
            told, code = _told(answer)
            if code is None:
                seconds = time.perf_counter() - began
                lives = tally.counts["kills"] - lives
                tally.waited(seconds, f"{agent}, {tool}, through {lives} kills, last met {why}")
                return told
            if code not in MAY_REPEAT:
                raise Wrong(f"{tool} was answered {code}: {json.dumps(answer)[:500]}")
            tally.count(f"answered {code}")
            why = code
        if time.perf_counter() - began > PATIENCE_SECONDS:
            raise Wrong(f"{tool} had no answer for {PATIENCE_SECONDS:.0f} s; last: {why}")
        tally.count("repeats by clients")
        time.sleep(PAUSE_SECONDS)


def _told(answer: Message) -> tuple[Message, str | None]:
    """Return the structured answer, and the code when it is an error."""
    error = answer.get("error")
    if isinstance(error, dict):
        data = error.get("data")
        return {}, str(data.get("code")) if isinstance(data, dict) else str(error)
    result = answer["result"]
    assert isinstance(result, dict)
    told = result["structuredContent"]
    assert isinstance(told, dict)
    return told, str(told["code"]) if result.get("isError") else None


class HttpClient:
    """One connection over HTTP, to whichever server serves the home; for one agent."""

    def __init__(self, home: Path, tally: Tally) -> None:
        self._home = home
        self._tally = tally
        self._connection: http.client.HTTPConnection | None = None

    def call(self, tool: str, arguments: JsonObject, key: str) -> Message:
        params: JsonObject = {"arguments": arguments, "_meta": {CALL_KEY: key}}
        return until_answered(self._ask, tool, params, self._tally)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _ask(self, params: JsonObject) -> Message:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        if self._connection is None:
            running = read_lock(self._home)
            if running is None:
                raise Lost("no server")
            self._connection = http.client.HTTPConnection("127.0.0.1", running.port)
        try:
            headers = {"content-type": "application/json"}
            self._connection.request("POST", "/mcp", json.dumps(message).encode(), headers)
            answer: Message = json.loads(self._connection.getresponse().read())
        except (OSError, http.client.HTTPException):
            self._connection.close()
            self._connection = None
            raise
        return answer


class _Waiting:
    def __init__(self) -> None:
        self.ended = threading.Event()
        self.answer: Message | None = None


class PipeClient:
    """A `headway mcp` process, shared by several agents.

    A relay may never end by itself. A server process of its own is killed now and then; it is
    started anew, and what was in flight is asked again with the same key.
    """

    def __init__(
        self, environment: Mapping[str, str], tally: Tally, log: Path, *, in_process: bool
    ) -> None:
        self._command = [sys.executable, "-m", "headway", "mcp"]
        self._command += ["--in-process"] if in_process else []
        self._in_process = in_process
        self._environment = environment
        self._tally = tally
        self._log = log
        self._lock = threading.Lock()
        self._numbers = 0
        self._waiting: dict[int, _Waiting] = {}
        self._process = self._start()

    def call(self, tool: str, arguments: JsonObject, key: str) -> Message:
        # A relay puts its own key into a start; that is part of what is tried here.
        keyed: JsonObject = {"_meta": {CALL_KEY: key}} if self._in_process else {}
        return until_answered(self._ask, tool, {"arguments": arguments, **keyed}, self._tally)

    def kill(self) -> None:
        self._process.kill()

    def leave(self) -> int:
        """End the input and return the exit code."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._listener.join(PATIENCE_SECONDS)
        return self._process.wait(PATIENCE_SECONDS)

    def _ask(self, params: JsonObject) -> Message:
        waiting = _Waiting()
        with self._lock:
            if self._process.poll() is not None:
                self._begin_again()
            self._numbers += 1
            number = self._numbers
            self._waiting[number] = waiting
            self._send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        waiting.ended.wait()
        if waiting.answer is None:
            raise Lost("the process ended")
        return waiting.answer

    def _begin_again(self) -> None:
        if not self._in_process:
            raise Wrong(f"a relay ended with {self._process.returncode}; see {self._log}")
        self._tally.count("server processes of a client started anew")
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environment,
            )
        self._process = process
        self._send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._listener = threading.Thread(target=self._listen, args=(process,), daemon=True)
        self._listener.start()
        return process

    def _send(self, message: JsonObject) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        with process.stdout:
            for line in process.stdout:
                if line.endswith(b"\n"):  # else its writer was killed in the middle
                    answer = json.loads(line)
                    self._settle(answer["id"], answer)
        with contextlib.suppress(OSError):  # what was to be sent has nobody to go to
            process.stdin.close()
        process.wait()
        with self._lock:
            owed = list(self._waiting) if process is self._process else []
        for number in owed:
            self._settle(number, None)

    def _settle(self, number: int, answer: Message | None) -> None:
        with self._lock:
            waiting = self._waiting.pop(number, None)
        if waiting is not None:
            waiting.answer = answer
            waiting.ended.set()

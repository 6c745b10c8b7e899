"""The server of this home, asked over HTTP: one kept connection for each request in flight."""

import json
import threading
from collections.abc import Callable
from typing import Final, TypeAlias

from headway.mcp.relay.failures import Unserved, refused
from headway.mcp.relay.handshake import INITIALIZED, Handshake
from headway.mcp.relay.messages import (
    Message,
    is_answer,
    modern_version,
    routing_headers,
)
from headway.mcp.relay.wire import Answer, Connection, Cut, event_data

PATH: Final = "/mcp"
SESSION_HEADER: Final = "mcp-session-id"
# It was not asked in time, leaves or is not ready: ask again.
AWAY: Final = frozenset({408, 502, 503, 504})
OK: Final = 200
UNKNOWN_SESSION: Final = 404
SHOWN_MAX: Final = 200

Tell: TypeAlias = Callable[[bytes], None]


class Remote:
    """One server process, as long as it lives."""

    def __init__(self, host: str, port: int, handshake: Handshake, headers: dict[str, str]) -> None:
        self._host = host
        self._port = port
        self._handshake = handshake
        self._named = headers
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._asking: dict[int | str, Connection] = {}

    def ask(self, message: Message, tell: Tell) -> None:
        """Pass a request on and `tell` what comes back, its answer last.

        Raises Cut when the answer was lost, Unserved when there will be none.
        """
        assert message.request is not None
        session = self._handshake.session
        connection = self._take()
        with self._lock:
            self._asking[message.request] = connection
        try:
            answer = connection.post(PATH, self._headers(message, session), message.line)
            if answer.status == UNKNOWN_SESSION and session and modern_version(message) is None:
                b"".join(connection.body(answer))
                self._greet(connection, session)
                answer = connection.post(
                    PATH, self._headers(message, self._handshake.session), message.line
                )
            self._pass_on(message, connection, answer, tell)
        except BaseException:
            connection.close()
            raise
        finally:
            with self._lock:
                self._asking.pop(message.request, None)
        self._give_back(connection)

    def say(self, message: Message) -> None:
        """Pass on what wants no answer. Raises Cut when that could not be done."""
        connection = self._take()
        try:
            headers = self._headers(message, self._handshake.session)
            b"".join(connection.body(connection.post(PATH, headers, message.line)))
        except Cut:
            connection.close()
            raise
        self._give_back(connection)

    def cancel(self, request: int | str) -> None:
        """Hang up on a request: in the newer era that is how it is taken back."""
        with self._lock:
            connection = self._asking.get(request)
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Let every connection that is not in use go."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def may_retire(self) -> bool:
        """Tell that it stays: no other server can serve this home while it lives."""
        return False

    def retire(self) -> None:
        """Let go what is not in use."""
        self.close()

    def _take(self) -> Connection:
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if connection.is_alive():
                    return connection
                connection.close()
        return Connection(self._host, self._port)

    def _give_back(self, connection: Connection) -> None:
        if not connection.reusable:
            connection.close()
            return
        with self._lock:
            self._idle.append(connection)

    def _headers(self, message: Message, session: str | None) -> dict[str, str]:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **self._named,
        }
        routing = routing_headers(message)
        if routing or message.method == "initialize":
            return headers | routing
        if self._handshake.version is not None:
            headers["Mcp-Protocol-Version"] = self._handshake.version
        if session is not None:
            headers["Mcp-Session-Id"] = session
        return headers

    def _greet(self, connection: Connection, stale: str) -> None:
        """Shake hands again, for the client, unless another thread has. Raises Cut, Unserved."""
        with self._handshake.lock:
            asked = self._handshake.asked
            if self._handshake.session != stale or asked is None:
                return
            answer = connection.post(PATH, self._headers(asked, None), asked.line)
            self._handshake.check(_first_answer(connection, answer, asked))
            self._handshake.session = answer.headers.get(SESSION_HEADER)
            begun = asked._replace(line=INITIALIZED, method="notifications/initialized")
            headers = self._headers(begun, self._handshake.session)
            b"".join(connection.body(connection.post(PATH, headers, INITIALIZED)))

    def _pass_on(
        self, message: Message, connection: Connection, answer: Answer, tell: Tell
    ) -> None:
        request = message.request
        assert request is not None
        if answer.status in AWAY:
            raise Cut(f"the server answered {answer.status}")
        if answer.kind == "text/event-stream":
            for data in event_data(connection.body(answer)):
                ended = is_answer(_parsed(data), request)
                if ended and message.method == "initialize":
                    self._handshake.note(message, data, answer.headers.get(SESSION_HEADER))
                tell(data)
                if ended:
                    return
            raise Cut("the stream ended before the answer")
        body = b"".join(connection.body(answer))
        if message.method == "initialize":
            self._handshake.note(message, body, answer.headers.get(SESSION_HEADER))
        tell(body if answer.status == OK and body else _refusal(request, answer, body))


def _first_answer(connection: Connection, answer: Answer, asked: Message) -> bytes:
    assert asked.request is not None
    if answer.kind != "text/event-stream":
        return b"".join(connection.body(answer))
    found = b""
    for data in event_data(connection.body(answer)):
        if is_answer(_parsed(data), asked.request):
            found = data
    return found


def _refusal(request: int | str, answer: Answer, body: bytes) -> bytes:
    """Return what the server refused a request with, addressed to it."""
    content = _parsed(body)
    if isinstance(content, dict) and "error" in content:
        return json.dumps({**content, "id": request}).encode()
    shown = body[:SHOWN_MAX].decode("utf-8", "replace").strip()
    raise Unserved(refused(answer.status, shown))


def _parsed(data: bytes) -> object:
    try:
        content: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return content

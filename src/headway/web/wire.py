"""The HTTP protocol of the server library, with our answers to what never becomes a request.

Bytes that are no HTTP are answered at once, and a request that does not come whole in its time is
given up. The time runs only while it is the client's turn: how long an answer takes is no business
of the wire, and a call or a stream may go on for hours. A request that comes in one piece sets no
timer, and most do.
"""

import asyncio
import http
import json
import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from headway.application.requests import Json
from headway.web.guard import envelope

REQUEST_SECONDS_MAX: Final = 60.0  # for head and body together, from the first byte on
BAD_REQUEST: Final = 400
TIMEOUT: Final = 408

_HEAD_ENDS: Final = b"\r\n\r\n"
_UPGRADE: Final = re.compile(rb"\r\nupgrade:", re.IGNORECASE)

logger = logging.getLogger(__name__)


class Wire(HttpToolsProtocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._is_whole = True  # no part of a request is here whose rest is not
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_client()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lift_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_whole and b"pgrade:" in data:
            data = _not_upgraded(data)
        self._is_whole = False
        super().data_received(data)
        self._await_client()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_whole = False

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._is_whole = True
        self._lift_deadline()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_client()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - ours says more
        """Answer what could not be read with a code and a remedy, and hang up."""
        self._refuse(
            BAD_REQUEST,
            envelope(
                "NOT_HTTP",
                "What was sent is not an HTTP/1.1 request.",
                "Send one line with method and path, then headers with one Host and one "
                "Content-Length.",
            ),
        )

    def _await_client(self) -> None:
        """Let the time run, if it is the client's turn: for the rest of a request or for a next."""
        if self.transport.is_closing() or self._owes_an_answer():
            return
        if not self._is_whole:
            if self._deadline is None:
                self._deadline = self.loop.call_later(REQUEST_SECONDS_MAX, self._give_up)
        elif self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _owes_an_answer(self) -> bool:
        last = self._last()
        return bool(self.pipeline) or (
            last is not None and not last.more_body and not last.response_complete
        )

    def _last(self) -> RequestResponseCycle | None:
        """Return the request whose head came last; there is none at first."""
        return self.cycle

    def _lift_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        last = self._last()
        if last is not None and last.scope is self.scope and last.response_started:
            self.transport.close()  # it was answered before it was whole, and once is enough
            return
        seconds = f"{REQUEST_SECONDS_MAX:g}"
        told = envelope(
            "REQUEST_TIMEOUT",
            f"The request was not whole {seconds} seconds after its first byte.",
            "Send it again, all of it at once; nothing of it was acted on.",
        )
        logger.warning("refused a request: %s %s", told["code"], told["message"])
        self._refuse(TIMEOUT, {**told, "retry": {"kind": "retryable_immediate"}})

    def _refuse(self, status: int, told: Mapping[str, Json]) -> None:
        """Answer in place of the application, and hang up; it is told that the client has left."""
        body = json.dumps(told).encode()
        head = (
            f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def _not_upgraded(data: bytes) -> bytes:
    """Return what begins with a request without its offer to speak another protocol.

    A server may pass over it (RFC 9110, section 7.8), and the client of Java's library makes it
    unasked. The parser would end the request with its head, and its body would be lost.
    """
    head, ends, rest = data.partition(_HEAD_ENDS)
    return _UPGRADE.sub(b"\r\nx-upgrade:", head) + ends + rest

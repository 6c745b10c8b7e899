"""The HTTP transport: one POST, one message, one answer, in both eras of the protocol.

Nothing is kept between requests, for a client of either era: there is no session id that could die
with the server, so clients outlive its restarts. An answer is plain JSON, never a stream. A body is
read by the same strict rule as a line on stdio; what the library would refuse without a reason is
refused here with one. What a message means is the library's business (`ServerRunner`).
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import ServerRunner, modern_error_data
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp.shared.transport_context import TransportContext
from mcp.types import DEFAULT_NEGOTIATED_VERSION, PROTOCOL_VERSION_META_KEY, ErrorData
from mcp.types.jsonrpc import HEADER_MISMATCH
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import Receive, Scope, Send

from headway.application.requests import Json
from headway.mcp.frames import Frame, Rejection, RequestId, read_frame
from headway.mcp.refusals import (
    BAD_REQUEST,
    BODY_BYTES_MAX,
    LEAVING,
    NOT_A_POST,
    NOT_ACCEPTED,
    NOT_JSON,
    TOO_LARGE,
    VERSIONS,
    Refusal,
    reasoned,
    unsupported_version,
)

INLINE_BYTES_MAX: Final = 128 * 1024  # a longer body is parsed in a thread: the loop must not wait
JSON_TYPES: Final = frozenset({"application/json", "application/*", "*/*"})
TRANSPORT: Final = TransportContext(kind="streamable-http", can_send_request=False)
# One for all exchanges, for it is never set: no later message can name a request of this transport.
NOT_CANCELLED: Final = anyio.Event()

OK: Final = 200
ACCEPTED: Final = 202

logger = logging.getLogger(__name__)

Headers = Mapping[str, str]
Params = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(slots=True)
class _Exchange:
    """One request as the library's handlers see it: nothing but the answer can be sent."""

    request_id: RequestId
    transport: TransportContext = TRANSPORT
    can_send_request: bool = False
    message_metadata: None = None
    cancel_requested: anyio.Event = NOT_CANCELLED

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002 - the library's signature
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Drop it: a notification needs a stream."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Drop it, as a notification."""


class McpOverHttp:
    """The ASGI application at `/mcp`: any number of clients at once."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = _bad_form(scope["method"], headers)
        if refused is None:
            body = await _read_body(receive, headers)
            if body is None:
                return  # the client left in the middle
            try:
                answer = (
                    await self._answer(body, scope, headers) if isinstance(body, bytes) else body
                )
            except anyio.get_cancelled_exc_class():
                answer = _refused(LEAVING)  # it waits for this call no longer
        else:
            answer = _refused(refused)
        await _send(send, answer)

    async def _answer(self, body: bytes, scope: Scope, headers: Headers) -> _Answer:
        if len(body) <= INLINE_BYTES_MAX:
            frame = read_frame(body)
        else:
            frame = await anyio.to_thread.run_sync(read_frame, body)
        if isinstance(frame, Rejection):
            logger.warning("refused a message: %s %s", frame.code, frame.message)
            return _refused(Refusal(BAD_REQUEST, frame))
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in VERSIONS:
            return _error(frame.request, unsupported_version(version), BAD_REQUEST)
        if frame.request is None:
            return _Answer(ACCEPTED)  # nothing here waits for a notification or an answer
        if version in MODERN_PROTOCOL_VERSIONS or _is_enveloped(frame):
            return await self._modern(frame, scope, headers)
        return await self._serve(
            frame, Connection.from_envelope(version or DEFAULT_NEGOTIATED_VERSION, None, None)
        )

    async def _modern(self, frame: Frame, scope: Scope, headers: Headers) -> _Answer:
        raw = ((name.decode("latin-1"), "") for name, _ in scope["headers"])
        twice = find_duplicated_routing_header(raw)
        if twice is not None:
            told = ErrorData(code=HEADER_MISMATCH, message=f"The header {twice} is there twice.")
            return _error(frame.request, told, BAD_REQUEST)
        route = classify_inbound_request(frame.message, headers=headers)
        if isinstance(route, InboundLadderRejection):
            told = ErrorData(code=route.code, message=route.message, data=route.data)
            return _error(frame.request, told, _status(told))
        connection = Connection.from_envelope(
            route.protocol_version, route.client_info, route.client_capabilities
        )
        return await self._serve(frame, connection)

    async def _serve(self, frame: Frame, connection: Connection) -> _Answer:
        assert frame.request is not None
        method, params = frame.message["method"], frame.message.get("params")
        assert isinstance(method, str)
        assert params is None or isinstance(params, dict)
        try:
            result = await self._ask(connection, _Exchange(frame.request), method, params)
            data = msgspec.json.encode({"jsonrpc": "2.0", "id": frame.request, "result": result})
        except Exception as error:  # noqa: BLE001 - told to the client; what is a bug is logged there
            told = modern_error_data(error)
            # Errors of an exchange of the older era are an answer like any other.
            modern = connection.protocol_version in MODERN_PROTOCOL_VERSIONS
            return _error(frame.request, told, _status(told) if modern else OK)
        return _Answer(OK, data)

    async def _ask(
        self, connection: Connection, exchange: _Exchange, method: str, params: Params
    ) -> dict[str, Any]:
        """Have the library's kernel serve one request, as its `serve_one` does.

        That would close the connection as well, where nothing of ours opened anything, and leave a
        cycle behind for each call: some twenty objects, for which the collector would stop all
        calls again and again.
        """
        runner = ServerRunner(self._server, connection, lifespan_state={})
        try:
            return await runner.on_request(exchange, method, params)
        finally:
            del runner.on_request  # kept in the runner once asked for, and it holds the runner


def _bad_form(method: str, headers: Headers) -> Refusal | None:
    if method != "POST":
        return NOT_A_POST
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return NOT_JSON
    accept = headers.get("accept", "*/*")
    accepted = {each.partition(";")[0].strip().lower() for each in accept.split(",")}
    return None if accepted & JSON_TYPES else NOT_ACCEPTED


async def _read_body(receive: Receive, headers: Headers) -> bytes | _Answer | None:
    """Return the body, a refusal when it is too long, or None when the client has left."""
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > BODY_BYTES_MAX:
        return _refused(TOO_LARGE)
    parts: list[bytes] = []
    length = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        length += len(part)
        if length > BODY_BYTES_MAX:
            return _refused(TOO_LARGE)
        parts.append(part)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _is_enveloped(frame: Frame) -> bool:
    params = frame.message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta


def _status(error: ErrorData) -> int:
    return ERROR_CODE_HTTP_STATUS.get(error.code, OK)


def _refused(refusal: Refusal) -> _Answer:
    return _Answer(refusal.status, msgspec.json.encode(refusal.rejection.reply()), refusal.headers)


def _error(request: RequestId | None, error: ErrorData, status: int) -> _Answer:
    envelope: dict[str, Json] = {"jsonrpc": "2.0", "id": request, "error": reasoned(error)}
    return _Answer(status, msgspec.json.encode(envelope))


async def _send(send: Send, answer: _Answer) -> None:
    headers = [(b"content-length", str(len(answer.body)).encode()), *answer.headers]
    if answer.body:
        headers.append((b"content-type", b"application/json"))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})

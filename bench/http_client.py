"""A client as thin as can be, so that what is timed is the server."""

import asyncio
import http.client
import json
import socket
from collections.abc import Mapping
from typing import cast

from headway.application.requests import Json, JsonObject

VERSION = "2026-07-28"
SECONDS_MAX = 60
ENVELOPE: JsonObject = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


def request(tool: str, arguments: JsonObject) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a call."""
    params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    return body.encode(), {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": VERSION,
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }


def reply(body: bytes) -> dict[str, Json]:
    """Return what a tool answered; an error of any kind ends the measurement."""
    answer = json.loads(body)
    result = answer.get("result")
    assert result is not None, answer
    assert not result.get("isError"), answer
    structured = result["structuredContent"]
    assert isinstance(structured, dict)
    return structured


class Client:
    """Calls that wait for their answer."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS_MAX)
        self._connection.connect()
        # Header and body are two writes; without this the second waits for the first's echo.
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, tool: str, **arguments: Json) -> dict[str, Json]:
        body, headers = request(tool, arguments)
        self._connection.request("POST", "/mcp", body, headers)
        return reply(self._connection.getresponse().read())

    def close(self) -> None:
        self._connection.close()


class Wire(asyncio.Protocol):
    """The same for many at once in one event loop."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._received = bytearray()
        self._answer: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not name asyncio's as their base.
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the server left"))

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, rest = bytes(self._received).partition(b"\r\n\r\n")
        if end and len(rest) >= _length(head) and self._answer is not None:
            self._received.clear()
            self._answer.set_result(rest)

    async def call(self, tool: str, arguments: JsonObject) -> dict[str, Json]:
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        body, headers = request(tool, arguments)
        self._transport.write(_head(self._port, headers, len(body)) + body)
        return reply(await self._answer)

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()


def _head(port: int, headers: Mapping[str, str], length: int) -> bytes:
    told = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    first = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
    return f"{first}{told}content-length: {length}\r\n\r\n".encode()


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return int(value)
    return 0

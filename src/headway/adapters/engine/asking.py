"""Asking a server's tools over HTTP: one POST, one answer, asked again while the server is away.

By hand on the standard library's client. The server keeps nothing between requests, so there is no
session to hold open; what matters here is to tell an answer that was lost from one that says no.
Each request names client and version, as the protocol's newer era wants it.
"""

import asyncio
import contextlib
import http.client
import json
import socket
import ssl
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

import anyio
from anyio.to_thread import run_sync

from headway.adapters.engine.refusals import refused_by, told_fault, unusable_address
from headway.domain.errors import EngineUnavailable, Fault
from headway.domain.values import Json, JsonObject

VERSION: Final = "2026-07-28"
META: Final = "io.modelcontextprotocol/"
MCP_PATH: Final = "/mcp"
ABOUT_PATH: Final = "/v1/version"
WAITS_SECONDS: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0)  # while a server restarts
CONNECT_SECONDS_MAX: Final = 10.0
# It was not asked in time, fails, leaves, or is not ready.
AWAY: Final = frozenset({408, 500, 502, 503, 504})
OK: Final = 200
# A call may take as long as its checks do; a peer that is gone is found out by the system itself.
KEEPALIVE: Final = (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))


class Client(NamedTuple):
    """Who asks: told to the server with every request."""

    name: str
    version: str


class Address(NamedTuple):
    """Where a server is; `root` is what stands before its paths."""

    parts: SplitResult
    root: str

    @property
    def url(self) -> str:
        """Return it as it is recorded and shown."""
        return f"{self.parts.scheme}://{self.parts.netloc}{self.root}"


def address_of(url: str) -> Address:
    """Read the address of a server, with or without /mcp at its end. Raises InvalidInput."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise unusable_address(url) from error
    named = parts.scheme in {"http", "https"} and parts.hostname
    if not named or "@" in parts.netloc or parts.query or parts.fragment:
        raise unusable_address(url)
    return Address(parts, parts.path.rstrip("/").removesuffix(MCP_PATH).rstrip("/"))


class Server:
    """A server elsewhere, asked one thing at a time; repeats a request whose answer was lost."""

    def __init__(
        self,
        address: Address,
        token: str | None,
        client: Client,
        waits_seconds: Sequence[float] = WAITS_SECONDS,
    ) -> None:
        self.address: Final = address
        self._token = token
        self._client = client
        self._waits = tuple(waits_seconds)
        self._line: http.client.HTTPConnection | None = None
        self._asked = 0
        self._limiter = anyio.CapacityLimiter(1)

    async def about(self) -> JsonObject:
        """Return what the server says of itself. Raises Fault."""
        return await self._patiently("GET", ABOUT_PATH, b"", {})

    async def call(self, tool: str, arguments: JsonObject, **meta: Json) -> JsonObject:
        """Call a tool and return its structured answer; `meta` goes beside the arguments.

        Raises the Fault that the server tells, EngineUnavailable when there is no answer.
        """
        self._asked += 1
        params = {"name": tool, "arguments": arguments, "_meta": self._envelope() | meta}
        message = {"jsonrpc": "2.0", "id": self._asked, "method": "tools/call", "params": params}
        headers = {"Mcp-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        body = json.dumps(message).encode()
        answer = await self._patiently("POST", MCP_PATH, body, headers)
        result = answer.get("result")
        if not isinstance(result, dict) or not isinstance(result.get("structuredContent"), dict):
            raise refused_by(self.address.url, OK, answer)
        content: JsonObject = result["structuredContent"]
        if result.get("isError"):
            raise told_fault(content)
        return content

    def _envelope(self) -> dict[str, Json]:
        return {
            f"{META}protocolVersion": VERSION,
            f"{META}clientCapabilities": {},
            f"{META}clientInfo": self._client._asdict(),
        }

    async def _patiently(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> JsonObject:
        """Ask, and again while the server is away: every request here may be repeated."""
        for wait in (*self._waits, None):
            asking = asyncio.ensure_future(
                run_sync(self._ask, method, path, body, headers, limiter=self._limiter)
            )
            try:
                return await asyncio.shield(asking)
            except EngineUnavailable:
                if wait is None:
                    raise
            except asyncio.CancelledError:
                self._hang_up()  # the thread gives up then, at once
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([asking])
                asking.exception()
                raise
            await anyio.sleep(wait)
        raise AssertionError  # pragma: no cover - the last try returns or raises

    def _ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> JsonObject:
        line = self._line = self._connection()
        try:
            line.connect()
            _keep_alive(line.sock)
            line.request(method, self.address.root + path, body, {**self._headers(), **headers})
            response = line.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise self._away(str(error) or type(error).__name__) from error
        finally:
            line.close()
        if response.status in AWAY:
            raise self._away(f"it answered {response.status}")
        return self._read(response.status, data)

    def _read(self, status: int, data: bytes) -> JsonObject:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            answer = data.decode(errors="replace")
        if status != OK or not isinstance(answer, dict) or "error" in answer:
            raise refused_by(self.address.url, status, answer)
        return answer

    def _headers(self) -> dict[str, str]:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "User-Agent": f"{self._client.name}/{self._client.version}",
        }
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _connection(self) -> http.client.HTTPConnection:
        """Return a connection for one request: none is kept that a restart could have cut."""
        parts = self.address.parts
        host = parts.hostname or ""
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, parts.port, timeout=CONNECT_SECONDS_MAX)
        return http.client.HTTPSConnection(
            host, parts.port, timeout=CONNECT_SECONDS_MAX, context=ssl.create_default_context()
        )

    def _hang_up(self) -> None:
        """Cut the line under the thread that waits for an answer."""
        line = self._line
        if line is not None and line.sock is not None:
            with contextlib.suppress(OSError):  # the other side was first
                line.sock.shutdown(socket.SHUT_RDWR)

    def _away(self, why: str) -> Fault:
        return EngineUnavailable(
            f"The engine at {self.address.url} does not answer ({why}).",
            remedy="See whether headway up runs there and can be reached. The run can go on later; "
            "a call that had arrived is not done twice.",
            details={"engine": self.address.url},
        )


def _keep_alive(line: socket.socket) -> None:
    line.settimeout(None)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE:
        if hasattr(socket, name):  # not on every system, where its own periods hold
            line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

"""Who may ask: checks of Host, Origin and token, before any route sees the request.

A page of another site can make a browser on this machine send requests here, and with a name that
is made to point at 127.0.0.1 it can read the answers too. Such requests bear the other site's name
in Origin or Host, and are refused. Whoever listens on more than loopback demands a token as well.
"""

import hmac
import ipaddress
import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from headway.application.requests import Json

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
ANY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - named, not bound
OPEN_PATHS: Final = frozenset({"/healthz"})  # tells nobody more than that something listens
SHOWN_MAX: Final = 100

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the guard lets in: `host` is the address listened on; a token, if set, is demanded."""

    host: str
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Refused:
    status: int
    code: str
    message: str
    remedy: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Guard:
    """ASGI middleware around everything that is served."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._host = rules.host.lower()  # as names come out of a header
        self._secret = rules.token.encode() if rules.token is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        if scope["type"] == "http":
            refused = self._judge(scope)
            if refused is not None:
                logger.warning("refused a request: %s %s", refused.code, refused.message)
                await _send(send, refused)
                return
        await self._app(scope, receive, send)

    def _judge(self, scope: Scope) -> _Refused | None:
        hosts, origins, credentials = _told(scope["headers"])
        if len(hosts) != 1 or not self._is_ours(_name(f"//{hosts[0]}")):
            return _foreign_host(hosts)
        if origins and (len(origins) > 1 or not self._is_welcome(origins[0], hosts[0])):
            return _foreign_origin(origins[0])
        if self._secret is None or scope["path"] in OPEN_PATHS or self._bears(credentials):
            return None
        return NO_TOKEN

    def _is_ours(self, name: str) -> bool:
        """Whether a name is ours: where every address is listened on, any may be."""
        return bool(name) and (
            name in LOOPBACK_NAMES or name == self._host or self._host in ANY_ADDRESS
        )

    def _is_welcome(self, origin: str, host: str) -> bool:
        scheme, _, authority = origin.partition("://")
        if scheme not in {"http", "https"}:
            return False
        name = _name(origin)
        return bool(name) and (name in LOOPBACK_NAMES or name == self._host or authority == host)

    def _bears(self, credentials: Iterable[bytes]) -> bool:
        assert self._secret is not None
        given = b"".join(credentials)  # two of them make none
        scheme, _, secret = given.partition(b" ")
        fits = hmac.compare_digest(secret.strip(), self._secret)
        return fits and scheme.lower() == b"bearer"


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def envelope(code: str, message: str, remedy: str) -> dict[str, Json]:
    """Return an error as every fault is told."""
    return {
        "code": code,
        "message": message,
        "retry": {"kind": "not_retryable"},
        "details": {"suggestion": remedy},
    }


NO_TOKEN: Final = _Refused(
    401,
    "UNAUTHORIZED",
    "This server demands a token, and the request bears none or another one.",
    "Send authorization: Bearer <token>, with the token the server was started with.",
    headers=((b"www-authenticate", b"Bearer"),),
)


def _told(headers: Iterable[tuple[bytes, bytes]]) -> tuple[list[str], list[str], list[bytes]]:
    hosts: list[str] = []
    origins: list[str] = []
    credentials: list[bytes] = []
    for name, value in headers:
        if name == b"host":
            hosts.append(value.decode("latin-1"))
        elif name == b"origin":
            origins.append(value.decode("latin-1"))
        elif name == b"authorization":
            credentials.append(value)
    return hosts, origins, credentials


def _name(address: str) -> str:
    if "@" in address:  # a user's name is for the address bar alone
        return ""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _foreign_host(hosts: list[str]) -> _Refused:
    shown = repr(hosts[0][:SHOWN_MAX]) if hosts else "nothing"
    return _Refused(
        403,
        "HOST_NOT_ALLOWED",
        f"The Host header names {shown}, which is not this server.",
        "Use the address that headway up printed; a proxy must send that address as Host.",
    )


def _foreign_origin(origin: str) -> _Refused:
    return _Refused(
        403,
        "ORIGIN_NOT_ALLOWED",
        f"The request comes from a page of {origin[:SHOWN_MAX]!r}.",
        "Only pages of this machine or of this server itself may call it from a browser.",
    )


async def _send(send: Send, refused: _Refused) -> None:
    body = json.dumps(envelope(refused.code, refused.message, refused.remedy)).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # whatever body was sent is not read
        *refused.headers,
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

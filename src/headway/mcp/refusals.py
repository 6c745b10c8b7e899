"""What HTTP refuses before the protocol library has a say, and reasons for what that refuses.

Every refusal is a JSON-RPC error whose `data` holds `code`, `message` and `remedy`.
"""

from dataclasses import dataclass, replace
from typing import Final

from mcp.types import METHOD_NOT_FOUND, ErrorData, UnsupportedProtocolVersionErrorData
from mcp.types.jsonrpc import HEADER_MISMATCH, INTERNAL_ERROR, UNSUPPORTED_PROTOCOL_VERSION
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from headway.application.requests import Json
from headway.mcp.frames import INVALID_PARAMS, INVALID_REQUEST, Rejection
from headway.mcp.lines import LINE_BYTES_MAX

BODY_BYTES_MAX: Final = LINE_BYTES_MAX  # what passes on stdio passes here
VERSIONS: Final = (*MODERN_PROTOCOL_VERSIONS, *HANDSHAKE_PROTOCOL_VERSIONS)

BAD_REQUEST: Final = 400
CODES: Final[dict[int, tuple[str, str]]] = {
    # A code of the protocol -> ours, and what to do next.
    INVALID_PARAMS: (
        "FRAME_BAD_PARAMS",
        "Send params as the protocol has them, with params._meta if your version asks for it.",
    ),
    METHOD_NOT_FOUND: (
        "METHOD_NOT_FOUND",
        "This server knows initialize, ping, server/discover, and tools, prompts and resources.",
    ),
    HEADER_MISMATCH: (
        "HEADER_MISMATCH",
        "Send each of MCP-Protocol-Version, Mcp-Method and Mcp-Name once, equal to the body.",
    ),
    UNSUPPORTED_PROTOCOL_VERSION: (
        "PROTOCOL_VERSION_UNSUPPORTED",
        f"Use one of the versions {', '.join(VERSIONS)}.",
    ),
    INTERNAL_ERROR: (
        "INTERNAL_ERROR",
        "Repeat the call once; if it fails again, see the server's log.",
    ),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not passed on: its HTTP status, and the error that answers it."""

    status: int
    rejection: Rejection
    headers: tuple[tuple[bytes, bytes], ...] = ()


def _refusal(status: int, code: str, message: str, remedy: str) -> Refusal:
    rejection = Rejection(
        request=None, rpc_code=INVALID_REQUEST, code=code, message=message, remedy=remedy
    )
    return Refusal(status, rejection)


NOT_A_POST: Final = replace(
    _refusal(
        405,
        "METHOD_NOT_ALLOWED",
        "This address takes POST alone: it keeps no session and opens no stream.",
        "Send each message as a POST; the answer is its response.",
    ),
    headers=((b"allow", b"POST"),),
)
NOT_JSON: Final = _refusal(
    415,
    "MEDIA_TYPE_UNSUPPORTED",
    "The content-type is not application/json.",
    "Send the message with content-type: application/json.",
)
NOT_ACCEPTED: Final = _refusal(
    406,
    "NOT_ACCEPTABLE",
    "The answer is application/json, which the accept header rules out.",
    "Send accept: application/json, text/event-stream.",
)
LEAVING: Final = _refusal(
    503,
    "SERVER_LEAVING",
    "The server ended before the call did; what the call had recorded by then stands.",
    "Repeat it when a server is there again: a recorded outcome is returned, never applied twice.",
)
TOO_LARGE: Final = _refusal(
    413,
    "FRAME_TOO_LARGE",
    f"The message is longer than {BODY_BYTES_MAX // (1024 * 1024)} MiB.",
    "Send less at once: write large results to a file and name the file.",
)


def unsupported_version(requested: str) -> ErrorData:
    """Return the error for a version of the protocol that is not spoken here."""
    told = UnsupportedProtocolVersionErrorData(supported=list(VERSIONS), requested=requested[:80])
    return ErrorData(
        code=UNSUPPORTED_PROTOCOL_VERSION,
        message="This version of the protocol is not spoken here.",
        data=told.model_dump(mode="json"),
    )


def reasoned(error: ErrorData) -> dict[str, Json]:
    """Return an error of the library's with our code and a remedy in its data."""
    code, remedy = CODES.get(error.code, ("PROTOCOL_ERROR", "Send what the protocol asks for."))
    known: dict[str, Json] = dict(error.data) if isinstance(error.data, dict) else {}
    data = {"code": code, "message": error.message, "remedy": remedy, **known}
    return {"code": error.code, "message": f"{error.message.rstrip('.')}. {remedy}", "data": data}

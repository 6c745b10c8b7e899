"""Messages as the relay sees them: whom they ask, and what the server must be told beside them.

The relay reads leniently and passes on the bytes it got: whether a message is one is judged by the
strict reader of whoever serves it. Only what cannot be read at all, and a start, which is rewritten
to carry its call key, goes through the strict reader here.
"""

import binascii
import json
import os
from typing import Final, NamedTuple, TypeAlias

# The house's `Json`, whose own room takes too long to import.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

CALL_KEY: Final = "headway/callKey"
CALL_KEY_BYTES: Final = 16

# The newer era of the protocol tells everything with each request: version in `_meta`, and the
# method and its object as headers.
VERSION_META: Final = "io.modelcontextprotocol/protocolVersion"
NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Message(NamedTuple):
    """A message of the client: its line, and what steers its way."""

    line: bytes
    method: str | None  # None: an answer of the client to the server
    request: int | str | None  # None: no answer is owed
    params: dict[str, Json]


def read_message(line: bytes) -> Message | bytes:
    """Read a line: a message, or the line that refuses it."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return _strictly(line)
    if not isinstance(content, dict):
        return _strictly(line)
    method, request, params = content.get("method"), content.get("id"), content.get("params")
    if isinstance(request, bool) or not isinstance(request, int | str | None):
        return _strictly(line)
    if not isinstance(method, str):  # an answer of the client, or nothing the protocol knows
        return Message(line, None, None, {}) if "method" not in content else _strictly(line)
    if not isinstance(params, dict):
        params = {}
    if method == "tools/call" and params.get("name") == "start_workflow":
        return _with_call_key(line)
    return Message(line, method, request, params)


def _strictly(line: bytes) -> Message | bytes:
    """Read what looks wrong with the eyes that judge it, which are slow to open."""
    from headway.mcp.frames import Rejection, read_frame

    frame = read_frame(line)
    if isinstance(frame, Rejection):
        return json.dumps(frame.reply()).encode()
    params = frame.message.get("params")
    method = frame.message.get("method")
    return Message(
        line,
        method if isinstance(method, str) else None,
        frame.request,
        params if isinstance(params, dict) else {},
    )


def _with_call_key(line: bytes) -> Message | bytes:
    """Give a start a key, so that asking again cannot begin a second session."""
    read = _strictly(line)
    if not isinstance(read, Message):
        return read
    meta = read.params.get("_meta", {})
    if not isinstance(meta, dict) or CALL_KEY in meta:
        return read
    key = binascii.hexlify(os.urandom(CALL_KEY_BYTES)).decode()
    params: dict[str, Json] = {**read.params, "_meta": {**meta, CALL_KEY: key}}
    content: dict[str, Json] = {"jsonrpc": "2.0", "method": read.method, "params": params}
    if read.request is not None:
        content["id"] = read.request
    return read._replace(line=json.dumps(content).encode(), params=params)


def modern_version(message: Message) -> str | None:
    """Return the protocol version a message names itself, as those of the newer era do."""
    meta = message.params.get("_meta")
    version = meta.get(VERSION_META) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def routing_headers(message: Message) -> dict[str, str]:
    """Return the headers that repeat what a message of the newer era is about."""
    version = modern_version(message)
    if version is None or message.method is None:
        return {}
    headers = {
        "Mcp-Protocol-Version": header_text(version),
        "Mcp-Method": header_text(message.method),
    }
    name = message.params.get(NAMED_BY.get(message.method, ""))
    return headers | ({"Mcp-Name": header_text(name)} if isinstance(name, str) else {})


def header_text(text: str) -> str:
    """Return a text as a header may carry it: as it is, or in the protocol's base64 form."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    coded = binascii.b2a_base64(text.encode("utf-8", "replace"), newline=False).decode()
    return f"=?base64?{coded}?="


def cancelled_request(message: Message) -> int | str | None:
    """Return the request that a message takes back."""
    if message.method != "notifications/cancelled":
        return None
    request = message.params.get("requestId")
    return request if isinstance(request, int | str) else None


def is_answer(content: object, request: int | str) -> bool:
    """Tell whether a message of the server answers a request."""
    return isinstance(content, dict) and "method" not in content and content.get("id") == request

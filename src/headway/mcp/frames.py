"""Strict frames: what may pass from a line of bytes to the protocol library, and what may not.

The library is lenient where a ledger must not be: of two equal keys it keeps the last, and a lone
surrogate leaves the caller waiting for an answer that cannot be encoded. So each line is read here
first, by one rule: either it means exactly one JSON-RPC message, or it is refused with a code, a
reason and a remedy, to the id it asks under wherever that can be made out. Pure; never raises.

Theory of operation: bytes -> size -> UTF-8 -> NUL -> nesting -> JSON -> surrogates -> envelope.
Nesting is measured before parsing, by peeling pairs of brackets off the line with its strings
removed; the measure and the id scan are linear in the line, whatever it holds.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from headway.application.requests import Json, JsonObject
from headway.mcp.lines import LINE_BYTES_MAX

# The engine allows 64 levels in a context or artifact and says so itself; a frame's limit lies
# well above it, so that only what no verb could accept is refused here.
NESTING_MAX: Final = 128
ID_TOKENS_MAX: Final = 1_000_000

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602

RequestId: TypeAlias = int | str

# Possessive, so that an unterminated string cannot make the scan quadratic.
STRING: Final = r'"(?:[^"\\]|\\.)*+"?'
STRINGS: Final = re.compile(STRING, re.DOTALL)
TOKENS: Final = re.compile(STRING + r"|[\[\]{}:,]|[^\s\"\[\]{}:,]+", re.DOTALL)
SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
BRACKETS: Final = str.maketrans("{}", "[]")
NO_BRACKET: Final = re.compile(r"[^\[\]]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A JSON-RPC message that means what it says; `request` is its id if it wants an answer."""

    message: dict[str, Json]
    request: RequestId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why a line was refused; `request` is the id to answer to, where it can be made out."""

    request: RequestId | None
    rpc_code: int
    code: str
    message: str
    remedy: str

    def reply(self) -> dict[str, Json]:
        """Return the JSON-RPC error that answers the line."""
        return {
            "jsonrpc": "2.0",
            "id": self.request,
            "error": {
                "code": self.rpc_code,
                "message": f"{self.message} {self.remedy}",
                "data": {"code": self.code, "message": self.message, "remedy": self.remedy},
            },
        }


class _Refused(Exception):
    def __init__(self, code: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy


def read_frame(line: bytes) -> Frame | Rejection:
    """Read one line: a message, or the reason why it is none."""
    if len(line) > LINE_BYTES_MAX:
        return over_long(line)
    try:
        text = _decode(line)
        _check_nesting(text)
        message = _parse(text)
    except _Refused as refused:
        return Rejection(
            request=find_id(line.decode("utf-8", "replace")),
            rpc_code=PARSE_ERROR,
            code=refused.code,
            message=refused.message,
            remedy=refused.remedy,
        )
    return _envelope(message)


def over_long(prefix: bytes) -> Rejection:
    """Refuse a line longer than the limit, of which only a beginning was kept."""
    return Rejection(
        request=find_id(prefix[:LINE_BYTES_MAX].decode("utf-8", "replace")),
        rpc_code=INVALID_REQUEST,
        code="FRAME_TOO_LARGE",
        message=f"The message is longer than {LINE_BYTES_MAX // (1024 * 1024)} MiB.",
        remedy="Send less at once: write large results to a file and name the file.",
    )


def find_id(text: str) -> RequestId | None:
    """Make out the id of a message that cannot be parsed: its one top-level `id` member."""
    depth = 0
    found: set[RequestId] = set()
    before = key = ""
    for count, token in enumerate(TOKENS.finditer(text)):
        if count >= ID_TOKENS_MAX:
            return None
        word = token.group()
        if word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        elif depth == 1:
            if word == ":":
                key = before
            elif word == ",":
                key = ""
            elif key == '"id"':
                found.update(_id_value(word))
                key = ""
        before = word
    return found.pop() if len(found) == 1 else None


def _id_value(word: str) -> tuple[RequestId, ...]:
    try:
        value = json.loads(word)
        if isinstance(value, str):
            value.encode()
            return (value,)
    except ValueError:  # not JSON, or not encodable
        return ()
    return (value,) if isinstance(value, int) and not isinstance(value, bool) else ()


def _decode(line: bytes) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Refused(
            "FRAME_NOT_UTF8",
            f"Byte {error.start + 1} of the message is not valid UTF-8.",
            "Encode the message as UTF-8, without lone surrogates.",
        ) from error
    if "\0" in text:
        raise _Refused(
            "FRAME_NUL_BYTE",
            f"Character {text.index(chr(0)) + 1} of the message is a NUL byte.",
            "Leave NUL bytes out of the message.",
        )
    return text


def _check_nesting(text: str) -> None:
    if text.count("[") + text.count("{") <= NESTING_MAX:
        return
    rest = NO_BRACKET.sub("", STRINGS.sub("", text).translate(BRACKETS))
    for _ in range(NESTING_MAX):
        rest = rest.replace("[]", "")
        if not rest:
            return
    if "[" * (NESTING_MAX + 1) in rest or "[]" in rest:
        raise _Refused(
            "FRAME_TOO_DEEP",
            f"The message is nested deeper than {NESTING_MAX} levels.",
            "Flatten it: a context or artifact may hold 64 levels.",
        )


def _parse(text: str) -> Json:
    try:
        message: Json = DECODER.decode(text)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise _Refused(
            "FRAME_NOT_JSON",
            f"The message is not JSON{where}.",
            "Send one JSON object on one line.",
        ) from error
    except ValueError as error:  # the interpreter's own limit on the digits of an integer
        raise _Refused(
            "FRAME_BAD_NUMBER",
            "The message holds a number with too many digits.",
            "Send long numbers as strings.",
        ) from error
    if SURROGATE_ESCAPE.search(text):
        _check_surrogates(message)
    return message


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in members if keys.count(key) > 1)
        shown = twice.encode("utf-8", "replace").decode()[:80]
        raise _Refused(
            "FRAME_DUPLICATE_KEY",
            f"An object holds the key {shown!r} twice, so what it means is not certain.",
            "Send each key once.",
        )
    return members


def _constant(name: str) -> Json:
    raise _Refused(
        "FRAME_BAD_NUMBER",
        f"{name} is not a JSON number.",
        "Send a finite number, a string or null.",
    )


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _Refused(
            "FRAME_BAD_NUMBER",
            f"The number {text[:40]} is too large to be kept.",
            "Send a finite number, or a string.",
        )
    return number


def _check_surrogates(message: Json) -> None:
    try:
        json.dumps(message, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise _Refused(
            "FRAME_LONE_SURROGATE",
            "A text of the message holds half of a surrogate pair, which is no character.",
            "Send both halves or the character itself; cut texts between characters.",
        ) from error


# Made once: to make it takes as long as to read a small frame.
DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
)


def _envelope(message: Json) -> Frame | Rejection:
    if not isinstance(message, dict):
        what = "a batch" if isinstance(message, list) else "not a JSON object"
        return _invalid(
            None, f"The message is {what}.", "Send each message by itself, as one object."
        )
    request = message.get("id")
    known = request if isinstance(request, int | str) and not isinstance(request, bool) else None
    if message.get("jsonrpc") != "2.0":
        return _invalid(known, 'The member "jsonrpc" is not "2.0".', 'Add "jsonrpc": "2.0".')
    if "id" in message and known is None and "error" not in message:
        return _invalid(None, "The id is neither a string nor an integer.", "Give another id.")
    if "method" in message:
        if not isinstance(message["method"], str):
            return _invalid(known, "The method is not a string.", "Name the method in a string.")
        if not isinstance(message.get("params", {}), dict):
            return _invalid(known, "The params are not an object.", "Send params by name.")
        return _call_problem(message, known) or Frame(message=message, request=known)
    if "result" not in message and "error" not in message:
        return _invalid(known, "The message has no method.", "Name the method to call.")
    return Frame(message=message)


def _call_problem(message: JsonObject, request: RequestId | None) -> Rejection | None:
    """Refuse a tool call of the wrong form: the library would not say what is wrong with it."""
    params = message.get("params", {})
    if message["method"] != "tools/call" or not isinstance(params, dict):
        return None
    if not isinstance(params.get("name"), str):
        told = "The call names no tool."
    elif not isinstance(params.get("arguments"), dict | None):
        told = "The arguments of the call are not an object."
    else:
        return None
    return Rejection(
        request=request,
        rpc_code=INVALID_PARAMS,
        code="FRAME_NOT_A_CALL",
        message=told,
        remedy='Send params of the form {"name": "<tool>", "arguments": {...}}.',
    )


def _invalid(request: RequestId | None, message: str, remedy: str) -> Rejection:
    return Rejection(
        request=request,
        rpc_code=INVALID_REQUEST,
        code="FRAME_NOT_A_REQUEST",
        message=message,
        remedy=remedy,
    )

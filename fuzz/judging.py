"""Judging: whether an answer is one that may be given to whatever was sent."""

import json
from collections.abc import Mapping
from typing import Final

from headway.domain.errors import Code

# What a fault may say: everything but that we met what we were not built for.
CODES: Final = frozenset(code.value for code in Code) - {Code.INTERNAL_ERROR.value}
INTERNAL_ERROR: Final = -32603
REFUSED: Final = 400
SERVER_FAULTS: Final = 500
NOT_IMPLEMENTED: Final = 501  # what HTTP has for a method it does not know


class Broken(Exception):
    """The promise was broken: by what, in words."""


def judge_line(line: bytes) -> Mapping[str, object]:
    """Hold that a line is a JSON-RPC answer, and its error or fault a coded one; return it."""
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise Broken(f"an answer is not JSON: {line[:200]!r}") from error
    if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0" or "id" not in answer:
        raise Broken(f"an answer is not one of JSON-RPC: {line[:200]!r}")
    if "error" in answer:
        _judge_error(answer["error"])
    elif isinstance(answer.get("result"), dict) and answer["result"].get("isError") is True:
        _judge_fault(answer["result"].get("structuredContent"))
    elif "result" not in answer:
        raise Broken(f"an answer has neither result nor error: {line[:200]!r}")
    return answer


def judge_http(response: bytes) -> None:
    """Hold that a response is one of HTTP, tells of no failure of ours, and codes its errors.

    Nothing at all is an answer to what is no request: the connection was closed.
    """
    if not response:
        return
    head, _, body = response.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    if not head.startswith(b"HTTP/1.") or len(words) < 2 or not words[1].isdigit():
        raise Broken(f"a response is not one of HTTP: {response[:200]!r}")
    status = int(words[1])
    if status >= SERVER_FAULTS and status != NOT_IMPLEMENTED:
        raise Broken(f"the server failed: {response[:400]!r}")
    if b"application/json" in head.lower() and b'"jsonrpc"' in body:
        judge_line(body)
    elif status >= REFUSED:
        _judge_refusal(body)


def _judge_refusal(body: bytes) -> None:
    """Hold that what HTTP itself refuses has a code and says what to do."""
    try:
        refusal = json.loads(body)
    except ValueError as error:
        raise Broken(f"a refusal is not JSON: {body[:200]!r}") from error
    details = refusal.get("details") if isinstance(refusal, dict) else None
    if not isinstance(details, dict) or not refusal.get("code") or not details.get("suggestion"):
        raise Broken(f"a refusal has no code, or no remedy: {body[:200]!r}")


def _judge_error(error: object) -> None:
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        raise Broken(f"an error says nothing: {error!r}"[:400])
    data = error.get("data")
    if error.get("code") == INTERNAL_ERROR:
        raise Broken(f"an internal error: {error!r}"[:400])
    if not isinstance(data, dict) or not isinstance(data.get("code"), str):
        raise Broken(f"an error has no code of ours: {error!r}"[:400])
    if not data.get("remedy"):
        raise Broken(f"an error says nothing of what to do: {error!r}"[:400])


def _judge_fault(fault: object) -> None:
    if not isinstance(fault, dict) or fault.get("code") not in CODES:
        raise Broken(f"a fault has no code that may be told: {fault!r}"[:400])
    details = fault.get("details")
    if not isinstance(details, dict) or not details.get("suggestion"):
        raise Broken(f"a fault says nothing of what to do: {fault!r}"[:400])

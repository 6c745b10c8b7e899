"""What a server elsewhere says no with, as the faults that it means here."""

import json
from typing import Final

from headway.domain.errors import Code, Fault, InvalidInput, PreconditionFailed
from headway.domain.values import Json, JsonObject

UNAUTHORIZED: Final = 401
CODES: Final = frozenset(each.value for each in Code)
SHOWN_MAX: Final = 300


def told_fault(envelope: JsonObject) -> Fault:
    """Return the fault that an error envelope tells, with its code and its wait."""
    details = envelope.get("details")
    more = dict(details) if isinstance(details, dict) else {}
    remedy = str(more.pop("suggestion", "See the log of the server."))
    fault = Fault(str(envelope.get("message", "The engine gave no reason.")), remedy=remedy,
                  details=more)  # fmt: skip
    code = str(envelope.get("code"))
    fault.code = Code(code) if code in CODES else Code.INTERNAL_ERROR
    retry = envelope.get("retry")
    if isinstance(retry, dict) and retry.get("kind") == "retryable_immediate":
        fault.retry_after_ms = 0
    elif isinstance(retry, dict) and retry.get("kind") == "retryable_after_ms":
        fault.retry_after_ms = int(str(retry.get("afterMs", 1_000)))
    return fault


def refused_by(url: str, status: int, answer: Json) -> Fault:
    """Return the fault of an answer that is none of a tool's."""
    if status == UNAUTHORIZED:
        return PreconditionFailed(
            f"The engine at {url} demands a token, and was given none or another one.",
            remedy="Set HEADWAY_ENGINE_TOKEN, or name the file it stands in with "
            "--engine-token-file: it is the token its headway up was started with.",
            details={"kind": "engine_token", "engine": url},
        )
    shown = answer if isinstance(answer, str) else json.dumps(answer)
    return PreconditionFailed(
        f"The engine at {url} answered {status} with what no tool of Headway says: "
        f"{shown[:SHOWN_MAX]}",
        remedy="Give the address that headway up printed; see that server's log and its version.",
        details={"kind": "engine_refused", "engine": url},
    )


def unusable_address(url: str) -> InvalidInput:
    """Return the fault of an address that is none."""
    # A password may stand in it: it is not repeated.
    return InvalidInput(
        "The engine's address is not one of a server.",
        remedy="Write http://HOST:PORT as headway up prints it, or https://..., without user, "
        "query or fragment.",
        details={"kind": "engine_url", "length": len(url)},
    )

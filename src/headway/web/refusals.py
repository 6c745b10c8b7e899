"""How a request is refused: every fault of the application, and what is wrong with its form.

The body is the envelope of every fault: code, message, retry, details with a suggestion.
"""

from collections.abc import Mapping
from typing import Final

from starlette.responses import JSONResponse

from headway.application.faults import Fault, fault_reply
from headway.application.requests import Json
from headway.web.guard import envelope

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
CONFLICT: Final = 409
GONE: Final = 410
TOO_LARGE: Final = 413
NOT_JSON: Final = 415
UNUSABLE: Final = 422
FAILED: Final = 500
AWAY: Final = 503

# The status of a code; of PRECONDITION_FAILED the kind in the details says more.
OF_CODE: Final[Mapping[str, int]] = {
    "VALIDATION_ERROR": UNUSABLE,
    "NOT_FOUND": NOT_FOUND,
    "PRECONDITION_FAILED": UNUSABLE,
    "SESSION_BUSY": AWAY,
    "STORE_UNAVAILABLE": AWAY,
}
OF_KIND: Final[Mapping[str, int]] = {
    "run_ended": GONE,
    "run_driven": CONFLICT,
    "run_unfinished": CONFLICT,
}


class Refused(Exception):
    """A request that no verb is asked with: its status and the envelope that answers it."""

    def __init__(self, status: int, body: Mapping[str, Json]) -> None:
        super().__init__(body["message"])
        self.status: Final = status
        self.body: Final = dict(body)


def refused(status: int, code: str, message: str, remedy: str) -> Refused:
    """Return the refusal of a request by its form."""
    return Refused(status, envelope(code, message, remedy))


def of_fault(fault: Fault) -> Refused:
    """Return the refusal that tells a fault."""
    kind = str(fault.details.get("kind", ""))
    status = OF_KIND.get(kind) or OF_CODE.get(fault.code.value, FAILED)
    return Refused(status, fault_reply(fault))


def answer_of(refusal: Refused) -> JSONResponse:
    """Return the response; one that may be asked for again says when."""
    retry = refusal.body["retry"]
    headers = {}
    if refusal.status == AWAY and isinstance(retry, Mapping):
        wait_ms = int(str(retry.get("afterMs", 0)))
        headers["retry-after"] = str(max(1, -(-wait_ms // 1_000)))
    return JSONResponse(refusal.body, status_code=refusal.status, headers=headers)

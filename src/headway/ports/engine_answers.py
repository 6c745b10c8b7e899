"""Reading what `continue_workflow` answers: the same here and over the wire.

Whatever speaks of a token is left out: whoever drives a run keeps it, and no model is told.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from headway.domain.values import Json, JsonObject
from headway.ports.engine import GateWaits, Refused

_OF_TOKENS: Final = (
    " with the retry token of this answer",
    " with the retry token",
    ", then use the retry token",
)


def refused(reply: JsonObject) -> Refused:
    """Return what a blocked answer lacks, with what to send, and what it suggests."""
    reasons = [
        _untold(f"{blocker.get('message')} {blocker.get('suggestedFix')}")
        for blocker in map(_object, _list(_object(reply.get("blockers")).get("blockers")))
    ]
    validation = _object(reply.get("validation"))
    for part in ("issues", "suggestions"):
        said = "\n".join(reasons)
        reasons += [str(text) for text in _list(validation.get(part)) if str(text) not in said]
    followup = _object(reply.get("assessmentFollowup"))
    reasons += [f"{followup.get('title')}: {followup.get('guidance')}"] if followup else []
    return Refused(reasons=tuple(reasons), retryable=bool(reply.get("retryable")))


def waits(reply: JsonObject) -> GateWaits:
    """Return what a gate's answer says."""
    return GateWaits(
        gate=str(reply.get("gateId")),
        step=str(reply.get("stepId")),
        command=str(reply.get("showCommand")),
    )


def _untold(text: str) -> str:
    for phrase in _OF_TOKENS:
        text = text.replace(phrase, "")
    return text


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list | tuple) else ()

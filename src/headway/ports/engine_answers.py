"""Reading what `continue_workflow` answers: the same here and over the wire.

Whatever speaks of a token is left out: whoever drives a run keeps it, and no model is told.
"""

from collections.abc import Mapping, Sequence

from headway.domain.blockers import GATE_REJECTED, STEP_REFUSED, without_token
from headway.domain.values import Json, JsonObject
from headway.ports.engine import GateWaits, Refused


def step_text(reply: JsonObject) -> str:
    """Return the text of the step that an answer opens, and what was refused on it before."""
    refusals = [
        str(warning.get("message"))
        for warning in map(_object, _list(reply.get("warnings")))
        if warning.get("kind") in {GATE_REJECTED, STEP_REFUSED}
    ]
    return "\n\n".join([str(_object(reply.get("pending")).get("prompt")), *refusals])


def refused(reply: JsonObject) -> Refused:
    """Return what a blocked answer lacks, with what to send, and what it suggests."""
    reasons = [
        without_token(f"{blocker.get('message')} {blocker.get('suggestedFix')}")
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


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list | tuple) else ()

"""Reading what `continue_workflow` answers: the same here and over the wire.

Its texts are for callers of that tool. A model of a run hands in with `complete_step`, whose fields
have other names, and is told of no token: whoever drives the run keeps it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from headway.domain.blockers import GATE_REJECTED, STEP_REFUSED, without_token
from headway.domain.values import Json, JsonObject
from headway.ports.engine import GateWaits, Refused

_ANEW: Final = (
    " and tell the user. To go on, call continue_workflow with this token and intent rehydrate: "
    "the step is told anew with a fresh token."
)
# Headway's own phrases, each as a whole: the same names in words of an author, or in what a check
# printed, may be what the work is about.
TOLD_TO_A_MODEL: Final = (
    ("as Markdown in `output.notesMarkdown`", "as Markdown in `notes`"),
    ("into output.notesMarkdown", "into notes"),
    ("Rewrite output.notesMarkdown so", "Rewrite the notes so"),
    ("in `output.artifacts`", "in `artifacts`"),
    ("into output.artifacts", "into artifacts"),
    ("Repeat the call with the same token and", "Call complete_step again with"),
    ("Repeat the call with the same token;", "Call complete_step again;"),
    (_ANEW, ". Nothing more is taken on this step: say what is missing and end your turn."),
)


def for_a_model(text: str) -> str:
    """Return a text in the words that a model of a run knows."""
    text = without_token(text)
    for told, meant in TOLD_TO_A_MODEL:
        text = text.replace(told, meant)
    return text


def step_text(reply: JsonObject) -> str:
    """Return the text of the step that an answer opens, and what was refused on it before."""
    refusals = [
        str(warning.get("message"))
        for warning in map(_object, _list(reply.get("warnings")))
        if warning.get("kind") in {GATE_REJECTED, STEP_REFUSED}
    ]
    told = [str(_object(reply.get("pending")).get("prompt")), *refusals]
    return for_a_model("\n\n".join(told))


def refused(reply: JsonObject) -> Refused:
    """Return what a blocked answer lacks, with what to send, and what it suggests."""
    reasons = [
        for_a_model(f"{blocker.get('message')} {blocker.get('suggestedFix')}")
        for blocker in map(_object, _list(_object(reply.get("blockers")).get("blockers")))
    ]
    validation = _object(reply.get("validation"))
    for part in ("issues", "suggestions"):
        said = "\n".join(reasons)
        texts = [for_a_model(str(text)) for text in _list(validation.get(part))]
        reasons += [text for text in texts if text not in said]
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

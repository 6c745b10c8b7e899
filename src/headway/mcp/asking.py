"""Asking the person behind a client to decide a gate: elicitation, where the client offers it.

The question goes to the client's own window, never into the conversation of the agent that did the
work; what an agent can send as a tool's arguments answers nothing. In the newer era of the protocol
the question is the answer to the call and comes back with the next one; in the older one it is a
request of ours, where the transport can carry one.

Laws.
1. An answer counts for the gate of the attempt that was handed in and for what that gate showed,
   both named by the state that travels with the question. The state is not believed: it is compared
   with the gate, so it needs no secret, and an answer outlives a restart of the server.
2. Only a form that was filled in decides. Declining, closing it, an answer of another form or none
   at all leave the gate waiting for `headway gates approve`.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias, get_args

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequestParams,
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from headway.application.requests import DecideGate, Json, Reply

ANSWERS_IN_RESULTS_SINCE: Final = "2026-07-28"
ANSWER_SECONDS_MAX: Final = 300.0
SHOWN_MAX: Final = 2_000
CLIENT_NAME_MAX: Final = 48  # in any script, fits what is kept of who decided
RATIONALE_MAX: Final = 2_000
QUESTION: Final = "gate"

Word: TypeAlias = Literal["approve", "reject"]
FORM: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": list(get_args(Word))},
        "rationale": {"type": "string", "title": "Why", "maxLength": RATIONALE_MAX},
    },
    "required": ["decision"],
}

logger = logging.getLogger(__name__)


def can_ask(context: ServerRequestContext) -> bool:
    """Tell whether this client shows forms to its user and this call can bring it one."""
    session = context.session
    if not _shows_forms(session.client_capabilities):
        return False
    return _by_result(context) or session.can_send_request


async def ask(
    context: ServerRequestContext, params: CallToolRequestParams, gate: Reply
) -> DecideGate | InputRequiredResult | None:
    """Put a gate, as `show_gate` tells it, before the client's user.

    Return the decision, the question where that must be the answer to the call, or None when
    nothing was decided.
    """
    state = f"{gate['gateId']} {gate['shown']}"
    form = ElicitRequestFormParams(message=question(gate), requested_schema=FORM)
    if not _by_result(context):
        return _decision(context, gate, await _sent(context, form))
    answers = params.input_responses or {}
    if QUESTION in answers and params.request_state == state:
        return _decision(context, gate, answers[QUESTION])
    return InputRequiredResult(
        input_requests={QUESTION: ElicitRequest(params=form)}, request_state=state
    )


def question(gate: Reply) -> str:
    """Return what a person is shown: what was handed in, quoted, and where to see all of it."""
    parts = [
        f"Approve the step {_line(gate['title'])} ({gate['stepId']}) of {gate['workflowId']}?",
        f"Goal: {_line(gate['goal'])}",
        _quoted("Notes", gate["notes"]),
        *[_quoted("Artifact", each) for each in _items(gate["artifacts"])],
        _quoted("Context", gate["context"]),
        *[_quoted("Check", each) for each in _items(gate["checks"])],
        *[_quoted("Gap", each) for each in _items(gate["gaps"])],
        f"All of it: headway gates show {gate['gateId']}",
        f"Your answer counts for this content alone: {gate['shown']}",
    ]
    return "\n\n".join(part for part in parts if part)


def _shows_forms(capabilities: ClientCapabilities | None) -> bool:
    elicitation = capabilities.elicitation if capabilities is not None else None
    # A bare `{}` is from before there were modes, and meant forms.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _by_result(context: ServerRequestContext) -> bool:
    return context.protocol_version >= ANSWERS_IN_RESULTS_SINCE  # dates, so their order is theirs


async def _sent(
    context: ServerRequestContext, form: ElicitRequestFormParams
) -> ElicitResult | None:
    """Ask by a request of ours; None when the client does not answer, or not in time."""
    try:
        with anyio.move_on_after(ANSWER_SECONDS_MAX):
            return await context.session.elicit_form(
                form.message, form.requested_schema, context.request_id
            )
    except (MCPError, ValueError) as error:  # an error instead of an answer, or one of no form
        logger.warning("the client did not put the question: %s", type(error).__name__)
    return None


def _decision(context: ServerRequestContext, gate: Reply, answer: object) -> DecideGate | None:
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return None
    content = answer.content or {}
    word, rationale = content.get("decision"), content.get("rationale", "")
    if word not in get_args(Word) or not isinstance(rationale, str):
        logger.warning("the answer to gate %s is not what the form asks for", gate["gateId"])
        return None
    client = context.session.client_params
    name = client.client_info.name if client is not None else "unnamed"
    return DecideGate(
        gate=str(gate["gateId"]),
        approve=word == "approve",
        decided_by=f"elicitation by {_line(name)[:CLIENT_NAME_MAX] or 'unnamed'}",
        shown=str(gate["shown"]),
        rationale=rationale[:RATIONALE_MAX],
    )


def _quoted(name: str, value: Json) -> str:
    """Return a value under its name, each line marked as quoted, so that it cannot pose as ours."""
    if value in (None, "", {}, []):
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX].rstrip()} […]"
    return "\n".join([f"{name}:", *(f"> {_line(line)}" for line in cut.splitlines())])


def _line(text: Json) -> str:
    """Return a text as one line without characters that steer a screen."""
    return "".join(each if each.isprintable() else " " for each in str(text)).strip()


def _items(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str | Mapping) else ()

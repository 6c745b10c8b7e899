"""The output schemas of the seven tools: what a client may rely on in `structuredContent`.

Open objects: a later version may say more. A faulty call answers with the error envelope instead,
marked `isError`. The protocol exempts it from these schemas, but widespread clients check it all
the same, and then tell the agent of a broken schema instead of the error. So it fits them too.
"""

from typing import Final

from headway.application.requests import Json, JsonObject

TEXT: Final[JsonObject] = {"type": "string"}
FLAG: Final[JsonObject] = {"type": "boolean"}
COUNT: Final[JsonObject] = {"type": "integer"}
OBJECT: Final[JsonObject] = {"type": "object"}
TEXT_OR_NULL: Final[JsonObject] = {"type": ["string", "null"]}
OBJECT_OR_NULL: Final[JsonObject] = {"type": ["object", "null"]}
FAULT: Final[dict[str, JsonObject]] = {
    "code": TEXT,
    "message": TEXT,
    "retry": OBJECT,
    "details": OBJECT,
}


def _list(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items}


def _open(required: tuple[str, ...], **properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(required)}


def _answer(required: tuple[str, ...], **properties: JsonObject) -> JsonObject:
    """Return the schema of what a tool answers: these properties, or the error envelope."""
    either: list[Json] = [{"required": list(required)}, {"required": list(FAULT)}]
    return {"type": "object", "properties": {**properties, **FAULT}, "anyOf": either}


def _names(*names: str) -> JsonObject:
    allowed: list[Json] = list(names)
    return {"type": "string", "enum": allowed}


PENDING: Final[JsonObject] = {
    **_open(("stepId", "title", "prompt"), stepId=TEXT, title=TEXT, prompt=TEXT),
    "type": ["object", "null"],
}
NEXT_INTENT: Final = _names(
    "perform_pending_then_continue", "await_user_confirmation", "rehydrate_only", "complete"
)
STEP: Final[dict[str, JsonObject]] = {
    "continueToken": TEXT,
    "checkpointToken": TEXT,
    "isComplete": FLAG,
    "pending": PENDING,
    "preferences": OBJECT,
    "nextIntent": NEXT_INTENT,
    "nextCall": OBJECT_OR_NULL,
    "warnings": {"type": "array"},
}

OUTPUT_SCHEMAS: Final[dict[str, JsonObject]] = {
    "list_workflows": _answer(
        ("workflows",),
        workflows=_list(_open(("workflowId", "name"), workflowId=TEXT, name=TEXT)),
        sources=_list(OBJECT),
        validationWarnings=_list(OBJECT),
    ),
    "inspect_workflow": _answer(
        ("workflowId", "workflowHash", "mode", "compiled"),
        workflowId=TEXT,
        workflowHash=TEXT_OR_NULL,
        mode=_names("metadata", "preview", "flow"),
        compiled=OBJECT,
    ),
    "start_workflow": _answer(("isComplete",), **STEP),
    "continue_workflow": _answer(
        ("kind",),
        kind=_names("ok", "blocked", "gate_checkpoint"),
        **STEP,
        blockers=OBJECT,
        retryable=FLAG,
        retryContinueToken=TEXT,
        validation=OBJECT,
        assessmentFollowup=OBJECT,
        stepContext=OBJECT,
        gateId=TEXT,
        gateToken=TEXT,
        stepId=TEXT,
        gateKind=TEXT,
        showCommand=TEXT,
    ),
    "checkpoint_workflow": _answer(
        ("checkpointNodeId", "resumeToken"),
        checkpointNodeId=TEXT,
        resumeToken=TEXT,
        nextCall=OBJECT_OR_NULL,
    ),
    "resume_session": _answer(
        ("candidates", "totalEligible"),
        candidates=_list(OBJECT),
        totalEligible=COUNT,
        warnings=_list(TEXT),
    ),
    "manage_workflow_source": _answer(
        ("action", "path"), action=_names("attach", "detach"), path=TEXT
    ),
}

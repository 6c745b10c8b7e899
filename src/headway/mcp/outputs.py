"""The output schemas of the seven tools: what a client may rely on in `structuredContent`.

Open objects: a later version may say more. A faulty call answers with the error envelope instead,
marked `isError`, to which these schemas do not apply.
"""

from typing import Final

from headway.application.requests import Json, JsonObject

TEXT: Final[JsonObject] = {"type": "string"}
FLAG: Final[JsonObject] = {"type": "boolean"}
COUNT: Final[JsonObject] = {"type": "integer"}
OBJECT: Final[JsonObject] = {"type": "object"}
TEXT_OR_NULL: Final[JsonObject] = {"type": ["string", "null"]}
OBJECT_OR_NULL: Final[JsonObject] = {"type": ["object", "null"]}


def _list(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items}


def _open(required: tuple[str, ...], **properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(required)}


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
    "list_workflows": _open(
        ("workflows",),
        workflows=_list(_open(("workflowId", "name"), workflowId=TEXT, name=TEXT)),
        sources=_list(OBJECT),
        validationWarnings=_list(OBJECT),
    ),
    "inspect_workflow": _open(
        ("workflowId", "workflowHash", "mode", "compiled"),
        workflowId=TEXT,
        workflowHash=TEXT_OR_NULL,
        mode=_names("metadata", "preview", "flow"),
        compiled=OBJECT,
    ),
    "start_workflow": _open(("isComplete",), **STEP),
    "continue_workflow": _open(
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
    "checkpoint_workflow": _open(
        ("checkpointNodeId", "resumeToken"),
        checkpointNodeId=TEXT,
        resumeToken=TEXT,
        nextCall=OBJECT_OR_NULL,
    ),
    "resume_session": _open(
        ("candidates", "totalEligible"), candidates=_list(OBJECT), totalEligible=COUNT
    ),
    "manage_workflow_source": _open(
        ("action", "path"), action=_names("attach", "detach"), path=TEXT
    ),
}

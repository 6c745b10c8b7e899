"""The input schemas of the seven tools: one text, announced to clients and enforced on calls.

Closed objects throughout. What only the engine can judge (is this a token, does this workflow
exist) is left to it, so that its answer with the right code and a remedy reaches the caller.
"""

from typing import Final

from headway.application.requests import Json, JsonObject

PATH_LENGTH_MAX: Final = 4096
ID_LENGTH_MAX: Final = 256
QUERY_LENGTH_MAX: Final = 256
TAGS_MAX: Final = 50

ABSOLUTE_PATH: Final = r"^(?:/|[A-Za-z]:[\\/]|\\\\)[^\u0000]*$"
NO_NUL: Final = r"^[^\u0000]*$"


def _text(description: str, **more: Json) -> JsonObject:
    return {"type": "string", "description": description, **more}


def _closed(required: tuple[str, ...], **properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


WORKSPACE: Final = _text(
    "Absolute path of the folder you work in.",
    minLength=1,
    maxLength=PATH_LENGTH_MAX,
    pattern=ABSOLUTE_PATH,
)
WORKFLOW_ID: Final = _text(
    "Id of a workflow, as list_workflows shows it.",
    minLength=1,
    maxLength=ID_LENGTH_MAX,
    pattern=NO_NUL,
)
CONTEXT: Final[JsonObject] = {
    "type": "object",
    "description": (
        "Facts the workflow steers by, as JSON. "
        "Merged key by key over what is known; null removes a key."
    ),
}

INPUT_SCHEMAS: Final[dict[str, JsonObject]] = {
    "list_workflows": _closed(
        ("workspacePath",),
        workspacePath=WORKSPACE,
        tags={
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": ID_LENGTH_MAX},
            "maxItems": TAGS_MAX,
            "description": "Keep only workflows that carry any of these tags.",
        },
        includeSources={
            "type": "boolean",
            "description": "Also show the folders that were searched and what each holds.",
        },
    ),
    "inspect_workflow": _closed(
        ("workflowId", "workspacePath"),
        workflowId=WORKFLOW_ID,
        workspacePath=WORKSPACE,
        mode={
            "type": "string",
            "enum": ["metadata", "preview", "flow"],
            "description": (
                "preview (default): what it is for and its outline. flow: also when each step is "
                "met, what it demands, how long its prompt is, and a Mermaid diagram."
            ),
        },
    ),
    "start_workflow": _closed(
        ("workflowId", "workspacePath", "goal"),
        workflowId=WORKFLOW_ID,
        workspacePath=WORKSPACE,
        goal=_text(
            "What this session is to achieve, in one or two sentences.", minLength=1, pattern=NO_NUL
        ),
        context=CONTEXT,
        preferences={
            **_closed(
                (),
                autonomy={
                    "type": "string",
                    "enum": ["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"],
                },
                riskPolicy={"type": "string", "enum": ["conservative", "balanced", "aggressive"]},
            ),
            "description": (
                "How far you may go by yourself, if the user said so; else guided, conservative."
            ),
        },
        modelTier={
            "type": "string",
            "enum": ["lightweight", "mid", "heavy"],
            "description": "The class of model that does the work, if known.",
        },
    ),
    "continue_workflow": _closed(
        ("continueToken",),
        continueToken=_text("The newest continueToken (or a resumeToken, to read a step again)."),
        intent={
            "type": "string",
            "enum": ["advance", "rehydrate"],
            "description": (
                "advance hands the step in; rehydrate shows it again and changes nothing. "
                "Left out: advance when there is output, else rehydrate."
            ),
        },
        output={
            **_closed(
                (),
                notesMarkdown=_text(
                    "What you did, found and decided on this step, in Markdown.",
                    minLength=1,
                    contentMediaType="text/markdown",
                ),
                artifacts={
                    "type": "array",
                    "description": "Structured results, where the step asks for them.",
                },
            ),
            "description": "What this step produced.",
        },
        context=CONTEXT,
        workspacePath={
            **WORKSPACE,
            "description": "Absolute path of the folder you work in; needed with intent rehydrate.",
        },
    ),
    "checkpoint_workflow": _closed(
        ("checkpointToken",),
        checkpointToken=_text("The checkpointToken of the step you are on."),
    ),
    "resume_session": _closed(
        ("workspacePath",),
        workspacePath=WORKSPACE,
        query=_text(
            "Words from the goal, any notes or the workflow's name.",
            minLength=1,
            maxLength=QUERY_LENGTH_MAX,
            pattern=NO_NUL,
        ),
        runId=_text("A run id.", maxLength=ID_LENGTH_MAX, pattern=r"^run_[a-z0-9]+$"),
        sessionId=_text("A session id.", maxLength=ID_LENGTH_MAX, pattern=r"^sess_[a-zA-Z0-9_]+$"),
        gitBranch=_text("A branch name.", minLength=1, maxLength=ID_LENGTH_MAX, pattern=NO_NUL),
        gitHeadSha=_text("A full commit id.", pattern=r"^[0-9a-f]{40}$"),
        sameWorkspaceOnly={
            "type": "boolean",
            "description": "Leave out sessions of other workspaces.",
        },
    ),
    "manage_workflow_source": _closed(
        ("action", "path"),
        action={"type": "string", "enum": ["attach", "detach"]},
        path={**WORKSPACE, "description": "Absolute path of a folder that holds workflow files."},
    ),
}

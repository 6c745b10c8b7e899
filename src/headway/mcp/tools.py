"""The seven tools as a client sees them: what they are for, in plain words, with their schemas.

Together with the instructions these texts are all an agent is told of the protocol; no step of a
workflow repeats it. They are sent to every agent's context, so every sentence must earn its place.
"""

from typing import Final

from mcp.types import Tool, ToolAnnotations

from headway.mcp.outputs import OUTPUT_SCHEMAS
from headway.mcp.schemas import INPUT_SCHEMAS

INSTRUCTIONS: Final = """\
Headway leads you through long work one step at a time and records every step durably. You see a
step only when the ones before it are done, so do not guess ahead.

How it goes:
1. Call list_workflows, then start_workflow with a workflow, the user's goal and the absolute path
   of the workspace.
2. Do what the step in `pending.prompt` asks, fully, with your own tools.
3. Call continue_workflow with the newest continueToken, intent "advance" and output.notesMarkdown:
   what you did, found and decided. Add output.artifacts where the step asks for structured
   results, and context for facts that later steps need. The answer is the next step. Repeat until
   isComplete is true.

When the answer is `blocked`, nothing you sent was applied. Read each blocker, do what it says is
missing, and call again with retryContinueToken, sending everything that should count.

When nextIntent is `await_user_confirmation`, do the step, show the user the result and wait for
their word before you advance. A `gate_checkpoint` waits for somebody else's decision: stop, and
ask again later with the same token.

Tokens are opaque: copy them exactly, always use the newest, never make one up. Repeating a call
with a token is safe: the same token returns the recorded outcome. Repeating start_workflow starts
another session. After a crash, in a new chat or when you lost the thread, call resume_session, then
continue_workflow with intent "rehydrate" to see the current step and a recap.

Notes are the memory of the session. Write them for a reader who knows nothing but these notes.

Every error has a code, says what happened and, under details.suggestion, what to do next.
"""

DESCRIPTIONS: Final[dict[str, str]] = {
    "list_workflows": (
        "List the workflows available in a workspace: id, name and what each is for. Broken files "
        "are reported with place and remedy. Call it before start_workflow to choose by goal."
    ),
    "inspect_workflow": "Show what one workflow is about and its outline, without starting it.",
    "start_workflow": (
        "Start a durable session of a workflow for a goal. Returns the first step in "
        "pending.prompt and the continueToken to hand it in with. Do the step, then call "
        "continue_workflow."
    ),
    "continue_workflow": (
        "Hand in the current step and receive the next one (intent advance), or read the current "
        "step again with a recap (intent rehydrate, changes nothing). To advance, send the newest "
        "continueToken and output.notesMarkdown, plus output.artifacts and context where the step "
        "asks for them. kind blocked: nothing was applied; satisfy the blockers and use "
        "retryContinueToken. Safe to repeat: the same token returns the recorded outcome."
    ),
    "checkpoint_workflow": (
        "Mark progress in the middle of a long step without leaving it. Returns a resumeToken that "
        "brings you, or another chat, back to this step."
    ),
    "resume_session": (
        "Find earlier sessions to go on with: by words from the goal, any notes or the workflow's "
        "name, by session or run id, by git branch or commit; without any of these, the most "
        "recent ones of this workspace. "
        "Each candidate carries the exact next call."
    ),
    "manage_workflow_source": (
        "Attach a folder of workflow files to the catalogue, or detach it. "
        "Repeating it changes nothing."
    ),
}

READ_ONLY: Final = frozenset({"list_workflows", "inspect_workflow", "resume_session"})
NOT_IDEMPOTENT: Final = frozenset({"start_workflow"})


def tool_list() -> list[Tool]:
    """Return the tools in the order an agent meets them."""
    return [_tool(name) for name in INPUT_SCHEMAS]


def _tool(name: str) -> Tool:
    return Tool(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=DESCRIPTIONS[name],
        input_schema=dict(INPUT_SCHEMAS[name]),
        output_schema=dict(OUTPUT_SCHEMAS[name]),
        annotations=ToolAnnotations(
            read_only_hint=name in READ_ONLY,
            destructive_hint=False,
            idempotent_hint=name not in NOT_IDEMPOTENT,
            open_world_hint=False,
        ),
    )

"""The requests: what a surface asks of the engine, already parsed and plain.

`Request` are the seven an agent may make; the others are a person's or the worker's.

A surface turns whatever its callers send into one of these values and refuses everything else; a
verb takes one and may rely on its shape. Names are the engine's, not the wire's; values are plain
JSON. What a request means (which token, which workflow, how large a context) the verb judges.
"""

from typing import Literal, TypeAlias

from headway.domain.preferences import Preferences
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Autonomy, ModelTier, RiskPolicy

__all__ = [
    "Autonomy",
    "ChangePreferences",
    "CheckRun",
    "CheckpointWorkflow",
    "ContinueWorkflow",
    "DecideGate",
    "InspectMode",
    "InspectWorkflow",
    "Intent",
    "Json",
    "JsonObject",
    "ListWorkflows",
    "ManageWorkflowSource",
    "ModelTier",
    "Preferences",
    "RecordChecks",
    "Reply",
    "Request",
    "ResumeSession",
    "RiskPolicy",
    "ShowGate",
    "SourceAction",
    "StartWorkflow",
]

Intent: TypeAlias = Literal["advance", "rehydrate"]
InspectMode: TypeAlias = Literal["metadata", "preview", "flow"]
SourceAction: TypeAlias = Literal["attach", "detach"]

Reply: TypeAlias = dict[str, Json]  # JSON-ready, in the wire's camelCase names


class ListWorkflows(Value):
    """Which workflows can be seen from a workspace; `tags` keeps those that carry any of them."""

    workspace_path: str
    tags: tuple[str, ...] = ()
    include_sources: bool = False


class InspectWorkflow(Value):
    """What one workflow is, without starting it."""

    workflow_id: str
    workspace_path: str
    mode: InspectMode = "preview"


class StartWorkflow(Value):
    """Begin a session. `preferences` is None when the caller chose nothing.

    `call_key` is drawn by a caller who may send this very call again; it begins one session.
    `gates` is set by one who wants them enforced whatever the server is set to.
    """

    workflow_id: str
    workspace_path: str
    goal: str
    model_tier: ModelTier | None = None
    context: JsonObject = {}
    preferences: Preferences | None = None
    call_key: str | None = None
    gates: Literal["enforce"] | None = None


class ContinueWorkflow(Value):
    """Hand in the work on a step (`advance`) or read the step again (`rehydrate`).

    A rehydrate carries neither notes, artifacts nor context.
    """

    continue_token: str
    intent: Intent
    notes: str | None = None
    artifacts: tuple[Json, ...] = ()
    context: JsonObject | None = None
    workspace_path: str | None = None


class CheckpointWorkflow(Value):
    """Mark progress on a step without leaving it."""

    checkpoint_token: str


class ResumeSession(Value):
    """Find sessions to go on with; every given field narrows the search."""

    workspace_path: str
    query: str | None = None
    run_id: str | None = None
    session_id: str | None = None
    git_branch: str | None = None
    git_head_sha: str | None = None
    same_workspace_only: bool = False


class ManageWorkflowSource(Value):
    """Attach a folder of workflow files to the catalogue, or detach it."""

    action: SourceAction
    path: str


class ChangePreferences(Value):
    """Set how far a session may go by itself from its open step on; None keeps what is in force.

    The step is that of a token, or else the one the session stands at.
    """

    session: str | None = None
    token: str | None = None
    autonomy: Autonomy | None = None
    risk_policy: RiskPolicy | None = None


class CheckRun(Value):
    """What one run of a declared check gave; `exit_code` is None when it did not run.

    `problem` says what failed besides the exit code.
    """

    check: str
    exit_code: int | None
    output: bytes = b""
    duration_ms: int = 0
    problem: str = ""


class RecordChecks(Value):
    """Hand in what the check runner saw, for the attempt of a continue token."""

    continue_token: str
    runs: tuple[CheckRun, ...]


class ShowGate(Value):
    """Look at a gate: its id, or the beginning of one that waits."""

    gate: str


class DecideGate(Value):
    """Answer a gate; `shown` is the digest that stood beside what the decider was shown."""

    gate: str
    approve: bool
    decided_by: str
    shown: str
    rationale: str = ""


Request: TypeAlias = (
    ListWorkflows
    | InspectWorkflow
    | StartWorkflow
    | ContinueWorkflow
    | CheckpointWorkflow
    | ResumeSession
    | ManageWorkflowSource
)

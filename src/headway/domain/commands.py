"""The commands a session understands, and the facts the shell gathered for deciding them."""

from typing import TypeAlias

from headway.domain.events import CheckResult, Drift, GateMode, GitFacts, ReferenceStatus
from headway.domain.ids import AttemptId, Digest, SessionId, WorkflowHash
from headway.domain.preferences import Preferences
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Workflow


class Start(Value):
    """Begin a session of a workflow."""

    goal: str
    context: JsonObject = {}  # the caller's initial context
    preferences: Preferences | None = None  # None: the defaults
    model_tier: str | None = None
    gates: GateMode = "advisory"
    autonomous: bool = False


class Advance(Value):
    """Leave a node with what was done there."""

    attempt: AttemptId
    notes: str | None = None
    artifacts: tuple[Json, ...] = ()
    context: JsonObject | None = None
    drift: tuple[Drift, ...] = ()


class SaveCheckpoint(Value):
    """Mark progress at a node."""

    attempt: AttemptId


class ChangePreferences(Value):
    """Set the preferences in force from a node on."""

    attempt: AttemptId
    preferences: Preferences


class RecordChecks(Value):
    """Hand in what the check runner saw for an attempt."""

    attempt: AttemptId
    results: tuple[CheckResult, ...]


class DecideGate(Value):
    """Answer an open gate; `shown` must be the digest of what the decider was shown."""

    attempt: AttemptId
    approve: bool
    decided_by: str
    shown: Digest
    rationale: str = ""


Command: TypeAlias = (
    Start | Advance | SaveCheckpoint | ChangePreferences | RecordChecks | DecideGate
)


class StartFacts(Value):
    """What the shell knows when a session starts."""

    session: SessionId
    workflow: WorkflowHash
    workflow_source: str
    workspace: str
    git: GitFacts = GitFacts()
    references: tuple[ReferenceStatus, ...] = ()


class Facts(Value):
    """What the shell knows: the session's pinned workflow, and for a start what surrounds it."""

    workflow: Workflow
    start: StartFacts | None = None

"""The events of a session: the facts its stream consists of, a closed union.

An event is a fact in the past tense. Together they hold all a reply is rendered from, so that a
recorded outcome can be told again at any time; and each event that opens a node holds that node's
whole standing (`Opened`), so that an advance reads two records however long the session is.

Versions count from 1 within a stream. Texts and artifacts are kept whole: short ones inside the
event, long ones as blobs named by digest (`Content`).
"""

from typing import Literal, TypeAlias

from headway.domain.ids import AttemptId, Digest, NodeId, SessionId, WorkflowHash
from headway.domain.preferences import Preferences
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import GateKind

GateMode: TypeAlias = Literal["advisory", "enforce"]
PreferencesSource: TypeAlias = Literal["default", "caller", "operator"]
GapSeverity: TypeAlias = Literal["info", "warning", "critical"]


class Content(Value):
    """A text (notes) or JSON value (artifact), inside the event or as a blob of `size` bytes."""

    digest: Digest  # of the UTF-8 text, or of the artifact's RFC 8785 form
    size: int
    inline: Json = None
    blob: bool = False


class Output(Value):
    """What the agent handed in: notes, and artifacts in the order sent."""

    notes: Content | None = None
    artifacts: tuple[Content, ...] = ()


class Cursor(Value):
    """A position: the index of the item on each level, and the pass (from 0) of each loop around.

    `len(passes) == len(at) - 1`. The last index names a step; the ones before it name loops.
    """

    at: tuple[int, ...]
    passes: tuple[int, ...] = ()


class Segment(Value):
    """A stretch of context changes, folded, in the event of this version (see context.py)."""

    version: int
    size: int


class Opened(Value):
    """A node's standing when it was opened: all that an advance from it needs to know.

    `parent` is the version of the event that opened the node before it (None at the root), `depth`
    the number of advances that led here, `gaps` the number recorded on the way.
    """

    node: NodeId
    attempt: AttemptId
    parent: int | None
    depth: int
    cursor: Cursor
    context: tuple[Segment, ...]
    preferences: Preferences
    gaps: int = 0


class Skip(Value):
    """A step or loop passed over because its run condition did not hold, with that condition."""

    item: str
    condition: str  # in words
    passes: tuple[int, ...] = ()


class LoopLimit(Value):
    """A loop left because it reached its limit although it would have gone on."""

    loop: str
    title: str
    max_iterations: int


class Walk(Value):
    """What happened between one step and the next."""

    skips: tuple[Skip, ...] = ()
    skips_omitted: int = 0
    loop_limits: tuple[LoopLimit, ...] = ()


class ContextChange(Value):
    """Context as handed in, and the fold it was merged into when that differs (see context.py)."""

    delta: JsonObject
    fold: JsonObject | None = None


class DimensionResult(Value):
    """The recorded level of one dimension; `exact` is false when the text had to be normalised."""

    dimension: str
    level: str
    rationale: str | None = None
    exact: bool = True


class AssessmentResult(Value):
    """An accepted assessment."""

    assessment: str
    dimensions: tuple[DimensionResult, ...]
    summary: str | None = None
    notes: tuple[str, ...] = ()  # on normalisation, for the agent


class Pointer(Value):
    """What a blocker is about. Only the fields of its `kind` are set."""

    kind: Literal[
        "context_key", "context_budget", "output_contract", "assessment_dimension",
        "workflow_step", "capability", "check", "gate",
    ]  # fmt: skip
    key: str | None = None
    contract_ref: str | None = None
    assessment_id: str | None = None
    dimension_id: str | None = None
    step_id: str | None = None
    capability: str | None = None
    check_id: str | None = None


class Blocker(Value):
    """One reason why an attempt was refused, and what would satisfy it."""

    code: str
    pointer: Pointer
    message: str
    fix: str


class Feedback(Value):
    """What validation found wrong with the output, in sentences."""

    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


class Gap(Value):
    """Something missing that the run went on without."""

    code: str
    severity: GapSeverity
    category: str
    summary: str


class Drift(Value):
    """A binding that is no longer what the session was started with."""

    slot: str
    pinned: str
    current: str


class ReferenceStatus(Value):
    """Where a reference pointed on the machine that started the session."""

    id: str
    resolved: bool
    path: str


class CheckResult(Value):
    """One run of a declared check.

    `problem` is a sentence on what failed besides the exit code, `said` the end of what a failed
    check printed: so much of it as its blocker shows.
    """

    check: str
    exit_code: int | None  # None: it did not run
    output_digest: Digest | None = None
    duration_ms: int = 0
    problem: str = ""
    said: str = ""

    @property
    def failed(self) -> bool:
        """Tell whether it ran and failed, or was not run because of what was done."""
        return bool(self.problem or self.exit_code)


class GitFacts(Value):
    """Where the workspace stood; every field is None outside a repository."""

    branch: str | None = None
    head: str | None = None
    repository: Digest | None = None  # digest of the common git folder, so worktrees share it


class SessionStarted(Value, tag="session_started", tag_field="event"):
    """A session began. `origin` is the id the session was born with, kept by an import."""

    origin: SessionId
    workflow: WorkflowHash
    workflow_id: str
    workflow_source: str
    goal: str
    workspace: str
    git: GitFacts
    preferences_source: PreferencesSource
    gates: GateMode
    context: ContextChange
    walk: Walk
    opened: Opened | None
    references: tuple[ReferenceStatus, ...] = ()
    model_tier: str | None = None
    autonomous: bool = False


class StepAdvanced(Value, tag="step_advanced", tag_field="event"):
    """An attempt left its node. `opened` is where it led, None when the workflow is complete."""

    node: NodeId
    attempt: AttemptId
    opened_at: int  # version of the event that opened `node`
    step: str
    output: Output
    walk: Walk
    opened: Opened | None
    context: ContextChange | None = None
    assessments: tuple[AssessmentResult, ...] = ()
    gaps: tuple[Gap, ...] = ()
    drift: tuple[Drift, ...] = ()
    gate: int | None = None  # version of the GateDecided that let it through


class AdvanceBlocked(Value, tag="advance_blocked", tag_field="event"):
    """An attempt was refused. What it brought is kept and shown, and counts for nothing."""

    node: NodeId
    attempt: AttemptId
    opened_at: int
    step: str
    blockers: tuple[Blocker, ...]
    blocks: int  # blocks in a row on this chain, this one included
    retryable: bool
    output: Output
    context: ContextChange | None = None
    feedback: Feedback = Feedback()
    followup: str | None = None  # guidance of assessment consequences
    drift: tuple[Drift, ...] = ()


class PreferencesChanged(Value, tag="preferences_changed", tag_field="event"):
    """Preferences were changed at a node; `opened` is the node's standing from now on."""

    source: PreferencesSource
    opened: Opened
    opened_at: int


class GapRecorded(Value, tag="gap_recorded", tag_field="event"):
    """Gaps known outside an advance, such as preferences bolder than the author advises."""

    gaps: tuple[Gap, ...]


class CheckpointSaved(Value, tag="checkpoint_saved", tag_field="event"):
    """Progress was marked at a node without leaving it."""

    node: NodeId
    attempt: AttemptId
    opened_at: int
    checkpoint: NodeId


class GateOpened(Value, tag="gate_opened", tag_field="event"):
    """An attempt passed every rule and waits for a decision. `shown` binds the answer to this."""

    node: NodeId
    attempt: AttemptId
    opened_at: int
    step: str
    gate: GateKind
    shown: Digest
    output: Output
    context: ContextChange | None = None
    assessments: tuple[AssessmentResult, ...] = ()
    gaps: tuple[Gap, ...] = ()
    drift: tuple[Drift, ...] = ()
    blocks: int = 0  # blocks in a row before the gate


class GateDecided(Value, tag="gate_decided", tag_field="event"):
    """A gate was answered by a person or the gate evaluator."""

    opened_gate: int  # version of the GateOpened
    node: NodeId
    attempt: AttemptId
    verdict: Literal["approved", "rejected"]
    decided_by: str
    shown: Digest
    rationale: str = ""


class ChecksRecorded(Value, tag="checks_recorded", tag_field="event"):
    """The engine's runner executed a step's checks for an attempt."""

    node: NodeId
    attempt: AttemptId
    results: tuple[CheckResult, ...]


class SessionCompleted(Value, tag="session_completed", tag_field="event"):
    """A branch reached the end of the workflow."""

    node: NodeId | None  # the node it left last; None when nothing applied from the start
    outcome: Literal["complete", "complete_with_gaps"]
    gaps: int = 0


Event: TypeAlias = (
    SessionStarted
    | StepAdvanced
    | AdvanceBlocked
    | PreferencesChanged
    | GapRecorded
    | CheckpointSaved
    | GateOpened
    | GateDecided
    | ChecksRecorded
    | SessionCompleted
)

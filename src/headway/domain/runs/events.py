"""The events of a run: the facts its stream consists of, a closed union.

Each is recorded before what follows from it is done: a model is called after `ModelAsked`, a tool
runs after `ToolStarted`. Messages are blobs named by digest, so a stream grows by what is new. All
but `OUTSIDERS` are written by the worker that holds the run's lease, under its fence.
"""

from typing import Final, Literal, TypeAlias

from headway.domain.ids import Digest, SessionId
from headway.domain.runs.limits import Limit, Limits
from headway.domain.runs.messages import Origin, StopReason, Usage
from headway.domain.runs.outcomes import Outcome, Sign
from headway.domain.values import Value


class Owner(Value):
    """A process that may hold a lease; the four together name no other process, ever."""

    host: str
    boot: str
    pid: int
    started: str


# What a run does that is stuck: it ends, or says so and goes on.
StuckPolicy: TypeAlias = Literal["abort", "notify"]


class CallAsked(Value):
    """A tool call of a reply; `arguments` is the digest of their text, which the reply holds."""

    id: str
    name: str
    arguments: Digest


class RunSubmitted(Value, tag="run_submitted", tag_field="event"):
    """A run was asked for; `retry_of` is the ended run whose request this is anew."""

    workflow_id: str
    workspace: str
    goal: str
    model: str
    limits: Limits = Limits()
    in_place: bool = False
    stuck: StuckPolicy = "abort"
    retry_of: str | None = None

    @property
    def provider(self) -> str:
        """Return who serves the run's model."""
        return self.model.partition(":")[0]


class RunClaimed(Value, tag="run_claimed", tag_field="event"):
    """A worker took the run. What was under way before it is interrupted."""

    fence: int
    owner: Owner


class WorktreePlanned(Value, tag="worktree_planned", tag_field="event"):
    """Where the run will work; the worktree is made after this."""

    path: str
    branch: str | None  # None: in place, on whatever branch stands there
    base: str  # the commit it starts from
    left_out: int = 0  # files of the workspace with changes that are not committed, so not in it


class SessionJoined(Value, tag="session_joined", tag_field="event"):
    """The session that the run drives; `engine` is where, when that is not this store."""

    session: SessionId
    system: Digest  # the blob of what every request begins with
    engine: str = ""


class StepReached(Value, tag="step_reached", tag_field="event"):
    """The engine stands at a step, the `number`-th of about `total`."""

    step: str
    title: str
    number: int
    total: int


class WorkflowCompleted(Value, tag="workflow_completed", tag_field="event"):
    """The engine said that nothing is left to do."""


class GateReached(Value, tag="gate_reached", tag_field="event"):
    """The engine waits for a decision that is not the model's."""

    gate: str
    step: str


class TextTold(Value, tag="text_told", tag_field="event"):
    """A text of ours was added to the conversation."""

    text: Digest
    origin: Origin


class RunSteered(Value, tag="run_steered", tag_field="event"):
    """A person has something to say to the model; it hears it with the next request."""

    text: Digest
    by: str


class AbortAsked(Value, tag="abort_asked", tag_field="event"):
    """A person wants the run to end."""

    by: str
    reason: str = ""


class PauseAsked(Value, tag="pause_asked", tag_field="event"):
    """A person wants the run to rest once the turn under way is over."""

    by: str


class ModelAsked(Value, tag="model_asked", tag_field="event"):
    """The model is asked, with everything recorded so far."""

    turn: int


class ModelReplied(Value, tag="model_replied", tag_field="event"):
    """The model replied; `reply` is the blob of the whole of it.

    `answered`: its one call is what its text was read as.
    """

    turn: int
    reply: Digest
    stop: StopReason
    model: str
    calls: tuple[CallAsked, ...] = ()
    answered: bool = False
    usage: Usage = Usage()
    duration_ms: int = 0


class ModelErred(Value, tag="model_erred", tag_field="event"):
    """The model gave no reply. `wait_ms` is how long to wait before it is asked again."""

    turn: int
    problem: Literal[
        "transient", "expired", "unpaid", "overflow", "refused", "unusable", "malformed"
    ]
    message: str
    wait_ms: int = 0
    duration_ms: int = 0


class CompactionAsked(Value, tag="compaction_asked", tag_field="event"):
    """The model is asked to sum up the turns `first` to `last`, to make room for those to come."""

    first: int
    last: int


class ConversationCompacted(Value, tag="conversation_compacted", tag_field="event"):
    """A summary stands for the turns `first` to `last` in what the model is sent from now on.

    `summary` is the blob of what it is told in their place. Their events and blobs stay.
    """

    first: int
    last: int
    summary: Digest
    model: str
    usage: Usage = Usage()
    duration_ms: int = 0


class StuckNoticed(Value, tag="stuck_noticed", tag_field="event"):
    """The run does not get on, and goes on all the same, as it was asked to."""

    sign: Sign
    message: str


class LimitNeared(Value, tag="limit_neared", tag_field="event"):
    """Four fifths of a limit are spent. Nothing follows from it."""

    limit: Limit


class ToolStarted(Value, tag="tool_started", tag_field="event"):
    """A call is about to be run."""

    call: str


class ToolEnded(Value, tag="tool_ended", tag_field="event"):
    """A call was run; `text` is the blob of what the model is told of it, a part of `whole`."""

    call: str
    text: Digest
    whole: Digest | None = None
    failed: bool = False
    duration_ms: int = 0


class ChangesCommitted(Value, tag="changes_committed", tag_field="event"):
    """The work stands as one commit on the run's branch; None when there was nothing to commit."""

    commit: str | None


class ChangesSaved(Value, tag="changes_saved", tag_field="event"):
    """What was not committed in a worktree nobody works in any more, before the worktree goes.

    `patch` is the blob of a patch on the commit `base`.
    """

    patch: Digest
    base: str
    files: int


class RunEnded(Value, tag="run_ended", tag_field="event"):
    """The run came to its end, or to a rest from which it can be resumed."""

    outcome: Outcome


class RunResumed(Value, tag="run_resumed", tag_field="event"):
    """A run at rest goes on, with new limits where they were the reason for it.

    What its model failed with before counts no more.

    One that was asked to pause and does not rest yet will not. New limits count in either case.
    """

    by: str
    limits: Limits | None = None


RunEvent: TypeAlias = (
    RunSubmitted
    | RunClaimed
    | WorktreePlanned
    | SessionJoined
    | StepReached
    | WorkflowCompleted
    | GateReached
    | TextTold
    | RunSteered
    | AbortAsked
    | PauseAsked
    | ModelAsked
    | ModelReplied
    | ModelErred
    | CompactionAsked
    | ConversationCompacted
    | StuckNoticed
    | LimitNeared
    | ToolStarted
    | ToolEnded
    | ChangesCommitted
    | ChangesSaved
    | RunEnded
    | RunResumed
)

# What others than the worker may write, without a fence.
OUTSIDERS: Final = (
    RunSubmitted,
    RunSteered,
    AbortAsked,
    PauseAsked,
    RunResumed,
    ChangesSaved,
)

"""The talk with a model as a state machine: what was said, and what is to be done next.

Laws.
1. A conversation is the fold of its events: loaded again, it is what it was.
2. `next_action` is total: whatever happened, there is exactly one thing to do next.
3. A call that ended is never run again. One that was running when another worker took the run is
   interrupted: the model is told so, and it is not run again either.
4. The first end wins: after it only a resumption changes anything, and only where it was a rest.
"""

from typing import Final, Literal, TypeAlias, assert_never

from msgspec.structs import replace

from headway.domain.ids import Digest, SessionId
from headway.domain.runs.events import (
    AbortAsked,
    CallAsked,
    ChangesCommitted,
    GateReached,
    ModelAsked,
    ModelErred,
    ModelReplied,
    RunClaimed,
    RunEnded,
    RunEvent,
    RunResumed,
    RunSteered,
    RunSubmitted,
    SessionJoined,
    StepReached,
    TextTold,
    ToolEnded,
    ToolStarted,
    WorkflowCompleted,
    WorktreePlanned,
)
from headway.domain.runs.limits import Limits, Spent, reached, with_reply
from headway.domain.runs.messages import Origin
from headway.domain.runs.outcomes import (
    Cancelled,
    ErrorReason,
    Failed,
    Outcome,
    Parked,
    Paused,
    Success,
    TimedOut,
    is_rest,
)
from headway.domain.runs.stuck import Habit, after_turn, stuck
from headway.domain.values import Value

NUDGES_MAX: Final = 3
ERRORS_MAX: Final = 6  # in a row, before a model counts as unavailable
NUDGE: Final = (
    "The workflow is not finished: work remains on this step. Go on with it, and call "
    "complete_step when it is done. If something keeps you from it, say so in its notes."
)

CallState: TypeAlias = Literal["waiting", "running", "ended", "failed", "interrupted"]


class CallStanding(Value):
    """A call and what has become of it; `text` is set once it ended."""

    asked: CallAsked
    state: CallState = "waiting"
    text: Digest | None = None


class ToldPart(Value, tag="told"):
    """A text of ours in the conversation."""

    text: Digest
    origin: Origin


class ReplyPart(Value, tag="reply"):
    """A reply in the conversation."""

    reply: Digest


class ResultsPart(Value, tag="results"):
    """What came of the calls of the reply before it."""

    calls: tuple[CallStanding, ...]


Part: TypeAlias = ToldPart | ReplyPart | ResultsPart


class Conversation(Value):
    """A run as its events tell it. `parts` is what the model was last asked with, and its reply."""

    version: int = 0
    submitted: RunSubmitted | None = None
    limits: Limits = Limits()
    fence: int = 0
    claims: int = 0
    worktree: WorktreePlanned | None = None
    joined: SessionJoined | None = None
    step: StepReached | None = None
    complete: bool = False
    gate: str | None = None
    committed: ChangesCommitted | None = None
    parts: tuple[Part, ...] = ()
    calls: tuple[CallStanding, ...] = ()  # of the last reply
    untold: tuple[ToldPart, ...] = ()  # what the next request adds
    asked: bool = False  # a request is under way
    said: ModelReplied | None = None  # the last reply, until the next request
    erred: ModelErred | None = None  # the last failure, until the next reply
    errors: int = 0
    nudges: int = 0
    spent: Spent = Spent()
    habit: Habit = Habit()
    abort: AbortAsked | None = None
    outcome: Outcome | None = None

    @property
    def session(self) -> SessionId | None:
        """Return the session that the run drives."""
        return self.joined.session if self.joined else None

    @property
    def turn(self) -> int:
        """Return the number of the turn that is next or under way, from 1."""
        return self.spent.turns + 1


class CallModel(Value):
    """Ask the model, after a wait."""

    turn: int
    wait_ms: int = 0


class RunTools(Value):
    """Run these calls, in order."""

    calls: tuple[CallAsked, ...]


class Tell(Value):
    """Add a text of ours to the conversation."""

    text: str
    origin: Origin


class Stop(Value):
    """Come to this end. It is to be recorded unless it is."""

    outcome: Outcome


Action: TypeAlias = CallModel | RunTools | Tell | Stop


def next_action(now: Conversation) -> Action:
    """Return the one thing to do next."""
    if now.outcome is not None:
        return Stop(outcome=now.outcome)
    if now.abort is not None:
        return Stop(outcome=Cancelled(by=now.abort.by, reason=now.abort.reason))
    if now.complete:
        return Stop(outcome=Success(commit=now.committed.commit if now.committed else None))
    if now.gate is not None:
        return Stop(outcome=Parked(gate=now.gate))
    waiting = tuple(call.asked for call in now.calls if call.state == "waiting")
    if waiting:
        return RunTools(calls=waiting)
    return _over(now) or _go_on(now)


def _over(now: Conversation) -> Stop | None:
    """Return the end that a turn may have brought; a turn is never cut short for it."""
    failure = _model_failure(now)
    if failure is not None:
        return Stop(outcome=failure)
    habit = stuck(now.habit)
    if habit is not None:
        return Stop(outcome=habit)
    limit = reached(now.limits, now.spent)
    if limit is not None:
        parks = now.limits.policy == "park"
        return Stop(outcome=Paused(limit=limit) if parks else TimedOut(limit=limit))
    return None


def _go_on(now: Conversation) -> Action:
    if now.erred is not None:
        return CallModel(turn=now.turn, wait_ms=now.erred.wait_ms)
    if now.said is not None and not now.calls and not now.untold:
        if now.nudges >= NUDGES_MAX:
            message = f"the model ended its turn {NUDGES_MAX + 1} times with work left to do"
            return Stop(outcome=Failed(reason="ended_early", message=message))
        return Tell(text=NUDGE, origin="nudge")
    return CallModel(turn=now.turn)


def _model_failure(now: Conversation) -> Failed | None:
    if now.said is not None and now.said.stop == "refused":
        return Failed(reason="model_refused", message="the model refused to go on")
    if now.erred is None:
        return None
    reasons: dict[str, ErrorReason] = {
        "expired": "credential_expired",
        "overflow": "context_overflow",
        "refused": "model_refused",
        "unusable": "model_unusable",
    }
    reason = reasons.get(now.erred.problem)
    if reason is None and now.errors >= ERRORS_MAX:
        reason = "model_malformed" if now.erred.problem == "malformed" else "model_unavailable"
    return Failed(reason=reason, message=now.erred.message) if reason else None


def evolve(now: Conversation, event: RunEvent) -> Conversation:
    """Return the conversation after one more event."""
    after = replace(now, version=now.version + 1)
    match event:
        case RunSubmitted() | RunClaimed() | RunSteered() | AbortAsked() | RunEnded():
            return _with_life(after, event)
        case RunResumed(limits=limits):
            if now.outcome is None or not is_rest(now.outcome):
                return after
            step = None if isinstance(now.outcome, Parked) else now.step  # to be told again
            granted = limits or now.limits
            return replace(after, outcome=None, gate=None, step=step, limits=granted)
        case WorktreePlanned():
            return replace(after, worktree=event)
        case SessionJoined():
            return replace(after, joined=event)
        case ChangesCommitted():
            return replace(after, committed=event)
        case StepReached() | WorkflowCompleted() | GateReached() | TextTold():
            return _with_step(after, event)
        case ModelAsked() | ModelReplied() | ModelErred():
            return _with_model(after, event)
        case ToolStarted() | ToolEnded():
            return _with_tool(after, event)
        case _:
            assert_never(event)


def _with_life(
    after: Conversation, event: RunSubmitted | RunClaimed | RunSteered | AbortAsked | RunEnded
) -> Conversation:
    match event:
        case RunSubmitted():
            return replace(after, submitted=event, limits=event.limits)
        case RunClaimed(fence=fence):
            return replace(
                after,
                fence=fence,
                claims=after.claims + 1,
                asked=False,
                calls=tuple(map(_interrupted, after.calls)),
            )
        case RunSteered(text=text):
            return replace(after, untold=(*after.untold, ToldPart(text=text, origin="steer")))
        case AbortAsked():
            return replace(after, abort=after.abort or event)
        case RunEnded(outcome=outcome):
            return replace(after, outcome=after.outcome or outcome)
        case _:
            assert_never(event)


def _with_step(
    after: Conversation, event: StepReached | WorkflowCompleted | GateReached | TextTold
) -> Conversation:
    match event:
        case StepReached():
            moved = after.step is None or after.step != event
            habit = replace(after.habit, idle_turns=0) if moved else after.habit
            return replace(after, step=event, habit=habit, gate=None)
        case WorkflowCompleted():
            return replace(after, complete=True)
        case GateReached(gate=gate):
            return replace(after, gate=gate)
        case TextTold(text=text, origin=origin):
            told = ToldPart(text=text, origin=origin)
            nudges = after.nudges + (origin == "nudge")
            return replace(after, untold=(*after.untold, told), nudges=nudges)
        case _:
            assert_never(event)


def _with_model(after: Conversation, event: ModelAsked | ModelReplied | ModelErred) -> Conversation:
    match event:
        case ModelAsked():
            results = (ResultsPart(calls=after.calls),) if after.calls else ()
            return replace(
                after,
                parts=(*after.parts, *results, *after.untold),
                calls=(),
                untold=(),
                said=None,
                asked=True,
            )
        case ModelReplied(calls=calls):
            spelled = " ".join(f"{call.name}({call.arguments[7:19]})" for call in calls)
            return replace(
                after,
                parts=(*after.parts, ReplyPart(reply=event.reply)),
                calls=tuple(CallStanding(asked=call) for call in calls),
                said=event,
                erred=None,
                errors=0,
                asked=False,
                nudges=0 if calls else after.nudges,
                spent=with_reply(after.spent, event.usage, event.duration_ms),
                habit=after_turn(after.habit, spelled),
            )
        case ModelErred():
            worked = after.spent.worked_ms + event.duration_ms
            return replace(
                after,
                erred=event,
                errors=after.errors + 1,
                asked=False,
                spent=replace(after.spent, worked_ms=worked),
            )
        case _:
            assert_never(event)


def _with_tool(after: Conversation, event: ToolStarted | ToolEnded) -> Conversation:
    state: CallState = "running"
    text, duration_ms = None, 0
    if isinstance(event, ToolEnded):
        state = "failed" if event.failed else "ended"
        text, duration_ms = event.text, event.duration_ms
    expected: tuple[CallState, ...] = ("waiting",) if state == "running" else ("running",)
    calls = tuple(
        replace(call, state=state, text=text)
        if call.asked.id == event.call and call.state in expected
        else call
        for call in after.calls
    )
    worked = after.spent.worked_ms + duration_ms
    return replace(after, calls=calls, spent=replace(after.spent, worked_ms=worked))


def _interrupted(call: CallStanding) -> CallStanding:
    return replace(call, state="interrupted") if call.state == "running" else call

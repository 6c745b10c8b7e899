"""The talk with a model, as its events tell it; `acting` says what follows from it.

Laws.
1. A conversation is the fold of its events: loaded again, it is what it was.
2. A call that ended is never run again. One that was running when another worker took the run is
   interrupted: the model is told so, and it is not run again either.
3. The first end wins. A rest is none: a run at rest can be resumed, and can be ended.
4. A compaction changes what the model is sent and nothing else; every text of the turns it
   replaced stays where it was. What the model has not heard yet is not touched.
"""

from typing import assert_never

from msgspec.structs import replace

from headway.domain.ids import SessionId
from headway.domain.runs.events import (
    AbortAsked,
    ChangesCommitted,
    ChangesSaved,
    CompactionAsked,
    ConversationCompacted,
    GateReached,
    LimitNeared,
    ModelAsked,
    ModelErred,
    ModelReplied,
    PauseAsked,
    RunClaimed,
    RunEnded,
    RunEvent,
    RunResumed,
    RunSteered,
    RunSubmitted,
    SessionJoined,
    StepReached,
    StuckNoticed,
    TextTold,
    ToolEnded,
    ToolStarted,
    WorkflowCompleted,
    WorktreePlanned,
)
from headway.domain.runs.limits import Limit, Limits, Spent, with_reply, with_summary
from headway.domain.runs.outcomes import Outcome, Parked, is_rest
from headway.domain.runs.parts import (
    CallStanding,
    CallState,
    Part,
    ReplyPart,
    ResultsPart,
    ToldPart,
    compacted,
)
from headway.domain.runs.stuck import Habit, after_interruption, after_turn
from headway.domain.values import Value


class Conversation(Value):
    """A run as its events tell it. `parts` is what the model was last asked with, and its reply."""

    version: int = 0
    submitted: RunSubmitted | None = None
    limits: Limits = Limits()
    fence: int = 0
    claims: int = 0
    resumed: bool = False  # and not claimed since
    recovered: bool = False  # the last claim took it up from a worker, not from a rest
    untouched: bool = False  # nothing was recorded since the last claim
    losses: int = 0  # workers in a row that were lost before they got on
    worktree: WorktreePlanned | None = None
    joined: SessionJoined | None = None
    step: StepReached | None = None
    complete: bool = False
    gate: str | None = None
    committed: ChangesCommitted | None = None
    saved: ChangesSaved | None = None
    parts: tuple[Part, ...] = ()
    calls: tuple[CallStanding, ...] = ()  # of the last reply
    untold: tuple[ToldPart, ...] = ()  # what the next request adds
    asked: bool = False  # a request is under way
    prompt: ToldPart | None = None  # of the present step
    size: int = 0  # tokens of the conversation, as the last reply told; 0 where that is not known
    compacting: CompactionAsked | None = None  # a summary is awaited
    replaced: int = 0  # the last turn that a summary stands for
    said: ModelReplied | None = None  # the last reply, until the next request
    erred: ModelErred | None = None  # the last failure, until the next reply
    errors: int = 0
    nudges: int = 0
    worked: bool = False  # a tool was begun
    spent: Spent = Spent()
    neared: tuple[Limit, ...] = ()  # limits that it was told to be near
    habit: Habit = Habit()
    abort: AbortAsked | None = None
    pause: PauseAsked | None = None
    outcome: Outcome | None = None

    @property
    def session(self) -> SessionId | None:
        """Return the session that the run drives."""
        return self.joined.session if self.joined else None

    @property
    def unheard(self) -> tuple[Part, ...]:
        """Return what the model was told since its last reply, or will be with the next request."""
        last = max((i for i, p in enumerate(self.parts) if isinstance(p, ReplyPart)), default=-1)
        return (*self.parts[last + 1 :], *self.untold)

    @property
    def under_way(self) -> bool:
        """Tell whether a request or a call was begun and has not ended."""
        return self.asked or any(call.state == "running" for call in self.calls)

    @property
    def turn(self) -> int:
        """Return the number of the turn that is next or under way, from 1."""
        return self.spent.turns + 1


def evolve(now: Conversation, event: RunEvent) -> Conversation:
    """Return the conversation after one more event."""
    after = replace(now, version=now.version + 1, untouched=False)
    match event:
        case RunSubmitted() | RunClaimed() | RunSteered():
            return _with_life(now, after, event)
        case AbortAsked() | PauseAsked() | RunEnded() | RunResumed():
            return _with_will(after, event)
        case WorktreePlanned() | SessionJoined() | ChangesCommitted() | ChangesSaved():
            return _with_place(after, event)
        case StepReached() | WorkflowCompleted() | GateReached() | TextTold():
            return _with_step(after, event)
        case ModelAsked() | ModelReplied() | ModelErred():
            return _with_model(after, event)
        case CompactionAsked() | ConversationCompacted():
            return _with_compaction(after, event)
        case StuckNoticed() | LimitNeared():
            return _with_notice(after, event)
        case ToolStarted() | ToolEnded():
            return _with_tool(after, event)
        case _:
            assert_never(event)


def _with_life(
    now: Conversation, after: Conversation, event: RunSubmitted | RunClaimed | RunSteered
) -> Conversation:
    match event:
        case RunSubmitted():
            return replace(after, submitted=event, limits=event.limits)
        case RunClaimed(fence=fence):
            cut_off = any(call.state == "running" for call in after.calls)
            return replace(
                after,
                fence=fence,
                claims=after.claims + 1,
                recovered=after.claims > 0 and not after.resumed,
                resumed=False,
                untouched=True,
                losses=after.losses + (now.untouched or now.under_way),
                asked=False,
                calls=tuple(map(_interrupted, after.calls)),
                habit=after_interruption(after.habit) if cut_off else after.habit,
            )
        case RunSteered(text=text):
            return replace(after, untold=(*after.untold, ToldPart(text=text, origin="steer")))
        case _:
            assert_never(event)


def _with_will(
    after: Conversation, event: AbortAsked | PauseAsked | RunEnded | RunResumed
) -> Conversation:
    rests = after.outcome is not None and is_rest(after.outcome)
    match event:
        case AbortAsked():
            return replace(after, abort=after.abort or event)
        case PauseAsked():
            return replace(after, pause=after.pause or event)
        case RunEnded(outcome=outcome):
            ends = after.outcome is None or (rests and not is_rest(outcome))
            return replace(after, outcome=outcome) if ends else after
        case RunResumed(limits=limits):
            if after.outcome is not None and not rests:
                return after
            after = replace(after, losses=0, resumed=True)
            if limits is not None:
                after = replace(after, limits=limits, neared=())
            if not rests:
                return replace(after, pause=None)
            step = None if isinstance(after.outcome, Parked) else after.step  # to be told again
            after = replace(after, erred=None, errors=0)  # what failed may have been mended
            return replace(after, outcome=None, gate=None, pause=None, step=step)
        case _:
            assert_never(event)


def _with_place(
    after: Conversation,
    event: WorktreePlanned | SessionJoined | ChangesCommitted | ChangesSaved,
) -> Conversation:
    match event:
        case WorktreePlanned():
            return replace(after, worktree=event)
        case SessionJoined():
            return replace(after, joined=event)
        case ChangesCommitted():
            return replace(after, committed=event)
        case ChangesSaved():
            return replace(after, saved=event)
        case _:
            assert_never(event)


def _with_step(
    after: Conversation, event: StepReached | WorkflowCompleted | GateReached | TextTold
) -> Conversation:
    match event:
        case StepReached():
            moved = after.step is None or after.step != event
            return replace(after, step=event, habit=Habit() if moved else after.habit, gate=None)
        case WorkflowCompleted():
            return replace(after, complete=True)
        case GateReached(gate=gate):
            return replace(after, gate=gate)
        case TextTold(text=text, origin=origin):
            told = ToldPart(text=text, origin=origin)
            return replace(
                after,
                untold=(*after.untold, told),
                prompt=told if origin == "step" else after.prompt,
                nudges=after.nudges + (origin == "nudge"),
            )
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
            return replace(
                after,
                parts=(*after.parts, ReplyPart(turn=event.turn, reply=event.reply)),
                calls=tuple(CallStanding(asked=call) for call in calls),
                said=event,
                erred=None,
                errors=0,
                asked=False,
                size=event.usage.size,
                nudges=0 if calls and not event.answered else after.nudges,
                spent=with_reply(after.spent, event.usage, event.duration_ms),
                habit=after_turn(after.habit, calls),
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


def _with_compaction(
    after: Conversation, event: CompactionAsked | ConversationCompacted
) -> Conversation:
    match event:
        case CompactionAsked():
            overflowed = after.erred is not None and after.erred.problem == "overflow"
            # An overflow is answered by this; another failure is one of the summary's own.
            erred = None if overflowed else after.erred
            return replace(after, compacting=event, erred=erred, asked=True)
        case ConversationCompacted(last=last, summary=summary):
            return replace(
                after,
                parts=compacted(after.parts, last, summary, after.prompt),
                compacting=None,
                asked=False,
                replaced=last,
                size=0,
                erred=None,
                errors=0,
                spent=with_summary(after.spent, event.usage, event.duration_ms),
            )
        case _:
            assert_never(event)


def _with_notice(after: Conversation, event: StuckNoticed | LimitNeared) -> Conversation:
    match event:
        case StuckNoticed(sign=sign):
            habit = replace(after.habit, noticed=(*after.habit.noticed, sign))
            return replace(after, habit=habit)
        case LimitNeared(limit=limit):
            return replace(after, neared=(*after.neared, limit))
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
    return replace(
        after,
        calls=calls,
        worked=True,
        losses=0 if isinstance(event, ToolEnded) else after.losses,
        nudges=_nudges(after, event),
        spent=replace(after.spent, worked_ms=worked),
    )


def _nudges(after: Conversation, event: ToolStarted | ToolEnded) -> int:
    """Return the nudges in a row; an answer that was not taken is told why, which is one more."""
    if after.said is None or not after.said.answered or not isinstance(event, ToolEnded):
        return after.nudges
    return after.nudges + 1 if event.failed else 0


def _interrupted(call: CallStanding) -> CallStanding:
    return replace(call, state="interrupted") if call.state == "running" else call

"""A run as lines: each event that a person would want to know of, as it happens."""

from typing import Final, assert_never

import msgspec

from headway.cli.run_calls import with_target
from headway.cli.safe_text import one_line
from headway.cli.style import Style, counted
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import (
    AbortAsked,
    ChangesCommitted,
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
from headway.domain.runs.limits import Spent
from headway.domain.runs.outcomes import in_words

MILLIONTH: Final = 1_000_000
PLAIN: Final = Style()
LEFT_OUT: Final = "uncommitted change"
_WISHES = {
    RunSteered: "steers",
    AbortAsked: "asks for an end",
    PauseAsked: "asks for a rest after this turn",
}


def line_of(
    now: Conversation, event: RunEvent, style: Style = PLAIN, target: str = ""
) -> str | None:
    """Return the line of an event, None for one that is nobody's concern.

    `target` is what the tool call is about that the event came of; it is cut to the width.
    """
    match event:
        case WorktreePlanned(path=path, branch=branch, left_out=left_out):
            where = f"worktree {path}" + (f", branch {branch}" if branch else " (in place)")
            return where + (f"; {counted(left_out, LEFT_OUT)} not in it" if left_out else "")
        case StepReached(title=title, number=number, total=total):
            return f"step {number} of {total}: {title}"
        case ModelReplied() | ModelErred():
            return _model_line(now, event)
        case ToolStarted() | ToolEnded():
            return _tool_line(now, event, style, target)
        case RunSteered() | AbortAsked() | PauseAsked():
            return f"{event.by} {_WISHES[type(event)]}"
        case GateReached(gate=gate):
            return f"a decision is awaited: headway gates show {gate}"
        case CompactionAsked() | ConversationCompacted() | StuckNoticed() | LimitNeared():
            return _notice_line(event)
        case WorkflowCompleted() | ChangesCommitted():
            return _end_line(event)
        case _:
            return None


def log_line(now: Conversation, event: RunEvent, style: Style = PLAIN, target: str = "") -> str:
    """Return the line of any event; `now` is the conversation after it.

    `target` is what the tool call is about that begins; it is cut to the width.
    """
    match event:
        case RunSubmitted(workflow_id=workflow, model=model):
            return one_line(f"submitted: {workflow}, {model}")
        case RunClaimed(fence=fence, owner=owner):
            again = ", recovered by another worker" if now.recovered else ""
            host = owner.host.partition("/")[0]
            return one_line(f"claim {fence} by process {owner.pid} on {host}{again}")
        case SessionJoined(session=session):
            return f"session {session}"
        case ModelAsked(turn=turn):
            return f"turn {turn}: the model is asked"
        case ToolStarted(call=call):
            return with_target(f"  {one_line(_call_name(now, call))} begins", target, style)
        case TextTold(origin=origin):
            return f"told: {origin}"
        case RunEnded(outcome=outcome):
            return one_line(f"the run {in_words(outcome)}")
        case RunResumed(by=by):
            return one_line(f"{by} resumes it")
        case _:
            return line_of(now, event) or _plainly(event)


def money_of(money: int) -> str:
    """Return millionths of a US dollar as people read them."""
    return f"${money / MILLIONTH:,.4f}"


def priced(money: int, *, unpriced: bool) -> str:
    """Return money spent: with a plus where some replies have no price, a word where none has."""
    if unpriced and not money:
        return "unpriced"
    return money_of(money) + ("+" if unpriced else "")


def money_text(spent: Spent) -> str:
    """Return the money that was spent."""
    return priced(spent.money, unpriced=bool(spent.unpriced))


def _notice_line(
    event: CompactionAsked | ConversationCompacted | StuckNoticed | LimitNeared,
) -> str | None:
    match event:
        case CompactionAsked():
            return None
        case ConversationCompacted(first=first, last=last, usage=usage):
            return (
                f"turns {first} to {last} are summed up "
                f"({usage.input_tokens:,} in, {usage.output_tokens:,} out)"
            )
        case StuckNoticed(sign=sign, message=message):
            return one_line(f"does not get on ({sign}): {message}")
        case LimitNeared(limit=limit):
            return f"four fifths of its {limit} are spent"
        case _:
            assert_never(event)


def _end_line(event: WorkflowCompleted | ChangesCommitted) -> str:
    if isinstance(event, WorkflowCompleted):
        return "the workflow is complete"
    return f"commit {event.commit}" if event.commit else "nothing to commit"


def _model_line(now: Conversation, event: ModelReplied | ModelErred) -> str:
    if isinstance(event, ModelErred):
        wait = f"; again in {event.wait_ms / 1_000:.1f} s" if event.wait_ms else ""
        return one_line(f"turn {event.turn}: {event.problem}: {event.message}{wait}")
    calls = ", ".join(call.name for call in event.calls) or "no call"
    usage = event.usage
    return one_line(
        f"turn {event.turn}: {calls} ({usage.input_tokens:,} in, {usage.output_tokens:,} out, "
        f"{now.spent.tokens:,} in all)"
    )


def _tool_line(
    now: Conversation, event: ToolStarted | ToolEnded, style: Style, target: str
) -> str | None:
    if isinstance(event, ToolStarted):
        return None
    name = _call_name(now, event.call)
    how = "failed" if event.failed else "ok"
    line = f"  {one_line(name)} {how}, {event.duration_ms / 1_000:.1f} s"
    return with_target(line, target, style)


def _call_name(now: Conversation, call: str) -> str:
    return next((each.asked.name for each in now.calls if each.asked.id == call), call)


def _plainly(event: RunEvent) -> str:
    """Return an event as its kind and its fields, for one that has no words of its own."""
    fields = msgspec.to_builtins(event)
    kind = str(fields.pop("event")).replace("_", " ")
    told = ", ".join(f"{name} {value}" for name, value in fields.items() if value is not None)
    return one_line(f"{kind}: {told}" if told else kind)

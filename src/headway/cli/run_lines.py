"""A run as lines: each event that a person would want to know of, as it happens."""

from headway.cli.safe_text import one_line
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import (
    AbortAsked,
    ChangesCommitted,
    GateReached,
    ModelErred,
    ModelReplied,
    RunEvent,
    RunSteered,
    StepReached,
    ToolEnded,
    ToolStarted,
    WorkflowCompleted,
    WorktreePlanned,
)

MILLIONTH = 1_000_000


def line_of(now: Conversation, event: RunEvent) -> str | None:
    """Return the line of an event, None for one that is nobody's concern."""
    match event:
        case WorktreePlanned(path=path, branch=branch):
            return f"worktree {path}" + (f", branch {branch}" if branch else " (in place)")
        case StepReached(title=title, number=number, total=total):
            return f"step {number} of {total}: {title}"
        case ModelReplied() | ModelErred():
            return _model_line(now, event)
        case ToolStarted() | ToolEnded():
            return _tool_line(now, event)
        case RunSteered(by=by):
            return f"{by} steers"
        case AbortAsked(by=by):
            return f"{by} asks for an end"
        case GateReached(gate=gate):
            return f"a decision is awaited: headway gates show {gate}"
        case WorkflowCompleted():
            return "the workflow is complete"
        case ChangesCommitted(commit=commit):
            return f"commit {commit}" if commit else "nothing to commit"
        case _:
            return None


def spent_line(now: Conversation) -> str:
    """Return what a run took."""
    spent = now.spent
    money = f"${spent.money / MILLIONTH:.4f}"
    unpriced = f" (+{spent.unpriced} unpriced replies)" if spent.unpriced else ""
    return (
        f"{spent.turns} turns, {spent.input_tokens:,} tokens in, {spent.output_tokens:,} out, "
        f"{spent.cached_tokens:,} cached, {money}{unpriced}, "
        f"{spent.worked_ms / 1_000:.1f} s at work"
    )


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


def _tool_line(now: Conversation, event: ToolStarted | ToolEnded) -> str | None:
    if isinstance(event, ToolStarted):
        return None
    names = {call.asked.id: call.asked.name for call in now.calls}
    name = names.get(event.call, event.call)
    how = "failed" if event.failed else "ok"
    return one_line(f"  {name} {how}, {event.duration_ms / 1_000:.1f} s")

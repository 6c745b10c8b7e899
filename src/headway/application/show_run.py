"""Show a run: its row, how far it is, what it took step by step, and how it ended."""

from headway.application.list_runs import told_row
from headway.application.naming_runs import named_run
from headway.application.requests import Reply
from headway.application.runs import Runs, folded
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.costs import StepCost, step_costs
from headway.domain.runs.limits import Limits, Spent
from headway.domain.runs.outcomes import Failed, in_words
from headway.domain.runs.outcomes import kind_of as kind_of_outcome
from headway.ports.queue import Task


def show_run(runs: Runs, name: str) -> Reply:
    """Return what is known of a run. Raises NotFound or InvalidInput, SessionNotHealthy."""
    return told_run(runs, named_run(runs, name))


def told_run(runs: Runs, task: Task) -> Reply:
    """Return what is known of the run of a row. Raises SessionNotHealthy."""
    events = runs.queue.scan(task.run)
    now = folded(events)
    costs = step_costs(each.event for each in events)
    begun = now.submitted
    return (
        told_row(runs, task)
        | {
            "goal": begun.goal if begun else task.goal,
            "model": begun.model if begun else None,
            "inPlace": begun.in_place if begun else None,
            "stuck": begun.stuck if begun else None,
            "retryOf": begun.retry_of if begun else None,
            "limits": _told_limits(now.limits),
        }
        | _standing(now)
        | told_spent(now.spent)
        | {"steps": [_told_step(each) for each in costs], "events": now.version}
    )


def told_spent(spent: Spent) -> Reply:
    """Return what was spent, in the wire's names: money in millionths of a US dollar."""
    return {
        "turns": spent.turns,
        "inputTokens": spent.input_tokens,
        "outputTokens": spent.output_tokens,
        "cachedTokens": spent.cached_tokens,
        "money": spent.money,
        "unpricedReplies": spent.unpriced,
        "workedMs": spent.worked_ms,
    }


def _standing(now: Conversation) -> Reply:
    step, saved = now.step, now.saved
    place = None if _lost_its_place(now) else now.worktree
    outcome: Reply | None = None
    if now.outcome is not None:
        outcome = {"kind": kind_of_outcome(now.outcome), "words": in_words(now.outcome)}
    at: Reply | None = None
    if step is not None:
        at = {"id": step.step, "title": step.title, "number": step.number, "of": step.total}
    return {
        "outcome": outcome,
        "session": now.session,
        "step": at,
        "gate": now.gate,
        "worktree": {"path": place.path, "branch": place.branch, "base": place.base}
        if place
        else None,
        "commit": now.committed.commit if now.committed else None,
        "saved": {"files": saved.files, "base": saved.base} if saved else None,
    }


def _lost_its_place(now: Conversation) -> bool:
    """Tell whether the worktree was removed under the run; its outcome says what is left."""
    return isinstance(now.outcome, Failed) and now.outcome.reason == "worktree_gone"


def _told_step(cost: StepCost) -> Reply:
    step = cost.step
    at: Reply = {"id": step.step, "title": step.title, "number": step.number}
    return at | told_spent(cost.spent)


def _told_limits(limits: Limits) -> Reply:
    return {
        "turns": limits.turns,
        "tokens": limits.tokens,
        "money": limits.money,
        "seconds": limits.seconds,
        "onLimit": limits.policy,
    }

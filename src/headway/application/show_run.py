"""Show a run: its row, how far it is, what it took, and how it ended."""

from headway.application.list_runs import told_row
from headway.application.requests import Reply
from headway.application.runs import Runs, folded, named_run
from headway.domain.runs.outcomes import in_words
from headway.domain.runs.outcomes import kind_of as kind_of_outcome


def show_run(runs: Runs, name: str) -> Reply:
    """Return what is known of a run. Raises NotFound or InvalidInput, SessionNotHealthy."""
    task = named_run(runs, name)
    now = folded(runs.queue.scan(task.run))
    spent, step, place = now.spent, now.step, now.worktree
    outcome: Reply | None = None
    if now.outcome is not None:
        outcome = {"kind": kind_of_outcome(now.outcome), "words": in_words(now.outcome)}
    return told_row(runs, task) | {
        "outcome": outcome,
        "model": now.submitted.model if now.submitted else None,
        "session": now.session,
        "step": {"id": step.step, "title": step.title, "number": step.number, "of": step.total}
        if step
        else None,
        "worktree": {"path": place.path, "branch": place.branch, "base": place.base}
        if place
        else None,
        "commit": now.committed.commit if now.committed else None,
        "turns": spent.turns,
        "inputTokens": spent.input_tokens,
        "outputTokens": spent.output_tokens,
        "cachedTokens": spent.cached_tokens,
        "money": spent.money,
        "unpricedReplies": spent.unpriced,
        "workedMs": spent.worked_ms,
        "events": now.version,
    }

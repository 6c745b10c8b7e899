"""List the worktrees of runs: whose they are, and what may become of them."""

from typing import Final

from headway.application.list_runs import state_of
from headway.application.requests import Reply
from headway.application.runs import Runs
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import RunId
from headway.ports.worktrees import Worktrees, WorktreeState

ENDED: Final = "ended"
UNKNOWN: Final = "unknown"
DAMAGED: Final = "damaged"
LEFT_MS: Final = 24 * 3_600 * 1_000  # since the last change, in a worktree nobody works in


def list_worktrees(runs: Runs, worktrees: Worktrees) -> Reply:
    """Return every worktree of this home.

    `keep` is why a cleaning keeps it, None if it does not; `saves` tells that it first saves what
    is not committed there.
    """
    return {"worktrees": [told_worktree(runs, each) for each in worktrees.survey()]}


def told_worktree(runs: Runs, worktree: WorktreeState) -> Reply:
    """Return a worktree in the wire's names; `idleMs` is how long nothing has changed in it."""
    state = state_of_run(runs, worktree)
    idle = max(0, runs.engine.clock.now_ms() - worktree.changed_at)
    keep = why_kept(state, worktree, idle)
    return {
        "run": worktree.run,
        "state": state,
        "path": worktree.path,
        "repository": worktree.repository or None,
        "branch": worktree.branch,
        "changedAt": worktree.changed_at,
        "idleMs": idle,
        "dirty": worktree.dirty,
        "ahead": worktree.ahead,
        "behind": worktree.behind,
        "unpushed": worktree.unpushed,
        "merged": worktree.merged,
        "trouble": worktree.trouble,
        "keep": keep,
        "saves": keep is None and worktree.dirty > 0,
    }


def state_of_run(runs: Runs, worktree: WorktreeState) -> str:
    """Return the state of the run a worktree belongs to; `unknown` where this store has none.

    It is `damaged` where the run's row cannot be read.
    """
    try:
        task = runs.queue.task(RunId(worktree.run))
    except SessionNotHealthy:
        return DAMAGED
    return UNKNOWN if task is None else state_of(runs, task)


def why_kept(state: str, worktree: WorktreeState, idle_ms: int) -> str | None:
    """Return what would be lost with a worktree, None when nothing would.

    What is not committed is not lost once the run's own record can hold it, which takes a run.
    """
    if worktree.trouble is not None:
        return worktree.trouble
    if state == DAMAGED:
        return "nobody knows whether its run is over: its row is damaged"
    if state not in {ENDED, UNKNOWN}:
        return f"its run is not over: {state}"
    reasons = []
    if worktree.dirty and (state == UNKNOWN or idle_ms < LEFT_MS):
        whose = ", of a run that this store does not have" if state == UNKNOWN else ""
        reasons.append(f"changes that are not committed: {worktree.dirty}{whose}")
    if worktree.unpushed and not worktree.merged:
        reasons.append(f"commits that are neither merged nor pushed: {worktree.unpushed}")
    return "; ".join(reasons) or None

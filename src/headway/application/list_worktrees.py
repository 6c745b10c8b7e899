"""List the worktrees of runs: whose they are, and what may become of them."""

from typing import Final

from headway.application.list_runs import told_row
from headway.application.requests import Reply
from headway.application.runs import Runs
from headway.ports.worktrees import Worktrees, WorktreeState

ENDED: Final = "ended"
UNKNOWN: Final = "unknown"


def list_worktrees(runs: Runs, worktrees: Worktrees) -> Reply:
    """Return every worktree of this home; `keep` is why it is kept by a cleaning, None if not."""
    return {"worktrees": [told_worktree(runs, each) for each in worktrees.survey()]}


def told_worktree(runs: Runs, worktree: WorktreeState) -> Reply:
    """Return a worktree in the wire's names."""
    state = state_of_run(runs, worktree)
    return {
        "run": worktree.run,
        "state": state,
        "path": worktree.path,
        "repository": worktree.repository or None,
        "branch": worktree.branch,
        "changedAt": worktree.changed_at,
        "dirty": worktree.dirty,
        "ahead": worktree.ahead,
        "behind": worktree.behind,
        "unpushed": worktree.unpushed,
        "merged": worktree.merged,
        "trouble": worktree.trouble,
        "keep": why_kept(state, worktree),
    }


def state_of_run(runs: Runs, worktree: WorktreeState) -> str:
    """Return the state of the run a worktree belongs to; `unknown` where this store has none."""
    found = [task for task in runs.queue.find(worktree.run, 2) if task.run == worktree.run]
    return str(told_row(runs, found[0])["state"]) if found else UNKNOWN


def why_kept(state: str, worktree: WorktreeState) -> str | None:
    """Return what would be lost with a worktree, None when nothing would."""
    if worktree.trouble is not None:
        return worktree.trouble
    if state not in {ENDED, UNKNOWN}:
        return f"its run is not over: {state}"
    if worktree.dirty:
        return f"changes that are not committed: {worktree.dirty}"
    if worktree.unpushed and not worktree.merged:
        return f"commits that are neither merged nor pushed: {worktree.unpushed}"
    return None

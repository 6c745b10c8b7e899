"""Clean worktrees: remove those with which nothing would be lost."""

from headway.application.list_worktrees import told_worktree
from headway.application.requests import Reply
from headway.application.runs import Runs
from headway.domain.errors import PreconditionFailed
from headway.ports.worktrees import Worktrees

__all__ = ["clean_worktrees"]


def clean_worktrees(runs: Runs, worktrees: Worktrees, *, remove: bool) -> Reply:
    """Return every worktree with whether it was `removed`; without `remove` nothing is.

    One that cannot be removed is kept, with the reason, and keeps no other.
    """
    told = []
    for each in worktrees.survey():
        row = told_worktree(runs, each)
        if remove and row["keep"] is None:
            try:
                worktrees.remove(each)
            except PreconditionFailed as fault:
                row["keep"] = fault.message
        told.append(row | {"removed": remove and row["keep"] is None})
    return {"worktrees": told, "dryRun": not remove}

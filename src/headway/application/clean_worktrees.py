"""Clean worktrees: remove those with which nothing is lost.

Changes that nobody committed in a worktree nobody works in are saved first: as a patch among the
ledger's blobs, named by an event of the run.
"""

from headway.application.list_worktrees import told_worktree
from headway.application.requests import Reply
from headway.application.runs import Runs, append_outside
from headway.domain.errors import PreconditionFailed
from headway.domain.ids import digest
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import ChangesSaved, RunEvent
from headway.ports.ledger import Blob
from headway.ports.queue import Move, Task
from headway.ports.worktrees import Worktrees, WorktreeState

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
                _remove(runs, worktrees, each)
            except PreconditionFailed as fault:
                row |= {"keep": fault.message, "saves": False}
        told.append(row | {"removed": remove and row["keep"] is None})
    return {"worktrees": told, "dryRun": not remove}


def _remove(runs: Runs, worktrees: Worktrees, worktree: WorktreeState) -> None:
    patch = worktrees.changes(worktree) if worktree.dirty else b""
    if patch:
        _save(runs, worktree, patch)
    worktrees.remove(worktree, patch)


def _save(runs: Runs, worktree: WorktreeState, patch: bytes) -> None:
    """Record a patch, unless the run's last one is the same."""
    blob = Blob(digest=digest(patch), data=patch)
    saved = ChangesSaved(patch=blob.digest, base=worktree.head, files=worktree.dirty)

    def decide(now: Conversation, _: Task) -> tuple[tuple[RunEvent, ...], Move | None]:
        return (() if now.saved == saved else (saved,)), None

    append_outside(runs, worktree.run, decide, (blob,))

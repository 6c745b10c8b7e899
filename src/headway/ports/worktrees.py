"""Worktrees: the folders that runs were given to work in, and what stands in them."""

from typing import Protocol

from headway.domain.ids import RunId
from headway.domain.runs.events import RunSubmitted, WorktreePlanned
from headway.domain.values import Value


class WorktreeState(Value):
    """One worktree, as git and the file system tell it.

    `ahead` and `behind` count commits against what its repository's own folder has checked out.
    `merged` says that a branch that lasts (that one, the remote's main one, main or master) holds
    the work, as commits or as the same change in commits of its own, after a squash or a rebase.
    `unpushed` counts commits that neither these nor any remote has. `trouble` is why git cannot
    tell, and then the rest says nothing.
    """

    run: RunId
    path: str
    changed_at: int  # the last change seen in it; milliseconds since 1970 UTC
    repository: str = ""
    branch: str | None = None
    head: str = ""
    dirty: int = 0  # files changed and not committed
    ahead: int = 0
    behind: int = 0
    unpushed: int = 0
    merged: bool = False
    trouble: str | None = None


class Worktrees(Protocol):
    """The worktrees of this home."""

    def survey(self) -> tuple[WorktreeState, ...]:
        """Return all there are, in the order of their runs."""

    def changes(self, worktree: WorktreeState) -> bytes:
        """Return what is not committed there, as a patch on its head; ignored files are not in it.

        Raises PreconditionFailed where a patch cannot hold it all.
        """

    def remove(self, worktree: WorktreeState, saved: bytes = b"") -> None:
        """Remove a worktree, and its branch where it is merged.

        Raises PreconditionFailed where its head is another by now, or it holds changes other than
        those that were saved; then nothing is removed.
        """


class MadePlaces(Protocol):
    """The places that were made for runs, on this machine. Every method raises Fault."""

    def is_there(self, planned: WorktreePlanned) -> bool:
        """Tell whether a place that was made is still there."""

    def forget(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str:
        """Clear away what is left of a place that was removed; return what became of it.

        May be called again after a crash.
        """

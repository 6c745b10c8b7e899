"""Worktrees: the folders that runs were given to work in, and what stands in them."""

from typing import Protocol

from headway.domain.ids import RunId
from headway.domain.values import Value


class WorktreeState(Value):
    """One worktree, as git and the file system tell it.

    `main` is what its repository's own folder has checked out: `ahead` and `behind` count commits
    against it, and `merged` says that it holds the work, as commits or as the same change in one
    of its own (after a squash). `unpushed` counts commits that neither it nor any remote has.
    `trouble` is why git cannot tell, and then the rest says nothing.
    """

    run: RunId
    path: str
    changed_at: int  # of the folder; milliseconds since 1970 UTC
    repository: str = ""
    branch: str | None = None
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

    def remove(self, worktree: WorktreeState) -> None:
        """Remove a worktree, and its branch where it is merged. Raises PreconditionFailed.

        git is asked again: one that has changes by now stays.
        """

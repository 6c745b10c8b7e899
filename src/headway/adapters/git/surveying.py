"""Looking at the worktrees of a home, and removing one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headway.adapters.git.commanding import Git
from headway.domain.errors import PreconditionFailed
from headway.domain.ids import RunId
from headway.ports.worktrees import WorktreeState

COMPARED_MAX: Final = 1_000  # commits of the main branch, for the same change under another name


class SurveyedWorktrees:
    """The worktrees right under a folder. `environment` is what git inherits."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._git = Git(environment)

    def survey(self) -> tuple[WorktreeState, ...]:
        """Return all there are, in the order of their runs."""
        if not self._folder.is_dir():
            return ()
        return tuple(self._state(path) for path in sorted(self._folder.iterdir()) if path.is_dir())

    def remove(self, worktree: WorktreeState) -> None:
        """Remove a worktree, and its branch where it is merged. Raises PreconditionFailed."""
        self._git.do(worktree.repository, "worktree", "remove", worktree.path)
        if worktree.merged and worktree.branch is not None:
            self._git.do(worktree.repository, "branch", "--delete", "--force", worktree.branch)

    def _state(self, path: Path) -> WorktreeState:
        run, changed = RunId(path.name), path.stat().st_mtime_ns // 1_000_000
        try:
            return self._told(path, run, changed)
        except PreconditionFailed as fault:
            return WorktreeState(run=run, path=str(path), changed_at=changed, trouble=fault.message)

    def _told(self, path: Path, run: RunId, changed: int) -> WorktreeState:
        folder = str(path)
        if Path(self._git.do(folder, "rev-parse", "--show-toplevel")).resolve() != path.resolve():
            raise PreconditionFailed(
                f"{folder} is not a worktree of its own.",
                remedy="Look at it and remove it by hand.",
            )
        common = self._git.do(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
        main = self._git.do(common, "rev-parse", "--verify", "HEAD")
        counts = self._git.do(folder, "rev-list", "--left-right", "--count", f"HEAD...{main}")
        ahead, behind = map(int, counts.split())
        unpushed = self._git.do(folder, "rev-list", "--count", "HEAD", "--not", main, "--remotes")
        dirty = self._git.do(folder, "status", "--porcelain", "--untracked-files=all")
        return WorktreeState(
            run=run,
            path=folder,
            changed_at=changed,
            repository=common,
            branch=self._git.ask(folder, "symbolic-ref", "--quiet", "--short", "HEAD"),
            dirty=len(dirty.splitlines()),
            ahead=ahead,
            behind=behind,
            unpushed=int(unpushed),
            merged=not ahead or self._is_in(folder, main),
        )

    def _is_in(self, folder: str, main: str) -> bool:
        """Tell whether a commit of the main branch makes the change that this one makes in all."""
        fork = self._git.ask(folder, "merge-base", "HEAD", main)
        if fork is None:
            return False
        ours = self._patches(folder, self._git.do(folder, "diff", fork, "HEAD"))
        words = ("log", "-p", f"--max-count={COMPARED_MAX}", f"{fork}..{main}")
        return bool(ours) and ours <= self._patches(folder, self._git.do(folder, *words))

    def _patches(self, folder: str, changes: str) -> set[str]:
        told = self._git.do(folder, "patch-id", "--stable", given=changes + "\n")
        return {line.split()[0] for line in told.splitlines()}

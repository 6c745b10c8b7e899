"""Looking at the worktrees of a home, saving what is not committed in one, and removing one."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from headway.adapters.git.commanding import Git
from headway.adapters.git.missing import GitMissing
from headway.domain.errors import PreconditionFailed
from headway.domain.ids import RunId
from headway.ports.worktrees import WorktreeState

COMPARED_MAX: Final = 1_000  # commits of a branch, for the same change under another name
PATCH_BYTES_MAX: Final = 64 << 20
LASTING: Final = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
PLAIN: Final = ("-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-renames")
GIT_FOLDER: Final = "gitdir: "


class SurveyedWorktrees:
    """The worktrees right under a folder. `environment` is what git inherits."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._git = Git(environment)

    def survey(self) -> tuple[WorktreeState, ...]:
        """Return all there are, in the order of their runs. Raises GitMissing."""
        if not self._folder.is_dir():
            return ()
        return tuple(self._state(path) for path in sorted(self._folder.iterdir()) if path.is_dir())

    def changes(self, worktree: WorktreeState) -> bytes:
        """Return what is not committed there, as a patch on its head. Raises PreconditionFailed."""
        folder = worktree.path
        size = 0
        for path in self._changed(folder):
            if path.is_dir() and not path.is_symlink():
                raise _kept(folder, f"{path.name} there is a repository of its own")
            size += path.lstat().st_size if path.is_symlink() or path.exists() else 0
        if size > PATCH_BYTES_MAX:
            raise _kept(folder, f"what changed there has {size:,} bytes, too many for a patch")
        with tempfile.TemporaryDirectory(prefix="headway-") as beside:
            index = str(Path(beside) / "index")  # what was staged there stays as it is
            self._git.do(folder, "read-tree", "HEAD", GIT_INDEX_FILE=index)
            self._git.do(folder, "add", "--all", "--", ".", GIT_INDEX_FILE=index)
            words = ("diff-index", "--cached", *PLAIN, "HEAD")
            return self._git.raw(folder, *words, GIT_INDEX_FILE=index)

    def remove(self, worktree: WorktreeState, saved: bytes = b"") -> None:
        """Remove a worktree, and its branch where it is merged. Raises PreconditionFailed."""
        head = self._git.do(worktree.path, "rev-parse", "HEAD")
        if head != worktree.head or self.changes(worktree) != saved:
            raise _kept(worktree.path, "something changed there meanwhile")
        words = ("worktree", "remove", "--force", worktree.path)
        with self._git.alone(worktree.repository):
            self._git.do(worktree.repository, *words)
        if worktree.merged and worktree.branch is not None:
            name = f"refs/heads/{worktree.branch}"
            self._git.do(worktree.repository, "update-ref", "-d", name, head)

    def _state(self, path: Path) -> WorktreeState:
        run, changed = RunId(path.name), path.stat().st_mtime_ns
        try:
            return self._told(path, run, changed)
        except GitMissing:
            raise
        except PreconditionFailed as fault:
            trouble = _lost_repository(path) or fault.message
            return WorktreeState(
                run=run, path=str(path), changed_at=changed // 1_000_000, trouble=trouble
            )

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
        branch = self._git.ask(folder, "symbolic-ref", "--quiet", "HEAD")
        lasting = [each for each in self._lasting(common) if each != branch]
        kept = ("HEAD", "--not", main, *lasting, "--remotes")
        dirty = list(self._changed(folder))
        return WorktreeState(
            run=run,
            path=folder,
            changed_at=max([changed, *filter(None, map(_changed_at, dirty))]) // 1_000_000,
            repository=common,
            branch=branch.removeprefix("refs/heads/") if branch else None,
            head=self._git.do(folder, "rev-parse", "HEAD"),
            dirty=len(dirty),
            ahead=ahead,
            behind=behind,
            unpushed=int(self._git.do(folder, "rev-list", "--count", *kept)),
            merged=any(self._holds(folder, each) for each in lasting),
        )

    def _changed(self, folder: str) -> Iterator[Path]:
        """Yield the paths of what is changed and not committed."""
        words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
        told = self._git.raw(folder, *words, "--ignore-submodules=none")
        for entry in filter(None, told.split(b"\0")):
            yield Path(folder) / os.fsdecode(entry[3:])

    def _lasting(self, common: str) -> list[str]:
        """Return the branches that last, those that there are."""
        own = self._git.ask(common, "symbolic-ref", "--quiet", "HEAD")
        names = dict.fromkeys((*((own,) if own else ()), *LASTING))
        exists = ("rev-parse", "--verify", "--quiet")
        return [name for name in names if self._git.ask(common, *exists, f"{name}^{{commit}}")]

    def _holds(self, folder: str, branch: str) -> bool:
        """Tell whether a branch has the work: the commits, or the same changes in others."""
        missing = ("rev-list", "--count", "--right-only", "--cherry-pick", f"{branch}...HEAD")
        return self._git.do(folder, *missing) == "0" or self._was_squashed(folder, branch)

    def _was_squashed(self, folder: str, branch: str) -> bool:
        """Tell whether a commit of a branch makes the change that these commits make in all."""
        fork = self._git.ask(folder, "merge-base", "HEAD", branch)
        if fork is None:
            return False
        ours = self._patches(folder, self._git.raw(folder, "diff-tree", *PLAIN, fork, "HEAD"))
        words = ("log", *PLAIN, f"--max-count={COMPARED_MAX}", f"{fork}..{branch}")
        return bool(ours) and ours <= self._patches(folder, self._git.raw(folder, *words))

    def _patches(self, folder: str, changes: bytes) -> set[bytes]:
        told = self._git.raw(folder, "patch-id", "--stable", given=changes)
        return {line.split()[0] for line in told.splitlines()}


def _changed_at(path: Path) -> int | None:
    """Return when a file was changed, in nanoseconds; None where it is gone."""
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return None


def _lost_repository(path: Path) -> str | None:
    """Return that the repository of a worktree is gone, None where it is not known to be."""
    try:
        told = (path / ".git").read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    folder = told.removeprefix(GIT_FOLDER).strip()
    if Path(folder).exists():
        return None
    return f"its repository knows it no more ({folder} is gone): look at it, remove it by hand"


def _kept(folder: str, why: str) -> PreconditionFailed:
    return PreconditionFailed(
        f"{folder} is kept: {why}.",
        remedy="Look at it, save what you need, and remove it with `git worktree remove --force`.",
        details={"kind": "worktree_kept", "folder": folder},
    )

"""Where a run works: a git worktree and branch of its own, or the workspace itself.

Theory of operation. A place is planned first, made after the plan is recorded, and made once: what
stands on the run's branch in the planned folder is the run's. The work ends as one commit on the
planned base, whatever the run did to HEAD, to the index or to its branch meanwhile: the commit is
written from the files and the branch is moved to it in one step, if it is where it was just read.
The commit carries the run's id as a trailer, and is found by it when it was made before.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headway.adapters.git.commanding import Git
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.ids import RunId
from headway.domain.runs.events import RunSubmitted, WorktreePlanned
from headway.domain.texts import cut_text

TRAILER: Final = "Headway-Run"
SESSION_TRAILER: Final = "Headway-Session"
SUBJECT_BYTES_MAX: Final = 72
BODY_BYTES_MAX: Final = 8_192
IDENTITY: Final = {
    "GIT_AUTHOR_NAME": "Headway",
    "GIT_AUTHOR_EMAIL": "headway@localhost",
    "GIT_COMMITTER_NAME": "Headway",
    "GIT_COMMITTER_EMAIL": "headway@localhost",
}
HALF_WRITTEN: Final = ":(exclude,glob)**/.headway-*.tmp"  # files a file tool was putting in place
HALF_DONE: Final = {
    "rebase-merge": "a rebase that was not finished",
    "rebase-apply": "a rebase or `git am` that was not finished",
    "MERGE_HEAD": "a merge that was not finished",
    "CHERRY_PICK_HEAD": "a cherry-pick that was not finished",
    "REVERT_HEAD": "a revert that was not finished",
    "BISECT_LOG": "a bisection that was not finished",
}
QUITTING: Final = ("rebase", "merge", "cherry-pick", "revert")


class GitWorktrees:
    """Makes worktrees under a folder. `environment` is what git inherits."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._git = Git(environment)

    def plan(self, run: RunId, submitted: RunSubmitted) -> WorktreePlanned:
        """Return where a run is to work; nothing is made.

        Raises InvalidInput for a workspace that is no folder, PreconditionFailed for one that is no
        repository, has no commit or no files of its own (bare), for changes in one that is to be
        worked on in place, and for a branch that is another's.
        """
        workspace = submitted.workspace
        base = self._base(workspace)
        if submitted.in_place:
            if self._git.do(workspace, "status", "--porcelain"):
                raise _refused(
                    "workspace_dirty",
                    workspace,
                    "has changes that are not committed",
                    "Commit or stash them, or leave --in-place out.",
                )
            return WorktreePlanned(path=workspace, branch=None, base=base)
        branch = f"headway/{submitted.workflow_id}/{run}"
        if self._git.ask(workspace, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
            raise _refused(
                "branch_exists",
                workspace,
                f"has a branch {branch} already",
                f"Rename or delete it: git branch -m {branch} NEW-NAME.",
            )
        return WorktreePlanned(path=str(self._folder / run), branch=branch, base=base)

    def make(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str | None:
        """Make what was planned unless it is there; return what a dead tool left there, in words.

        None when nothing is wrong with it. A worktree that was removed is made again on its
        branch, and that is told. Raises PreconditionFailed.
        """
        if planned.branch is None or self._stands(planned):
            return self.left_behind(planned.path)
        self._folder.mkdir(parents=True, exist_ok=True)
        workspace, branch = submitted.workspace, planned.branch
        self._git.do(workspace, "worktree", "prune")
        again = self._git.ask(workspace, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")
        words = [planned.path, branch] if again else ["-b", branch, planned.path, planned.base]
        # Twice --force: a folder that is missing, or was locked half made, is still this run's.
        self._git.do(workspace, "worktree", "add", "--force", "--force", *words)
        if not again:
            return None
        return (
            "The worktree was gone and was made again from its branch: what was not committed "
            "there is lost. Look at what is there before you go on."
        )

    def commit(
        self, run: RunId, submitted: RunSubmitted, planned: WorktreePlanned, session: str
    ) -> str | None:
        """Bring the work into one commit on the run's branch; None when nothing changed.

        A commit that this run made before is returned, not made again. Raises PreconditionFailed.
        """
        path, own = planned.path, planned.branch is not None
        target = f"refs/heads/{planned.branch}" if own else "HEAD"
        before = self._git.do(path, "rev-parse", target)
        if self._made(path, before) == run:
            return before
        if own:
            self._unlock(path)
        # In place, others may have committed beside the run; what they did is kept.
        parent = planned.base if own else before
        self._git.do(path, "add", "--all", "--", ".", HALF_WRITTEN)
        tree = self._git.do(path, "write-tree")
        if tree == self._git.do(path, "rev-parse", f"{parent}^{{tree}}"):
            return None
        message = commit_message(run, submitted, session)
        words = ("commit-tree", "--no-gpg-sign", tree, "-p", parent)
        commit = self._git.do(path, *words, given=message, **IDENTITY)
        self._git.do(path, "update-ref", "-m", f"headway: {run}", target, commit, before)
        if own:
            self._stand_on(path, target)
        return commit

    def left_behind(self, path: str) -> str | None:
        """Return what a tool that died has left in git's folder of a worktree, in words."""
        folder = self._own_folder(path)
        locks = sorted(lock.name for lock in folder.glob("*.lock"))
        found = [f"the lock file {folder / name}" for name in locks]
        found += [words for name, words in HALF_DONE.items() if (folder / name).exists()]
        if not found:
            return None
        return (
            f"A tool that was interrupted left this behind: {', '.join(found)}. No git command of "
            "this run is running any more; clear it away before you use git."
        )

    def _base(self, workspace: str) -> str:
        if not Path(workspace).is_dir():
            raise InvalidInput(
                f"The workspace {workspace} is not a folder.",
                remedy="Give the folder of a git repository.",
                details={"kind": "workspace_missing", "workspace": workspace},
            )
        inside = self._git.ask(workspace, "rev-parse", "--is-inside-work-tree")
        if inside is None:
            raise _refused(
                "not_a_repository",
                workspace,
                "is not in a git repository",
                "Run `git init` and commit there, or give another workspace.",
            )
        if inside != "true":
            raise _refused(
                "bare_repository",
                workspace,
                "is a bare repository, without files to work on",
                "Give a clone of it.",
            )
        base = self._git.ask(workspace, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if base is None:
            raise _refused(
                "no_commit",
                workspace,
                "has no commit to start from",
                "Commit something there first.",
            )
        return base

    def _stands(self, planned: WorktreePlanned) -> bool:
        """Tell whether the planned folder is a worktree of its own, whole enough to be used."""
        top = self._git.ask(planned.path, "rev-parse", "--show-toplevel")
        return top is not None and Path(top).resolve() == Path(planned.path).resolve()

    def _made(self, path: str, commit: str) -> str:
        trailer = f"--format=%(trailers:key={TRAILER},valueonly)"
        return self._git.do(path, "log", "-1", trailer, commit)

    def _stand_on(self, path: str, target: str) -> None:
        """Let HEAD be the run's branch again, with nothing under way."""
        for word in QUITTING:
            self._git.ask(path, word, "--quit")
        self._git.do(path, "symbolic-ref", "HEAD", target)

    def _unlock(self, path: str) -> None:
        """Remove locks on the worktree's own index and HEAD: those who held them are gone."""
        for name in ("index.lock", "HEAD.lock"):
            (self._own_folder(path) / name).unlink(missing_ok=True)

    def _own_folder(self, path: str) -> Path:
        return Path(self._git.do(path, "rev-parse", "--absolute-git-dir"))


def commit_message(run: RunId, submitted: RunSubmitted, session: str) -> str:
    """Return the message of a run's commit: its goal, its workflow, and what names the run."""
    goal = " ".join(submitted.goal.split())
    subject = cut_text(goal, SUBJECT_BYTES_MAX)
    body = "" if subject == goal else f"{cut_text(submitted.goal.strip(), BODY_BYTES_MAX)}\n\n"
    trailers = f"{TRAILER}: {run}\n{SESSION_TRAILER}: {session}\n"
    return f"{subject}\n\n{body}Workflow: {submitted.workflow_id}\n\n{trailers}"


def _refused(kind: str, workspace: str, what: str, remedy: str) -> PreconditionFailed:
    return PreconditionFailed(
        f"The workspace {workspace} {what}.",
        remedy=remedy,
        details={"kind": kind, "workspace": workspace},
    )

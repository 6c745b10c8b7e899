"""Where a run works: a git worktree and branch of its own, or the workspace itself.

Theory of operation. A place is planned first, made after the plan is recorded, and made once: what
stands on the run's branch in the planned folder is the run's. The work ends as one commit on the
planned base, whatever the run did to HEAD, to the index or to its branch meanwhile: the commit is
written from the files and the branch is moved to it in one step, if it is where it was just read.
The commit carries the run's id as a trailer, and is found by it when it was made before. In place,
where HEAD may have been detached meanwhile, it gets a branch of the run in the same step.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headway.adapters.git.commanding import Git
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.ids import RunId
from headway.domain.runs.events import RunSubmitted, WorktreePlanned
from headway.domain.texts import cut_text

PREFIX: Final = "headway"  # of every branch of a run
BEING_MADE: Final = "initializing"  # what git locks a worktree with until its files are there
NO_REPOSITORY: Final = "not a git repository"  # as git says it
EVERYTHING: Final = ("--untracked-files=all", "--no-renames")
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
        repository, has no commit or no files of its own (bare), for changes or no branch in one
        that is to be worked on in place, and for a branch that is another's.
        """
        workspace = submitted.workspace
        base = self._base(workspace)
        dirty = self._git.raw(workspace, "status", "--porcelain", "-z", *EVERYTHING).count(b"\0")
        if submitted.in_place:
            if self._is_detached(workspace):
                raise _refused(  # the commit at the end would be on no branch
                    "workspace_detached",
                    workspace,
                    "has no branch checked out: its HEAD is detached",
                    "Make one there with `git switch -c NAME`, or leave --in-place out.",
                )
            if dirty:  # the commit at the end is of all files, and would take them along
                raise _refused(
                    "workspace_dirty",
                    workspace,
                    "has changes that are not committed",
                    "Commit or stash them, or leave --in-place out.",
                )
            return WorktreePlanned(path=workspace, branch=None, base=base)
        branch = _branch_of(run, submitted)
        for name in (branch, PREFIX, f"{PREFIX}/{submitted.workflow_id}"):
            if self._tip(workspace, name):  # git keeps no branch below another
                raise _refused(
                    "branch_exists",
                    workspace,
                    f"has a branch {name} already",
                    f"Rename or delete it: git branch -m {name} NEW-NAME.",
                )
        path = str(self._folder / run)
        return WorktreePlanned(path=path, branch=branch, base=base, left_out=dirty)

    def is_there(self, planned: WorktreePlanned) -> bool:
        """Tell whether a place that was made is still there."""
        if planned.branch is None:
            return Path(planned.path).is_dir()
        return Path(planned.path, ".git").exists()

    def make(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str | None:
        """Make what was planned unless it is there; return what a dead tool left there, in words.

        None when nothing is wrong with it. A worktree that was removed is made again on its
        branch, and that is told. Raises PreconditionFailed.
        """
        with self._git.alone(submitted.workspace):
            return self._make(submitted, planned)

    def _make(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str | None:
        if planned.branch is None or self._stands(planned):
            return self.left_behind(planned.path)
        half_made = self._is_half_made(planned)
        if half_made:
            shutil.rmtree(planned.path, ignore_errors=True)  # git says what is in the way
        self._make_folder()
        workspace, branch = submitted.workspace, planned.branch
        self._git.do(workspace, "worktree", "prune")
        again = self._tip(workspace, branch)
        words = [planned.path, branch] if again else ["-b", branch, planned.path, planned.base]
        try:
            # Twice --force: a folder that is missing, or was locked half made, is still this run's.
            self._git.do(workspace, "worktree", "add", "--force", "--force", *words)
        except PreconditionFailed:
            if not again:  # git takes back the folder, and leaves the branch
                self._git.ask(workspace, "worktree", "remove", "--force", planned.path)
                name = f"refs/heads/{branch}"
                self._git.ask(workspace, "update-ref", "-d", name, planned.base)
            raise
        if half_made or not again:
            return None
        return (
            "The worktree was gone and was made again from its branch: what was not committed "
            "there is lost. Look at what is there before you go on."
        )

    def forget(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str:
        """Clear away what is left of a place that was removed; return what became of it, in words.

        A branch goes only if it is where it was made and nothing stands on it; commits on a
        detached HEAD are brought to it. What is forgotten already stays so. Raises
        PreconditionFailed.
        """
        if planned.branch is None:
            return "It was the workspace itself, and nothing else was made for the run."
        with self._git.alone(submitted.workspace):
            if self.is_there(planned):
                return "By now it is there again, and was left as it is."
            return self._forget(submitted.workspace, planned, f"refs/heads/{planned.branch}")

    def _forget(self, workspace: str, planned: WorktreePlanned, name: str) -> str:
        self._bring_home(workspace, planned, name)
        # Of a folder that is gone git forgets this one; what lost its .git alone, it has to prune.
        words = ("worktree", "remove", "--force", "--force", planned.path)
        if self._git.ask(workspace, *words) is None:
            self._git.do(workspace, "worktree", "prune")
        files = f" What else is in {planned.path} stays." if Path(planned.path).exists() else ""
        told = self._git.do(
            workspace, "for-each-ref", "--format=%(objectname) %(worktreepath)", name
        )
        tip, _, stands = told.partition(" ")
        if stands:
            return f"Its branch {planned.branch} stays: it is checked out in {stands}.{files}"
        if tip and tip != planned.base:
            return f"Its branch {planned.branch} stays: it was moved, to {tip}.{files}"
        if not tip:
            return f"Its branch is gone, too.{files}"
        self._git.do(workspace, "update-ref", "-d", name, planned.base)
        return f"Its branch held no commit of the run, and was deleted.{files}"

    def commit(
        self, run: RunId, submitted: RunSubmitted, planned: WorktreePlanned, session: str
    ) -> str | None:
        """Bring the work into one commit on the run's branch; None when nothing changed.

        A commit that this run made before is returned, not made again. A git command of a worker
        that was killed is waited for, if it has outlived it. Raises PreconditionFailed.
        """
        with self._git.alone(planned.path):
            return self._commit(run, submitted, planned, session)

    def _commit(
        self, run: RunId, submitted: RunSubmitted, planned: WorktreePlanned, session: str
    ) -> str | None:
        path, own = planned.path, planned.branch is not None
        target = f"refs/heads/{planned.branch}" if own else "HEAD"
        before = self._git.do(path, "rev-parse", target)
        # In place somebody may have committed on top of it since.
        made = self._made(path, f"{before}^!" if own else f"{planned.base}..{before}", run)
        if made is not None:
            return made
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
        moves = f"update {target} {commit} {before}\n"
        if not own and self._is_detached(path):  # since the plan: no branch would hold the commit
            moves += f"create refs/heads/{_branch_of(run, submitted)} {commit}\n"
        self._git.do(path, "update-ref", "-m", f"headway: {run}", "--stdin", given=moves)
        if own:
            self._stand_on(path, target)
        return commit

    def _bring_home(self, workspace: str, planned: WorktreePlanned, name: str) -> None:
        """Let the run's branch hold the commits that only the worktree's own HEAD holds."""
        head = self._detached_at(workspace, planned.path)
        if head is None or self._git.do(workspace, "for-each-ref", "--count=1", "--contains", head):
            return
        tip = self._git.do(workspace, "for-each-ref", "--format=%(objectname)", name)
        ahead = ("merge-base", "--is-ancestor", tip, head)
        if not tip or self._git.ask(workspace, *ahead) is not None:
            self._git.do(workspace, "update-ref", name, head, tip)

    def _detached_at(self, workspace: str, path: str) -> str | None:
        """Return the commit that a worktree stands on, as git knows it, if that is on no branch."""
        for told in self._git.do(workspace, "worktree", "list", "--porcelain").split("\n\n"):
            facts = dict(line.partition(" ")[::2] for line in told.split("\n"))
            same = Path(facts.get("worktree", "")).resolve() == Path(path).resolve()
            if same and "detached" in facts:
                return facts["HEAD"]
        return None

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
        try:
            inside = self._git.do(workspace, "rev-parse", "--is-inside-work-tree")
        except PreconditionFailed as fault:
            if NO_REPOSITORY not in fault.message:
                raise  # git says what it is: a repository of another owner, damaged settings
            raise _refused(
                "not_a_repository",
                workspace,
                "is not in a git repository",
                "Run `git init` and commit there, or give another workspace.",
            ) from fault
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

    def _is_detached(self, path: str) -> bool:
        return self._git.ask(path, "symbolic-ref", "--quiet", "HEAD") is None

    def _tip(self, workspace: str, branch: str) -> str | None:
        """Return the commit of a branch, None when there is none of this name."""
        return self._git.ask(workspace, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PreconditionFailed(
                f"The folder of worktrees {self._folder} cannot be made: {error.strerror}.",
                remedy="See that HEADWAY_HOME can be written to, or name another.",
                details={"kind": "worktrees_unwritable", "folder": str(self._folder)},
            ) from error

    def _stands(self, planned: WorktreePlanned) -> bool:
        """Tell whether the planned folder is a worktree of its own, whole enough to be used."""
        return self._is_own(planned) and not self._is_half_made(planned)

    def _is_own(self, planned: WorktreePlanned) -> bool:
        top = self._git.ask(planned.path, "rev-parse", "--show-toplevel")
        return top is not None and Path(top).resolve() == Path(planned.path).resolve()

    def _is_half_made(self, planned: WorktreePlanned) -> bool:
        """Tell whether a git that was making the worktree died: nobody has worked in it yet."""
        if not self._is_own(planned):
            return False
        lock = self._own_folder(planned.path) / "locked"
        return lock.is_file() and lock.read_text("utf-8", "replace").strip() == BEING_MADE

    def _made(self, path: str, among: str, run: RunId) -> str | None:
        """Return the commit that this run made, if it is one of these."""
        form = f"--format=%H %(trailers:key={TRAILER},valueonly,separator=%x20)"
        for line in self._git.do(path, "log", form, among).splitlines():
            commit, _, name = line.partition(" ")
            if name == run:
                return commit
        return None

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


def _branch_of(run: RunId, submitted: RunSubmitted) -> str:
    return f"{PREFIX}/{submitted.workflow_id}/{run}"


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

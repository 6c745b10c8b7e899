"""Where a run works: a git worktree and branch of its own, or the workspace itself.

Planned first, made after the plan is recorded, and made only once: a worktree that stands on the
run's branch is the run's. The work ends as one commit, known by its trailer.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headway.domain.errors import PreconditionFailed
from headway.domain.ids import RunId
from headway.domain.runs.events import RunSubmitted, WorktreePlanned

GIT_SECONDS_MAX: Final = 120.0
TRAILER: Final = "Headway-Run"
SUBJECT_MAX: Final = 72
NAME: Final = "Headway"
EMAIL: Final = "headway@localhost"
LEFT_BEHIND: Final = ("index.lock", "HEAD.lock")
HALF_DONE: Final = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
}


class GitPlaces:
    """Makes places for runs under a folder. `environment` is what git inherits."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._environment = kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

    def plan(self, run: RunId, submitted: RunSubmitted) -> WorktreePlanned:
        """Return where a run is to work. Raises PreconditionFailed for what git refuses."""
        workspace = submitted.workspace
        base = self._git(workspace, "rev-parse", "HEAD")
        if submitted.in_place:
            if self._git(workspace, "status", "--porcelain"):
                raise PreconditionFailed(
                    f"{workspace} has changes that are not committed.",
                    remedy="Commit or stash them, or leave --in-place out.",
                    details={"kind": "workspace_dirty", "workspace": workspace},
                )
            return WorktreePlanned(path=workspace, branch=None, base=base)
        branch = f"headway/{submitted.workflow_id}/{run}"
        return WorktreePlanned(path=str(self._folder / run), branch=branch, base=base)

    def make(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str | None:
        """Make what was planned unless it is there; return what was left behind there, in words.

        Raises PreconditionFailed.
        """
        if planned.branch is None:
            return self._left_behind(planned.path)
        if (Path(planned.path) / ".git").exists():
            return self._left_behind(planned.path)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._git(submitted.workspace, "worktree", "prune")
        known = self._git(submitted.workspace, "branch", "--list", planned.branch)
        at = [planned.path, planned.branch] if known else ["-b", planned.branch, planned.path]
        base = [] if known else [planned.base]
        self._git(submitted.workspace, "worktree", "add", *at, *base)
        return None

    def commit(
        self, run: RunId, submitted: RunSubmitted, planned: WorktreePlanned, session: str
    ) -> str | None:
        """Bring the work into one commit and return it; None when nothing changed.

        A commit of this run that stands already is found, not made again.
        """
        made = self._git(
            planned.path, "log", "-1", f"--format=%H %(trailers:key={TRAILER},valueonly)"
        )
        commit, _, trailer = made.partition(" ")
        if trailer.strip() == run:
            return commit
        self._git(planned.path, "add", "--all")
        if not self._git(planned.path, "status", "--porcelain"):
            return None
        subject = " ".join(submitted.goal.split())
        if len(subject) > SUBJECT_MAX:
            subject = subject[: SUBJECT_MAX - 1].rstrip() + "…"
        trailers = f"{TRAILER}: {run}\nHeadway-Session: {session}\n"
        message = f"{subject}\n\nWorkflow: {submitted.workflow_id}\n\n{trailers}"
        identity = ("-c", f"user.name={NAME}", "-c", f"user.email={EMAIL}")
        options = ("--no-verify", "--no-gpg-sign", "--message", message)
        self._git(planned.path, *identity, "commit", *options)
        return self._git(planned.path, "rev-parse", "HEAD")

    def _left_behind(self, path: str) -> str | None:
        folder = Path(self._git(path, "rev-parse", "--absolute-git-dir"))
        found = [f"the lock file {name}" for name in LEFT_BEHIND if (folder / name).exists()]
        found += [
            f"{what} half done" for name, what in HALF_DONE.items() if (folder / name).exists()
        ]
        if not found:
            return None
        return (
            "A tool that was interrupted left this in the worktree's git folder "
            f"({folder}): {', '.join(dict.fromkeys(found))}. Look at it before you use git."
        )

    def _git(self, folder: str, *words: str) -> str:
        try:
            done = subprocess.run(
                ["git", "-C", folder, *words],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=GIT_SECONDS_MAX,
                check=True,
            )
        except (subprocess.SubprocessError, OSError) as error:
            said = error.stderr if isinstance(error, subprocess.CalledProcessError) else b""
            told = said.decode("utf-8", "replace").strip() or str(error)
            raise PreconditionFailed(
                f"git {words[0]} failed in {folder}: {told}",
                remedy="Mend what git complains of, then resume the run.",
                details={"kind": "git_failed", "folder": folder},
            ) from error
        return done.stdout.decode("utf-8", "replace").strip()

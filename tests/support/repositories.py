"""A real git repository for a test, and the runs that work in it."""

import os
import subprocess
from pathlib import Path

from headway.adapters.git.worktrees import GitWorktrees
from headway.domain.ids import RunId
from headway.domain.runs.events import RunSubmitted, WorktreePlanned

ENVIRONMENT = {
    "PATH": os.defpath,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}
RUN = RunId("task_one")
SESSION = "sess_one"


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """Make a repository with one commit on `main`."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    (folder / ".gitignore").write_text("ignored/\n")
    commit(folder, "First")
    return folder


def commit(folder: Path, subject: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


def submitted(workspace: Path, *, in_place: bool = False, goal: str = "Fix it.") -> RunSubmitted:
    return RunSubmitted(
        workflow_id="bug-fix",
        workspace=str(workspace),
        goal=goal,
        model="scripted:x",
        in_place=in_place,
    )


class Placed:
    """A run in its place."""

    def __init__(
        self, folder: Path, workspace: Path, run: RunId = RUN, *, in_place: bool = False
    ) -> None:
        self.run = run
        self.asked = submitted(workspace, in_place=in_place)
        self.places = GitWorktrees(folder, ENVIRONMENT)
        self.planned: WorktreePlanned = self.places.plan(run, self.asked)
        self.path = Path(self.planned.path)

    def make(self) -> str | None:
        return self.places.make(self.asked, self.planned)

    def forget(self) -> str:
        return self.places.forget(self.asked, self.planned)

    def commit(self) -> str | None:
        return self.places.commit(self.run, self.asked, self.planned, SESSION)

"""The worktrees of a home, surveyed and cleaned, on real repositories; and the command itself."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headway.adapters.git.surveying import SurveyedWorktrees
from headway.adapters.storage.memory import open_memory
from headway.application.clean_worktrees import clean_worktrees
from headway.application.list_worktrees import list_worktrees
from headway.application.requests import Json
from headway.application.runs import Runs
from headway.domain.errors import PreconditionFailed
from headway.domain.ids import RunId
from headway.domain.runs.events import Owner, RunEnded
from headway.domain.runs.outcomes import Success
from headway.ports.queue import Move, RunWrite, Task
from headway.ports.worktrees import WorktreeState
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.repositories import ENVIRONMENT, Placed, commit, git, repository, submitted
from tests.support.walked import engine_of


class Nobody:
    """Owners of which none is known to be gone."""

    def me(self) -> Owner:
        return Owner(host="h", boot="b", pid=1, started="s")

    def is_gone(self, owner: Owner) -> bool:
        return False


@dataclass
class Home:
    """A repository and the worktrees that runs had of it."""

    root: Path
    workspace: Path = field(init=False)
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.workspace = repository(self.root / "project")
        store = open_memory(FakeClock(), FakeEntropy())
        self.runs = Runs(engine=engine_of(store), queue=store.queue, owners=Nobody())
        self.worktrees = SurveyedWorktrees(self.root / "worktrees", ENVIRONMENT)

    def placed(self, run: str, text: str | None = None) -> Placed:
        """Give a run a worktree; with a text, its work is committed there."""
        placed = Placed(self.root / "worktrees", self.workspace, RunId(run))
        placed.make()
        if text is not None:
            (placed.path / "a.txt").write_text(text)
            assert placed.commit() is not None
        return placed

    def submit(self, run: str, *, ended: bool) -> None:
        task = Task(run=RunId(run), workflow_id="w", workspace=str(self.workspace), goal="g")
        self.runs.queue.submit(task, (submitted(self.workspace),), ())
        if ended:
            write = RunWrite(
                run=task.run,
                expected_version=1,
                events=(RunEnded(outcome=Success()),),
                move=Move(state="ended", outcome="success"),
            )
            self.runs.queue.append(write)

    def listed(self) -> dict[str, dict[str, Json]]:
        rows = list_worktrees(self.runs, self.worktrees)["worktrees"]
        assert isinstance(rows, list)
        return {row["run"]: row for row in rows}

    def state(self, run: str) -> WorktreeState:
        return next(each for each in self.worktrees.survey() if each.run == run)

    def cleaned(self, *, remove: bool = True) -> set[str]:
        rows = clean_worktrees(self.runs, self.worktrees, remove=remove)["worktrees"]
        assert isinstance(rows, list)
        gone = {row["run"] for row in rows if row["removed"]}
        assert not any((self.root / "worktrees" / run).exists() for run in gone)
        return gone


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_home_without_worktrees_has_none(home: Home) -> None:
    assert home.listed() == {}
    assert home.cleaned() == set()


def test_a_worktree_is_told_with_its_run_its_branch_and_what_stands_in_it(home: Home) -> None:
    placed = home.placed("task_one", "two\n")
    (placed.path / "new.txt").write_text("new\n")
    commit_on_main = home.workspace / "main.txt"
    commit_on_main.write_text("x\n")
    commit(home.workspace, "On main")
    home.submit("task_one", ended=True)
    row = home.listed()["task_one"]
    assert (row["state"], row["branch"]) == ("ended", "headway/bug-fix/task_one")
    assert (row["ahead"], row["behind"], row["dirty"], row["unpushed"]) == (1, 1, 1, 1)
    assert (row["merged"], row["keep"]) == (False, "changes that are not committed: 1")


def test_work_that_was_squashed_into_main_counts_as_merged(home: Home) -> None:
    placed = home.placed("task_one", "two\n")
    (home.workspace / "b.txt").write_text("b\n")
    commit(home.workspace, "Between")
    git(home.workspace, "merge", "-q", "--squash", "headway/bug-fix/task_one")
    commit(home.workspace, "Squashed (#7)")
    (home.workspace / "a.txt").write_text("changed again\n")
    commit(home.workspace, "After")
    state = home.state("task_one")
    assert (state.merged, state.ahead, state.behind) == (True, 1, 3)
    assert home.cleaned() == {"task_one"}
    assert git(home.workspace, "branch", "--list", "headway/*") == ""
    assert str(placed.path) not in git(home.workspace, "worktree", "list")


def test_other_work_on_the_same_file_does_not_count_as_merged(home: Home) -> None:
    home.placed("task_one", "two\n")
    (home.workspace / "a.txt").write_text("three\n")
    commit(home.workspace, "Other work")
    assert not home.state("task_one").merged
    assert home.cleaned() == set()


def test_work_that_was_pushed_may_go_and_its_branch_stays(home: Home) -> None:
    home.placed("task_one", "two\n")
    assert home.listed()["task_one"]["keep"] == "commits that are neither merged nor pushed: 1"
    git(home.root, "init", "-q", "--bare", "remote")
    git(home.workspace, "remote", "add", "origin", str(home.root / "remote"))
    git(home.workspace, "push", "-q", "origin", "headway/bug-fix/task_one")
    assert home.cleaned() == {"task_one"}
    assert "headway/bug-fix/task_one" in git(home.workspace, "branch", "--list")


def test_a_worktree_whose_run_is_not_over_stays(home: Home) -> None:
    home.placed("task_one")
    home.placed("task_two")
    home.submit("task_one", ended=False)
    assert home.listed()["task_one"]["keep"] == "its run is not over: queued"
    assert home.cleaned() == {"task_two"}


def test_a_cleaning_removes_nothing_unless_told(home: Home) -> None:
    placed = home.placed("task_one")
    assert home.listed()["task_one"]["keep"] is None
    assert home.cleaned(remove=False) == set()
    assert placed.path.exists()


def test_what_became_dirty_since_it_was_looked_at_is_not_removed(home: Home) -> None:
    placed = home.placed("task_one")
    state = home.state("task_one")
    (placed.path / "new.txt").write_text("new\n")
    with pytest.raises(PreconditionFailed):
        home.worktrees.remove(state)
    assert (placed.path / "new.txt").exists()


def test_a_folder_git_does_not_know_is_told_and_kept_and_hides_no_other(home: Home) -> None:
    home.placed("task_two")
    lost = home.placed("task_three")
    (home.root / "worktrees" / "task_one").mkdir()
    shutil.rmtree(home.workspace / ".git" / "worktrees" / lost.path.name)
    rows = home.listed()
    assert [rows[run]["trouble"] is None for run in ("task_one", "task_two", "task_three")] == [
        False,
        True,
        False,
    ]
    assert home.cleaned() == {"task_two"}


def headway(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    own = {"HOME": str(home.root), "HEADWAY_HOME": str(home.root)}
    return subprocess.run(
        [sys.executable, "-m", "headway", "worktrees", *words],
        env={**os.environ, **own},  # noqa: TID251
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_command_lists_counts_and_cleans(home: Home) -> None:
    assert headway(home, "list").stdout == "No run has a worktree.\n"
    home.placed("task_one")
    home.placed("task_two", "two\n")
    shown = headway(home, "list").stdout.splitlines()
    assert [line.split()[0] for line in shown] == ["task_one", "task_two"]
    assert shown[0].endswith("can go")
    assert shown[1].endswith("neither merged nor pushed: 1")
    counts = json.loads(headway(home, "status", "--json").stdout)
    assert (counts["worktrees"], counts["cleanable"], counts["merged"]) == (2, 1, 1)
    assert "--yes" in headway(home, "clean").stdout
    assert json.loads(headway(home, "list", "--json").stdout)["worktrees"][0]["run"] == "task_one"
    assert "removed" in headway(home, "clean", "--yes").stdout
    assert [path.name for path in (home.root / "worktrees").iterdir()] == ["task_two"]

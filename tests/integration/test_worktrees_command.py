"""The worktrees of a home, surveyed and cleaned, on real repositories; and the command itself."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headway.adapters.clock import SystemClock
from headway.adapters.git.surveying import SurveyedWorktrees
from headway.adapters.storage.memory import open_memory
from headway.application.clean_worktrees import clean_worktrees
from headway.application.list_worktrees import list_worktrees
from headway.application.read_patch import read_patch
from headway.application.requests import Json
from headway.application.runs import Runs
from headway.application.show_run import show_run
from headway.application.verify_store import verify_store
from headway.cli.run_drawing import show_lines
from headway.cli.style import Style
from headway.domain.errors import NotFound, PreconditionFailed
from headway.domain.ids import RunId
from headway.domain.runs.events import Owner, RunEnded
from headway.domain.runs.outcomes import Success
from headway.ports.queue import Move, RunWrite, Task
from headway.ports.worktrees import WorktreeState
from tests.fakes.places import StandingPlaces
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.called import called
from tests.support.engines import engine_on
from tests.support.repositories import ENVIRONMENT, Placed, commit, git, repository, submitted
from tests.support.walked import FOLLOWED


class Nobody:
    """Owners of which none is known to be gone."""

    def me(self) -> Owner:
        return Owner(host="h", boot="b", pid=1, started="s")

    def is_gone(self, owner: Owner) -> bool:
        return False

    def end_work_of(self, run: RunId, fence: int) -> int:
        return 0


@dataclass
class Home:
    """A repository and the worktrees that runs had of it."""

    root: Path
    workspace: Path = field(init=False)
    runs: Runs = field(init=False)
    clock: FakeClock = field(init=False)

    def __post_init__(self) -> None:
        self.workspace = repository(self.root / "project")
        self.clock = FakeClock(start_ms=SystemClock().now_ms())
        store = open_memory(self.clock, FakeEntropy())
        self.runs = Runs(
            engine=engine_on(store, FOLLOWED, self.clock, FakeEntropy()),
            queue=store.queue,
            owners=Nobody(),
            places=StandingPlaces(),
        )
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
    assert (row["merged"], row["keep"]) == (
        False,
        "changes that are not committed: 1; commits that are neither merged nor pushed: 1",
    )


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


def test_work_that_was_rebased_into_main_commit_by_commit_counts_as_merged(home: Home) -> None:
    placed = home.placed("task_one", "two\n")
    (placed.path / "b.txt").write_text("b\n")
    theirs = commit(placed.path, "By a person, after the run")
    (home.workspace / "c.txt").write_text("c\n")
    commit(home.workspace, "Between")
    assert not home.state("task_one").merged
    git(home.workspace, "cherry-pick", "headway/bug-fix/task_one^", theirs)
    assert home.state("task_one").merged
    assert home.cleaned() == {"task_one"}


def test_work_merged_into_main_stays_merged_when_another_branch_is_checked_out(home: Home) -> None:
    home.placed("task_one", "two\n")
    git(home.workspace, "checkout", "-q", "-b", "elsewhere")
    git(home.workspace, "branch", "-q", "--force", "main", "headway/bug-fix/task_one")
    assert home.state("task_one").merged


def test_a_detached_head_on_the_work_does_not_make_it_merged(home: Home) -> None:
    home.placed("task_one", "two\n")
    git(home.workspace, "checkout", "-q", "--detach", "headway/bug-fix/task_one")
    assert not home.state("task_one").merged
    home.cleaned()
    assert git(home.workspace, "branch", "--list", "headway/*") != "", "its commit stays named"


def left_dirty(home: Home, run: str) -> Placed:
    """Leave a worktree with changes of each kind."""
    placed = home.placed(run)
    (placed.path / "a.txt").unlink()
    (placed.path / "b.txt").write_text("staged\n")
    git(placed.path, "add", "b.txt")
    (placed.path / "new").mkdir()
    (placed.path / "new" / "ü.bin").write_bytes(bytes(range(256)) * 40)
    (placed.path / "latin.txt").write_bytes(b"caf\xe9\r\n")
    (placed.path / "link").symlink_to("b.txt")
    (placed.path / "run.sh").write_text("#!/bin/sh\n")
    (placed.path / "run.sh").chmod(0o755)
    return placed


def day_later(home: Home) -> None:
    home.clock.next_ms += 25 * 3_600 * 1_000


def test_what_nobody_committed_for_a_day_is_saved_whole_before_it_goes(home: Home) -> None:
    placed = left_dirty(home, "task_one")
    home.submit("task_one", ended=True)
    assert home.listed()["task_one"]["keep"] == "changes that are not committed: 6"
    assert home.cleaned() == set(), "not on the same day"
    day_later(home)
    assert (home.listed()["task_one"]["keep"], home.listed()["task_one"]["saves"]) == (None, True)
    assert home.cleaned(remove=False) == set()
    git(placed.path, "add", "--all")
    tree = git(placed.path, "write-tree")
    assert home.cleaned() == {"task_one"}
    assert git(home.workspace, "branch", "--list", "headway/*") == ""

    patch = read_patch(home.runs, "task_one")
    again = home.root / "again"
    git(home.root, "clone", "-q", str(home.workspace), str(again))
    applied = subprocess.run(["git", "apply", "--index"], cwd=again, input=patch, check=False)
    assert applied.returncode == 0
    assert git(again, "write-tree") == tree
    saved = show_run(home.runs, "task_one")["saved"]
    assert isinstance(saved, dict)
    assert (saved["files"], saved["base"]) == (6, git(home.workspace, "rev-parse", "HEAD"))
    report = verify_store(home.runs.engine)
    assert (report.problems, report.blobs > 0) == ((), True), "the patch is the run's"
    page = "\n".join(show_lines(show_run(home.runs, "task_one"), Style()))
    assert "headway worktrees patch task_one | git apply" in page


def test_a_change_of_today_keeps_an_old_worktree(home: Home) -> None:
    placed = left_dirty(home, "task_one")
    home.submit("task_one", ended=True)
    day_later(home)
    now = home.clock.next_ms * 1_000_000
    os.utime(placed.path / "b.txt", ns=(now, now))
    assert home.cleaned() == set()


def test_what_changes_while_it_is_being_saved_stays(home: Home) -> None:
    placed = left_dirty(home, "task_one")
    state = home.state("task_one")
    saved = home.worktrees.changes(state)
    (placed.path / "b.txt").write_text("once more\n")
    with pytest.raises(PreconditionFailed, match="changed there meanwhile"):
        home.worktrees.remove(state, saved)
    assert (placed.path / "b.txt").read_text() == "once more\n"


def test_a_saving_that_was_cut_short_is_done_once(home: Home) -> None:
    left_dirty(home, "task_one")
    home.submit("task_one", ended=True)
    day_later(home)
    state = home.state("task_one")

    class Stopped(SurveyedWorktrees):
        def remove(self, worktree: WorktreeState, saved: bytes = b"") -> None:
            raise PreconditionFailed("stopped here", remedy="")

    stopped = Stopped(home.root / "worktrees", ENVIRONMENT)
    clean_worktrees(home.runs, stopped, remove=True)
    assert home.cleaned() == {"task_one"}
    kinds = [type(each.event).__name__ for each in home.runs.queue.scan(RunId("task_one"))]
    assert kinds == ["RunSubmitted", "RunEnded", "ChangesSaved"]
    assert state.dirty == 6


def test_what_no_run_of_the_store_can_hold_is_kept_however_old(home: Home) -> None:
    """The store was purged or is another: nothing there could name the patch."""
    left_dirty(home, "task_one")
    home.placed("task_two")
    day_later(home)
    assert home.cleaned() == {"task_two"}
    assert "of a run that this store does not have" in str(home.listed()["task_one"]["keep"])


def test_a_repository_of_its_own_in_a_worktree_is_not_thrown_away(home: Home) -> None:
    placed = home.placed("task_one")
    repository(placed.path / "inner")
    home.submit("task_one", ended=True)
    day_later(home)
    assert home.cleaned() == set()
    assert (placed.path / "inner" / "a.txt").exists()


def test_a_worktree_whose_repository_is_gone_is_told_and_kept(home: Home) -> None:
    home.placed("task_one")
    shutil.move(home.workspace, home.root / "elsewhere")
    assert "look at it, remove it by hand" in str(home.listed()["task_one"]["trouble"])
    assert home.cleaned() == set()


def test_a_survey_takes_no_lock_from_who_works_there(home: Home) -> None:
    placed = home.placed("task_one")
    own = Path(git(placed.path, "rev-parse", "--absolute-git-dir"))
    (own / "index.lock").touch()
    before = (own / "index").stat().st_mtime_ns
    assert home.state("task_one").trouble is None
    assert (own / "index").stat().st_mtime_ns == before


def test_where_nothing_was_saved_a_patch_is_refused(home: Home) -> None:
    home.submit("task_one", ended=True)
    with pytest.raises(NotFound, match="Nothing was saved"):
        read_patch(home.runs, "task_one")


def headway(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    own = {"HOME": str(home.root), "HEADWAY_HOME": str(home.root)}
    done = called(("worktrees", *words), home.root, own)
    assert done.returncode == 0, done.stderr
    return done


def test_the_command_lists_counts_and_cleans(home: Home) -> None:
    assert headway(home, "list").stdout == "No run has a worktree.\n"
    home.placed("task_one")
    home.placed("task_two", "two\n")
    head, *shown = headway(home, "list").stdout.splitlines()
    assert [line.split()[0] for line in shown] == ["task_one", "task_two"]
    assert shown[0].endswith("can go")
    assert shown[1].endswith("neither merged nor pushed: 1")
    assert [shown[1][head.index(name) :].split()[0] for name in ("ahead", "merged")] == ["1", "no"]
    counts = json.loads(headway(home, "status", "--json").stdout)
    assert (counts["worktrees"], counts["cleanable"], counts["merged"]) == (2, 1, 1)
    assert "--yes" in headway(home, "clean").stdout
    assert json.loads(headway(home, "list", "--json").stdout)["worktrees"][0]["run"] == "task_one"
    assert "removed" in headway(home, "clean", "--yes").stdout
    assert [path.name for path in (home.root / "worktrees").iterdir()] == ["task_two"]

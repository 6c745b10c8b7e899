"""A run's worktree, on real repositories: made once, told what was left, ended with one commit."""

import shutil
from pathlib import Path

import pytest

from headway.domain.errors import Fault, PreconditionFailed
from headway.domain.ids import RunId
from tests.support.repositories import Placed, commit, git, repository


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.fixture
def placed(tmp_path: Path, workspace: Path) -> Placed:
    made = Placed(tmp_path / "worktrees", workspace)
    assert made.make() is None
    return made


def refused(tmp_path: Path, workspace: Path, *, in_place: bool = False) -> Fault:
    with pytest.raises(Fault) as refusal:
        Placed(tmp_path / "worktrees", workspace, in_place=in_place)
    assert not (tmp_path / "worktrees").exists()
    return refusal.value


def test_a_run_gets_a_branch_and_a_worktree_and_the_workspace_is_left_alone(
    placed: Placed, workspace: Path
) -> None:
    assert git(placed.path, "symbolic-ref", "--short", "HEAD") == "headway/bug-fix/task_one"
    assert git(placed.path, "rev-parse", "HEAD") == git(workspace, "rev-parse", "HEAD")
    assert git(workspace, "status", "--porcelain") == ""
    assert placed.make() is None


def test_two_runs_of_one_workspace_do_not_meet(placed: Placed, workspace: Path) -> None:
    other = Placed(placed.path.parent, workspace, RunId("task_two"))
    other.make()
    (placed.path / "a.txt").write_text("first run\n")
    assert (other.path / "a.txt").read_text() == "one\n"


def test_what_is_no_workspace_is_refused_before_anything_is_made(
    tmp_path: Path, workspace: Path
) -> None:
    plain, empty, bare = (tmp_path / name for name in ("plain", "empty", "bare"))
    plain.mkdir()
    empty.mkdir()
    git(empty, "init", "-q")
    git(tmp_path, "clone", "-q", "--bare", str(workspace), str(bare))
    kinds = [
        refused(tmp_path, each).details["kind"]
        for each in (tmp_path / "missing", plain, empty, bare)
    ]
    assert kinds == ["workspace_missing", "not_a_repository", "no_commit", "bare_repository"]


def test_a_detached_head_and_a_dirty_workspace_start_from_the_last_commit(
    tmp_path: Path, workspace: Path
) -> None:
    git(workspace, "checkout", "-q", "--detach")
    (workspace / "a.txt").write_text("not committed\n")
    made = Placed(tmp_path / "worktrees", workspace)
    made.make()
    assert (made.path / "a.txt").read_text() == "one\n"


def test_a_dirty_workspace_is_not_worked_on_in_place(tmp_path: Path, workspace: Path) -> None:
    (workspace / "new.txt").write_text("not committed\n")
    fault = refused(tmp_path, workspace, in_place=True)
    assert fault.details["kind"] == "workspace_dirty"


def test_a_branch_that_is_anothers_is_refused_with_what_to_do(
    tmp_path: Path, workspace: Path
) -> None:
    git(workspace, "branch", "headway/bug-fix/task_one")
    fault = refused(tmp_path, workspace)
    assert fault.details["kind"] == "branch_exists"
    assert "git branch -m" in fault.remedy


def test_the_work_ends_as_one_commit_with_what_names_the_run(
    placed: Placed, workspace: Path
) -> None:
    (placed.path / "a.txt").write_text("two\n")
    (placed.path / "new").mkdir()
    (placed.path / "new" / "b.txt").write_text("b\n")
    (placed.path / "ignored").mkdir()
    (placed.path / "ignored" / "c.txt").write_text("c\n")
    (placed.path / ".headway-a.txt.tmp").write_text("half")
    made = placed.commit()
    assert made == git(workspace, "rev-parse", "headway/bug-fix/task_one")
    assert git(placed.path, "diff", "--name-only", "main", "HEAD").splitlines() == [
        "a.txt",
        "new/b.txt",
    ]
    message = git(placed.path, "log", "-1", "--format=%an <%ae>%n%B")
    assert message.startswith("Headway <headway@localhost>\nFix it.\n")
    assert message.endswith("Headway-Run: task_one\nHeadway-Session: sess_one")
    assert git(workspace, "status", "--porcelain") == ""


def test_a_commit_that_was_made_is_found_and_not_made_again(placed: Placed) -> None:
    (placed.path / "a.txt").write_text("two\n")
    made = placed.commit()
    assert placed.commit() == made
    assert git(placed.path, "rev-list", "--count", "main..HEAD") == "1"


def test_nothing_changed_is_no_commit(placed: Placed) -> None:
    assert placed.commit() is None
    assert git(placed.path, "rev-list", "--count", "main..HEAD") == "0"


def test_what_the_run_committed_by_itself_becomes_part_of_the_one_commit(placed: Placed) -> None:
    (placed.path / "a.txt").write_text("two\n")
    commit(placed.path, "By the model")
    git(placed.path, "checkout", "-q", "-b", "elsewhere")
    (placed.path / "b.txt").write_text("b\n")
    assert placed.commit() == git(placed.path, "rev-parse", "headway/bug-fix/task_one")
    assert git(placed.path, "symbolic-ref", "--short", "HEAD") == "headway/bug-fix/task_one"
    assert git(placed.path, "log", "--format=%s", "main..HEAD") == "Fix it."
    assert git(placed.path, "status", "--porcelain") == ""
    assert git(placed.path, "diff", "--name-only", "main").splitlines() == ["a.txt", "b.txt"]


def test_a_long_goal_is_cut_in_the_subject_alone(tmp_path: Path, workspace: Path) -> None:
    placed = Placed(tmp_path / "worktrees", workspace)
    placed.asked = type(placed.asked)(
        workflow_id="bug-fix", workspace=str(workspace), goal="word " * 60, model="x"
    )
    placed.make()
    (placed.path / "a.txt").write_text("two\n")
    placed.commit()
    subject, _, body = git(placed.path, "log", "-1", "--format=%B").partition("\n\n")
    assert len(subject.encode()) <= 72
    assert body.startswith(("word " * 60).strip())


def test_what_a_dead_tool_left_is_told_and_does_not_keep_the_commit(placed: Placed) -> None:
    own = Path(git(placed.path, "rev-parse", "--absolute-git-dir"))
    (own / "index.lock").touch()
    (placed.path / "a.txt").write_text("two\n")
    told = placed.make()
    assert told is not None
    assert "index.lock" in told
    assert placed.commit() is not None
    assert placed.make() is None


def test_a_half_done_rebase_is_told_and_does_not_keep_the_commit(
    placed: Placed, workspace: Path
) -> None:
    (placed.path / "a.txt").write_text("mine\n")
    commit(placed.path, "Mine")
    (workspace / "a.txt").write_text("theirs\n")
    commit(workspace, "Theirs")
    with pytest.raises(Exception, match="rebase"):
        git(placed.path, "rebase", "main")
    told = placed.make()
    assert told is not None
    assert "a rebase that was not finished" in told
    (placed.path / "a.txt").write_text("both\n")
    made = placed.commit()
    assert git(placed.path, "rev-parse", "headway/bug-fix/task_one") == made
    assert git(placed.path, "rev-parse", f"{made}^") == placed.planned.base
    assert placed.make() is None


@pytest.mark.parametrize("committed", [False, True])
def test_a_worktree_removed_under_the_run_is_made_again_and_told(
    placed: Placed, *, committed: bool
) -> None:
    (placed.path / "a.txt").write_text("two\n")
    if committed:
        commit(placed.path, "By the model")
    shutil.rmtree(placed.path)
    told = placed.make()
    assert told is not None
    assert "made again" in told
    assert (placed.path / "a.txt").read_text() == ("two\n" if committed else "one\n")


def test_a_commit_in_a_worktree_that_is_gone_says_so(placed: Placed) -> None:
    shutil.rmtree(placed.path)
    with pytest.raises(PreconditionFailed) as refusal:
        placed.commit()
    assert refusal.value.details["kind"] == "git_failed"


def test_in_place_the_commit_stands_on_what_others_committed_meanwhile(
    tmp_path: Path, workspace: Path
) -> None:
    placed = Placed(tmp_path / "worktrees", workspace, in_place=True)
    assert placed.make() is None
    (workspace / "b.txt").write_text("b\n")
    theirs = commit(workspace, "Theirs")
    (workspace / "a.txt").write_text("two\n")
    made = placed.commit()
    assert git(workspace, "rev-parse", "main^") == theirs
    assert placed.commit() == made

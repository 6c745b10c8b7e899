"""A run's worktree, on real repositories: made once, told what was left, ended with one commit."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headway.adapters.git import commanding
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


def test_a_filter_that_hangs_ends_with_its_git_and_keeps_nobody_waiting(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / ".gitattributes").write_text("*.txt filter=slow\n")
    commit(workspace, "attributes")
    git(workspace, "config", "filter.slow.smudge", "sleep 60")
    placed = Placed(tmp_path / "worktrees", workspace)
    monkeypatch.setattr(commanding, "SECONDS_MAX", 1.0)
    with pytest.raises(PreconditionFailed, match="did not end within 1 s"):
        placed.make()
    git(workspace, "config", "--unset", "filter.slow.smudge")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(placed.make).result(timeout=30) is None
    assert (placed.path / "a.txt").is_file()


def test_two_runs_of_one_workspace_do_not_meet(placed: Placed, workspace: Path) -> None:
    other = Placed(placed.path.parent, workspace, RunId("task_two"))
    other.make()
    (placed.path / "a.txt").write_text("first run\n")
    assert (other.path / "a.txt").read_text() == "one\n"


def test_many_worktrees_of_one_repository_are_made_at_once(tmp_path: Path, workspace: Path) -> None:
    def made(number: int) -> str:
        placed = Placed(tmp_path / "worktrees", workspace, RunId(f"task_{number}"))
        assert placed.make() is None
        return git(placed.path, "rev-parse", "HEAD")

    with ThreadPoolExecutor(16) as pool:
        heads = set(pool.map(made, range(32)))
    assert heads == {git(workspace, "rev-parse", "HEAD")}


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


def test_in_place_a_detached_head_is_refused_with_what_to_do(
    tmp_path: Path, workspace: Path
) -> None:
    git(workspace, "checkout", "-q", "--detach")
    fault = refused(tmp_path, workspace, in_place=True)
    assert fault.details["kind"] == "workspace_detached"
    assert "git switch -c NAME" in fault.remedy
    assert "--in-place" in fault.remedy


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


def test_a_place_is_there_until_it_is_removed(
    placed: Placed, tmp_path: Path, workspace: Path
) -> None:
    (workspace / "part").mkdir()
    inside = Placed(tmp_path / "worktrees", workspace / "part", in_place=True)
    assert placed.places.is_there(placed.planned)
    assert inside.places.is_there(inside.planned)
    (placed.path / ".git").unlink()
    shutil.rmtree(workspace / "part")
    assert not placed.places.is_there(placed.planned)
    assert not inside.places.is_there(inside.planned)
    assert "the workspace itself" in inside.forget()
    assert known(workspace)[1] == BRANCH, "which is another run's"


BRANCH = "headway/bug-fix/task_one"


def known(workspace: Path) -> tuple[list[str], str]:
    """Return the worktrees that git knows, without the workspace, and the branches of runs."""
    told = git(workspace, "worktree", "list", "--porcelain").splitlines()
    folders = [line.removeprefix("worktree ") for line in told if line.startswith("worktree ")]
    branches = git(workspace, "for-each-ref", "--format=%(refname:short)", "refs/heads/headway")
    return folders[1:], branches


@pytest.mark.parametrize("locked", [False, True])
def test_of_a_worktree_that_was_removed_nothing_stays_and_other_worktrees_do(
    placed: Placed, workspace: Path, tmp_path: Path, *, locked: bool
) -> None:
    other, away = tmp_path / "other", tmp_path / "away"
    git(workspace, "worktree", "add", "-q", "--detach", str(other))
    other.rename(away)  # as a disk that is not there at the moment
    if locked:
        git(workspace, "worktree", "lock", str(placed.path))
    shutil.rmtree(placed.path)
    assert placed.forget() == "Its branch held no commit of the run, and was deleted."
    assert known(workspace) == ([str(other)], "")
    assert placed.forget() == "Its branch is gone, too."


def test_a_commit_of_a_worktree_that_was_removed_stays_on_its_branch(
    placed: Placed, workspace: Path
) -> None:
    (placed.path / "a.txt").write_text("two\n")
    made = commit(placed.path, "By the model")
    shutil.rmtree(placed.path)
    assert placed.forget() == f"Its branch {BRANCH} stays: it was moved, to {made}."
    assert known(workspace) == ([], BRANCH)
    assert git(workspace, "rev-parse", BRANCH) == made


@pytest.mark.parametrize("before", [False, True])
def test_a_commit_on_a_detached_head_of_a_removed_worktree_is_brought_to_the_branch(
    placed: Placed, workspace: Path, *, before: bool
) -> None:
    if before:
        (placed.path / "b.txt").write_text("b\n")
        commit(placed.path, "On the branch")
    git(placed.path, "switch", "-q", "--detach")
    (placed.path / "a.txt").write_text("two\n")
    made = commit(placed.path, "On no branch")
    shutil.rmtree(placed.path)
    assert placed.forget() == f"Its branch {BRANCH} stays: it was moved, to {made}."
    assert known(workspace) == ([], BRANCH)
    assert git(workspace, "rev-parse", BRANCH) == made


def test_a_branch_that_somebody_stands_on_stays(placed: Placed, workspace: Path) -> None:
    git(placed.path, "switch", "-q", "--detach")
    git(workspace, "switch", "-q", BRANCH)
    shutil.rmtree(placed.path)
    said = f"Its branch {BRANCH} stays: it is checked out in {workspace}."
    assert placed.forget() == said
    assert known(workspace) == ([], BRANCH)


def test_files_beside_a_lost_git_folder_stay_and_are_named(placed: Placed, workspace: Path) -> None:
    (placed.path / ".git").unlink()
    assert placed.forget().endswith(f"was deleted. What else is in {placed.path} stays.")
    assert (placed.path / "a.txt").read_text() == "one\n"
    assert known(workspace) == ([], "")


def test_a_worktree_that_is_there_is_not_forgotten(placed: Placed, workspace: Path) -> None:
    assert "is there again" in placed.forget()
    assert known(workspace) == ([str(placed.path)], BRANCH)


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


def test_a_worktree_whose_making_was_cut_off_is_made_whole(placed: Placed) -> None:
    own = Path(git(placed.path, "rev-parse", "--absolute-git-dir"))
    (own / "locked").write_text("initializing")
    (own / "index.lock").write_text("")
    (placed.path / "a.txt").unlink()
    assert placed.make() is None
    assert (placed.path / "a.txt").read_text() == "one\n"
    assert git(placed.path, "status", "--porcelain") == ""
    assert placed.make() is None


def test_a_worktree_that_its_user_locked_is_left_as_it_is(placed: Placed) -> None:
    git(placed.path, "worktree", "lock", "--reason", "mine", str(placed.path))
    (placed.path / "a.txt").write_text("work\n")
    assert placed.make() is None
    assert (placed.path / "a.txt").read_text() == "work\n"


def test_in_place_a_commit_is_found_below_what_others_committed_since(
    tmp_path: Path, workspace: Path
) -> None:
    placed = Placed(tmp_path / "worktrees", workspace, in_place=True)
    (workspace / "a.txt").write_text("work\n")
    made = placed.commit()
    assert made is not None
    (workspace / "b.txt").write_text("theirs\n")
    commit(workspace, "Theirs")
    assert placed.commit() == made

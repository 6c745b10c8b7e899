"""A workspace is looked at with real git and real folders, and never changed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from headway.adapters.git.workspace import GitWorkspace
from headway.domain.events import GitFacts
from headway.domain.workflow import Reference


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def look(**extra: str) -> GitWorkspace:
    environment = {**os.environ, **extra}  # noqa: TID251 - what a process hands down
    return GitWorkspace(environment, Path(__file__).parent)


def reference(source: str, *, package: bool = False) -> Reference:
    return Reference(
        id="ref",
        title="t",
        source=source,
        purpose="p",
        authoritative=True,
        resolve_from="package" if package else "workspace",
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    return folder


def test_a_repository_tells_branch_head_and_identity(repository: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    facts = look().git_facts(str(repository))
    assert (facts.branch, facts.head) == ("trunk", git(repository, "rev-parse", "HEAD"))
    assert facts.repository is not None


def test_a_repository_without_commits_has_a_branch_and_no_head(repository: Path) -> None:
    facts = look().git_facts(str(repository))
    assert (facts.branch, facts.head) == ("trunk", None)
    assert facts.repository is not None


def test_a_detached_head_has_no_branch(repository: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    git(repository, "checkout", "-q", "--detach")
    facts = look().git_facts(str(repository))
    assert facts.branch is None
    assert facts.head is not None


def test_worktrees_and_folders_inside_share_one_identity(repository: Path, tmp_path: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    inside = repository / "inside"
    inside.mkdir()
    workspace = look()
    facts = [workspace.git_facts(str(each)) for each in (repository, tmp_path / "side", inside)]
    assert len({each.repository for each in facts}) == 1
    assert [each.branch for each in facts] == ["trunk", "side", "trunk"]


def test_where_git_has_nothing_to_say_there_are_no_facts(tmp_path: Path) -> None:
    workspace = look()
    for path in (str(tmp_path), str(tmp_path / "missing"), "bad\0path"):
        assert workspace.git_facts(path) == GitFacts()
    assert look(PATH="/nowhere").git_facts(str(tmp_path)) == GitFacts()


def test_variables_that_point_git_elsewhere_are_ignored(repository: Path, tmp_path: Path) -> None:
    assert look(GIT_DIR=str(repository / ".git")).git_facts(str(tmp_path)) == GitFacts()


def counted(folder: Path) -> tuple[GitWorkspace, Path]:
    """Return a look whose git leaves a line in a file each time it runs."""
    programs, runs = folder / "programs", folder / "runs"
    programs.mkdir()
    runs.touch()
    real = shutil.which("git")
    (programs / "git").write_text(f'#!/bin/sh\necho run >> "{runs}"\nexec {real} "$@"\n')
    (programs / "git").chmod(0o755)
    return look(PATH=f"{programs}:{os.defpath}"), runs


def test_git_is_not_asked_again_until_head_has_moved(repository: Path, tmp_path: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    looking, runs = counted(tmp_path)
    inside = repository / "a" / "b"
    inside.mkdir(parents=True)
    first = looking.git_facts(str(inside))
    assert looking.git_facts(str(inside)) == first
    assert runs.read_text() == "run\n"


@pytest.mark.parametrize(
    "moves",
    [
        [("commit", "-q", "--allow-empty", "-m", "two")],
        [("checkout", "-q", "-b", "other")],
        [("checkout", "-q", "--detach")],
        [("pack-refs", "--all"), ("commit", "-q", "--allow-empty", "-m", "two")],
        [("pack-refs", "--all"), ("checkout", "-q", "-b", "other"), ("pack-refs", "--all")],
        [("branch", "other"), ("symbolic-ref", "refs/heads/trunk", "refs/heads/other")],
        [("update-ref", "-d", "HEAD")],
        [("worktree", "add", "-q", "../repository/a", "-b", "inner")],
    ],
)
def test_what_is_kept_of_git_is_what_git_says(
    repository: Path, moves: list[tuple[str, ...]]
) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    looking, workspace = look(), repository / "a" / "b"
    workspace.mkdir(parents=True)
    before = looking.git_facts(str(workspace))
    assert before == look().git_facts(str(workspace))
    if moves[0][0] == "worktree":
        workspace.rmdir()
        workspace.parent.rmdir()
    for move in moves:
        git(repository, *move)
        workspace.mkdir(parents=True, exist_ok=True)
        assert looking.git_facts(str(workspace)) == look().git_facts(str(workspace))


def test_a_repository_made_inside_another_is_the_one_that_counts(repository: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    inner = repository / "inner"
    inner.mkdir()
    looking = look()
    outer = looking.git_facts(str(inner))
    git(inner, "init", "-q", "-b", "own")
    git(inner, "commit", "-q", "--allow-empty", "-m", "first")
    facts = looking.git_facts(str(inner))
    assert (facts.branch, facts.head) == ("own", git(inner, "rev-parse", "HEAD"))
    assert facts.repository != outer.repository


def test_a_workspace_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    workspace = look()
    assert workspace.exists(str(tmp_path))
    assert not workspace.exists(str(tmp_path / "file"))
    assert not workspace.exists("bad\0path")


def test_references_are_found_inside_their_base_only(tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "docs").mkdir(parents=True)
    (base / "docs" / "a.md").touch()
    (tmp_path / "secret").touch()
    (base / "out").symlink_to(tmp_path / "secret")
    (base / "loop").symlink_to(base / "loop")
    workspace = look()

    def found(source: str, *, package: bool = False) -> bool:
        (status,) = workspace.resolve(str(base), (reference(source, package=package),))
        return status.resolved

    assert found("docs/a.md")
    assert found("docs/../docs/a.md")
    assert found(Path(__file__).name, package=True)
    for source in ("docs", "b.md", "../secret", str(tmp_path / "secret"), "out", "loop", "a\0b"):
        assert not found(source)


def test_a_reference_tells_where_it_points(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()
    statuses = look().resolve(str(tmp_path), (reference("a.md"), reference("b.md")))
    assert [status.path for status in statuses] == [str(tmp_path / "a.md"), str(tmp_path / "b.md")]

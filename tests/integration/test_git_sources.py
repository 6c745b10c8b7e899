"""Git repositories of workflow files: fetched, pinned, moved only when told, and never trusted."""

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headway.adapters.git.fetching import GitFetching
from headway.adapters.git.running import Limits
from headway.cli.main import cli
from headway.domain.errors import Fault
from headway.ports.sources import GitSource

Run = Callable[..., Result]


def git(folder: Path, *arguments: str) -> str:
    names = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    environment = {"PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", *names, *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def flow(workflow_id: str, name: str = "A flow") -> str:
    steps = [{"id": "only-step", "title": "Only", "prompt": "Do it."}]
    about = {"name": name, "description": "For a test.", "version": "1.0.0", "steps": steps}
    return json.dumps({"id": workflow_id, **about})


class Remote:
    """A bare repository, and a checkout that pushes to it."""

    def __init__(self, root: Path) -> None:
        self.checkout = root / "checkout"
        self.bare = root / "flows.git"
        for folder in (self.checkout, self.bare):
            folder.mkdir()
        git(self.bare, "init", "-q", "--bare")
        git(self.checkout, "init", "-q")
        git(self.checkout, "remote", "add", "origin", str(self.bare))

    def push(self, files: dict[str, str], *more: str) -> str:
        for name, text in files.items():
            path = self.checkout / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        git(self.checkout, "add", "-A")
        git(self.checkout, "commit", "-qm", "Change")
        git(self.checkout, "push", "-q", "origin", "HEAD", *more)
        return git(self.checkout, "rev-parse", "HEAD")


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return Remote(tmp_path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def run(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("HEADWAY_HOME", str(home))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, list(arguments))

    return call


def answer(result: Result) -> dict[str, object]:
    parsed = json.loads(result.stdout)
    assert isinstance(parsed, dict)
    return parsed


def ids(run: Run) -> dict[str, str]:
    listed = json.loads(run("workflows", "list", "--json").stdout)["workflows"]
    return {each["workflowId"]: each["name"] for each in listed if each["source"] == "git"}


def commit_of(run: Run, source: str = "flows") -> str:
    listed = json.loads(run("sources", "list", "--json").stdout)["git"]
    return next(str(each["commit"]) for each in listed if each["id"] == source)


def test_a_repository_is_fetched_pinned_and_its_workflows_can_be_started(
    run: Run, remote: Remote, home: Path
) -> None:
    commit = remote.push({"a.json": flow("team.a"), "deep/b.yaml": flow("team.b"), "c.txt": "no"})
    added = run("sources", "add", str(remote.bare))
    assert added.exit_code == 0, added.output
    assert f"Added flows at {commit[:12]}: 2 files." in added.output
    assert ids(run) == {"team.a": "A flow", "team.b": "A flow"}
    assert commit_of(run) == commit
    shown = json.loads(run("workflows", "show", "team.a", "--json").stdout)
    assert shown["origin"] == f"flows: {remote.bare} at {commit}"
    tree = home / "sources" / "flows" / commit
    assert sorted(path.name for path in tree.rglob("*") if path.is_file()) == ["a.json", "b.yaml"]
    assert [path.name for path in (home / "sources" / "flows").iterdir()] == [commit]


def test_only_an_update_moves_the_pin(run: Run, remote: Remote, home: Path) -> None:
    first = remote.push({"a.json": flow("team.a", "First")})
    run("sources", "add", str(remote.bare))
    second = remote.push({"a.json": flow("team.a", "Second")})
    assert ids(run) == {"team.a": "First"}
    updated = run("sources", "update")
    assert updated.exit_code == 0
    assert f"flows: {first[:12]} -> {second[:12]}, 1 file." in updated.output
    assert ids(run) == {"team.a": "Second"}
    assert [path.name for path in (home / "sources" / "flows").iterdir()] == [second]
    assert "still" in run("sources", "update", "flows").output


def test_adding_twice_changes_nothing_and_removing_leaves_nothing(
    run: Run, remote: Remote, home: Path
) -> None:
    remote.push({"a.json": flow("team.a")})
    run("sources", "add", str(remote.bare))
    assert "It is there already" in run("sources", "add", str(remote.bare)).output
    assert run("sources", "remove", "flows").exit_code == 0
    assert ids(run) == {}
    assert not (home / "sources" / "flows").exists()
    gone = run("sources", "remove", "flows", "--json")
    assert gone.exit_code == 1
    assert json.loads(gone.stderr)["code"] == "NOT_FOUND"


def test_a_ref_and_a_path_narrow_what_is_taken(run: Run, remote: Remote) -> None:
    remote.push({"x/a.json": flow("team.a", "Old"), "y/b.json": flow("team.b")})
    git(remote.checkout, "tag", "v1")
    git(remote.checkout, "push", "-q", "origin", "v1")
    remote.push({"x/a.json": flow("team.a", "New")})
    assert run("sources", "add", str(remote.bare), "--ref", "v1", "--path", "x").exit_code == 0
    assert ids(run) == {"team.a": "Old"}
    assert run("sources", "add", str(remote.bare), "--path", "y").exit_code == 0
    assert ids(run) == {"team.a": "Old", "team.b": "A flow"}
    assert commit_of(run, "flows-2") != commit_of(run, "flows")


def test_a_repository_that_moved_keeps_its_pin_and_hinders_no_other(
    run: Run, remote: Remote, tmp_path: Path
) -> None:
    pin = remote.push({"a.json": flow("team.a")})
    run("sources", "add", str(remote.bare))
    (tmp_path / "second").mkdir()
    other = Remote(tmp_path / "second")
    other.push({"b.json": flow("team.b", "Old")})
    run("sources", "add", str(other.bare))
    other.push({"b.json": flow("team.b", "New")})
    remote.bare.rename(tmp_path / "elsewhere.git")
    updated = run("sources", "update", "--json")
    assert updated.exit_code == 1
    (failed,) = json.loads(updated.stdout)["failed"]
    assert failed["fault"]["details"]["kind"] == "git_unreachable"
    assert "stays in use" in failed["fault"]["message"]
    assert failed["fault"]["details"]["suggestion"]
    assert commit_of(run) == pin
    assert ids(run) == {"team.a": "A flow", "team.b": "New"}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("/nowhere/at-all.git",), "git_unreachable"),
        (("{bare}", "--ref", "no-such-branch"), "git_unreachable"),
        (("{bare}", "--path", "no/such/folder"), "git_empty"),
        (("{bare}", "--ref", "--upload-pack=x"), "git_ref"),
        (("{bare}", "--path", "../.."), "git_path"),
        (("ext::sh -c touch% {mark}",), "git_address"),
        (("file://{bare}",), "git_address"),
        (("--", "-u{mark}"), "git_address"),
        (("--", "--upload-pack=touch {mark}"), "git_address"),
        (("ssh://-oProxyCommand=touch {mark}/x",), "git_address"),
        (("https://user:hunter2@git.example/x",), "git_address"),
        (("http://git.example/x",), "git_address"),
    ],
)
def test_what_cannot_or_must_not_be_fetched_changes_nothing(
    run: Run, remote: Remote, home: Path, arguments: tuple[str, ...], kind: str
) -> None:
    remote.push({"a.json": flow("team.a")})
    mark = home.parent / "mark"
    given = [each.format(bare=remote.bare, mark=mark) for each in arguments]
    refused = run("sources", "add", "--json", *given)
    assert refused.exit_code == 1, refused.output
    told = json.loads(refused.stderr)
    assert told["details"]["kind"] == kind
    assert told["message"]
    assert told["details"]["suggestion"]
    assert "hunter2" not in refused.output
    assert not mark.exists()
    assert answer(run("sources", "list", "--json"))["git"] == []
    assert not list((home / "sources").rglob("*"))


def test_no_hook_filter_link_or_submodule_of_a_repository_has_any_effect(
    run: Run, remote: Remote, tmp_path: Path, home: Path
) -> None:
    mark = tmp_path / "mark"
    (remote.checkout / "out.json").symlink_to("/etc/passwd")
    (remote.checkout / "folder").symlink_to("/etc")
    remote.push({".gitattributes": "*.json filter=evil\n", "a.json": flow("team.a")})
    git(remote.checkout, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub.json")
    remote.push({".gitmodules": '[submodule "s"]\n path = sub.json\n url = ext::sh\n'})
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-merge"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n", "utf-8")
        (hooks / name).chmod(0o755)
    settings = f'[core]\n hooksPath = {hooks}\n[filter "evil"]\n smudge = touch {mark}\n'
    (tmp_path / ".gitconfig").write_text(settings, "utf-8")
    assert run("sources", "add", str(remote.bare)).exit_code == 0
    assert not mark.exists()
    files = [path for path in (home / "sources").rglob("*") if not path.is_dir()]
    assert [path.name for path in files] == ["a.json"]
    assert all(stat.S_ISREG(path.lstat().st_mode) for path in files)


def test_a_broken_or_huge_file_of_a_repository_hides_no_other(run: Run, remote: Remote) -> None:
    remote.push({"a.json": flow("team.a"), "b.json": "{", "huge.json": " " * 1_000_001})
    assert run("sources", "add", str(remote.bare)).exit_code == 0
    assert ids(run) == {"team.a": "A flow"}
    warned = json.loads(run("workflows", "list", "--json").stdout)["validationWarnings"]
    codes = {each["workflowId"]: each["errors"][0]["code"] for each in warned}
    assert codes == {"b": "NOT_JSON", "huge": "FILE_TOO_LARGE"}


def test_files_that_were_fetched_are_not_mended_in_place(
    run: Run, remote: Remote, home: Path
) -> None:
    remote.push({"a.json": flow("team.a")})
    run("sources", "add", str(remote.bare))
    (path,) = (home / "sources").rglob("a.json")
    before = path.read_bytes()
    refused = run("workflows", "lint", "--stamp", str(path))
    assert refused.exit_code == 2
    assert "git repository" in refused.output
    assert path.read_bytes() == before


def test_a_tree_that_is_not_on_this_machine_is_told_and_fetched_anew(
    run: Run, remote: Remote, home: Path
) -> None:
    remote.push({"a.json": flow("team.a")})
    run("sources", "add", str(remote.bare))
    (home / "sources").rename(home / "lost")
    listed = run("sources", "list").output
    assert "headway sources update flows" in listed
    assert ids(run) == {}
    assert run("sources", "update", "flows").exit_code == 0
    assert ids(run) == {"team.a": "A flow"}


def refusal_of(home: Path, remote: Remote, limits: Limits, path: str = os.defpath) -> Fault:
    source = GitSource(id="flows", url=str(remote.bare), ref="", path="", commit="")
    with pytest.raises(Fault) as caught:
        GitFetching(home, {"PATH": path}, limits).fetch(source)
    assert not list((home / "sources").rglob("*"))
    return caught.value


def test_a_repository_that_is_too_large_or_too_slow_is_given_up(
    home: Path, remote: Remote, tmp_path: Path
) -> None:
    remote.push({"a.json": flow("team.a")})
    assert refusal_of(home, remote, Limits(size=10)).details["kind"] == "git_large"
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nsleep 60 &\nwait\n", "utf-8")
    (slow / "git").chmod(0o755)
    path = f"{slow}:{os.defpath}"
    assert refusal_of(home, remote, Limits(seconds=0.1), path).details["kind"] == "git_slow"


def test_without_git_it_is_said_so(home: Path, remote: Remote, tmp_path: Path) -> None:
    assert refusal_of(home, remote, Limits(), str(tmp_path)).details["kind"] == "git_missing"

"""What people, repositories, settings and models do wrong: told, nothing left, and work goes on."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.test_full_disk import small_disk
from tests.support.crashed_runs import git
from tests.support.patience import SECONDS_MAX
from tests.support.run_home import RUN, Home
from tests.support.worked import until

NOTES = "Looked at what there is, and there is nothing else to be told of it here."
DONE = f"  - calls: [{{complete_step: {{notes: '{NOTES}'}}}}]\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "place")


def script(home: Home, *turns: str) -> None:
    home.script.write_text("turns:\n" + "".join(turns))


def asked(home: Home, *words: str) -> tuple[str, ...]:
    """Return the words that ask for a run of the script."""
    return (*RUN, "--model", f"scripted:{home.script}", *words)


def left(home: Home) -> list[str]:
    """Return what a run may leave outside the store: its worktree and its branch."""
    worktrees = home.folder / "home" / "worktrees"
    folders = [each.name for each in worktrees.iterdir()] if worktrees.is_dir() else []
    return folders + git(home.repo, "branch", "--list", "headway/*").split()


def made(home: Home, name: str, *words: str) -> Path:
    """Make a folder, and git something of it."""
    folder = home.folder / name
    folder.mkdir()
    if words:
        git(folder, *words)
    return folder


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "is not in a git repository that has a commit"),
        (("init", "-q"), "is not in a git repository that has a commit"),
        (("init", "-q", "--bare"), "is not in a git repository that has a commit"),
        (("clone", "-q", "--bare", "../repo", "."), "failed (bare_repository): "),
    ],
    ids=["no repository", "no commit", "bare and empty", "bare"],
)
def test_a_workspace_that_cannot_be_worked_in_is_refused(
    home: Home, words: tuple[str, ...], said: str
) -> None:
    refused = home.run("--workspace", str(made(home, "other", *words)))
    assert refused.returncode == 1
    assert said in refused.stdout + refused.stderr
    assert left(home) == []


@pytest.mark.parametrize(
    "words",
    [
        ("run", "two-steps", "--goal", "x", "--model", "SCRIPT"),
        ("dispatch", "two-steps", "--goal", "x", "--model", "SCRIPT"),
        ("runs", "retry", "RUN"),
        ("worktrees", "list"),
        ("worktrees", "clean"),
        ("sources", "add", "https://git.invalid/x.git"),
    ],
)
def test_where_git_is_not_found_that_is_said_and_nothing_else(
    home: Home, words: tuple[str, ...]
) -> None:
    assert home.run().returncode == 0
    run = str(home.listed()[0]["run"])
    before = left(home)
    home.environment["PATH"] = str(made(home, "empty"))
    put = {"SCRIPT": f"scripted:{home.script}", "RUN": run}
    refused = home.call(*(put.get(word, word) for word in words), "--json")
    assert (refused.returncode, refused.stdout) == (1, "")
    told = json.loads(refused.stderr)
    assert told["code"] == "PRECONDITION_FAILED"
    assert told["details"]["kind"] == "git_missing"
    assert "git was not found" in told["message"]
    assert "PATH" in told["details"]["suggestion"]
    home.environment["PATH"] = os.defpath
    assert left(home) == before
    assert len(home.listed()) == 1


def test_a_repository_of_somebody_else_is_told_as_what_it_is(home: Home) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    for path in (home.repo, *home.repo.rglob("*")):
        os.chown(path, 4321, 4321)
    refused = home.run()
    assert refused.returncode == 1
    assert f"git -C {home.repo} log -1" in refused.stderr, "which names git's own remedy"


def test_what_is_not_committed_is_not_in_a_run_and_that_is_said(home: Home) -> None:
    (home.repo / "check.py").write_text("raise SystemExit('mine')\n")
    (home.repo / "new.txt").write_text("mine\n")
    done = home.run()
    assert done.returncode == 0, done.stderr
    assert "; 2 uncommitted changes not in it" in done.stderr
    run = home.listed()[0]["run"]
    changed = git(home.repo, "diff", "--name-only", "HEAD", f"headway/two-steps/{run}")
    assert changed == "calc.py"
    assert (home.repo / "check.py").read_text() == "raise SystemExit('mine')\n"


def test_in_place_what_is_not_committed_is_not_mixed_with_the_runs_work(home: Home) -> None:
    (home.repo / "new.txt").write_text("mine\n")
    refused = home.run("--in-place")
    assert refused.returncode == 1
    assert "failed (workspace_dirty): " in refused.stdout + refused.stderr
    (home.repo / "new.txt").unlink()
    done = home.run("--in-place")
    assert done.returncode == 0, done.stderr
    assert git(home.repo, "log", "-1", "--format=%an") == "Headway"
    assert git(home.repo, "status", "--porcelain") == ""
    assert left(home) == []


def test_a_detached_head_is_a_place_to_start_from_and_stays_as_it_is(home: Home) -> None:
    git(home.repo, "checkout", "-q", "--detach")
    head = git(home.repo, "rev-parse", "HEAD")
    assert home.run().returncode == 0
    assert git(home.repo, "rev-parse", "HEAD") == head
    assert git(home.repo, "branch", "--show-current") == ""
    run = home.listed()[0]["run"]
    assert git(home.repo, "rev-parse", f"headway/two-steps/{run}^") == head


def test_in_place_a_detached_head_is_refused_until_a_branch_stands_there(home: Home) -> None:
    git(home.repo, "checkout", "-q", "--detach")
    head = git(home.repo, "rev-parse", "HEAD")
    refused = home.run("--in-place")
    assert refused.returncode == 1
    assert "failed (workspace_detached): " in refused.stdout
    assert "git switch -c NAME" in refused.stdout
    assert git(home.repo, "rev-parse", "HEAD") == head
    assert git(home.repo, "status", "--porcelain") == ""
    git(home.repo, "switch", "-q", "-c", "mine")
    done = home.run("--in-place")
    assert done.returncode == 0, done.stderr
    assert git(home.repo, "rev-parse", "mine^") == head
    assert left(home) == []


def test_in_place_a_head_detached_meanwhile_keeps_the_commit_in_a_branch_of_the_run(
    home: Home,
) -> None:
    main = git(home.repo, "rev-parse", "HEAD")
    command = "git checkout -q --detach && echo more >> calc.py"
    script(home, f"  - calls: [{{bash: {{command: '{command}'}}}}]\n", DONE, DONE)
    done = home.run("--in-place")
    assert done.returncode == 0, done.stderr
    run = home.listed()[0]["run"]
    branch = f"headway/two-steps/{run}"
    commit = git(home.repo, "rev-parse", branch)
    assert git(home.repo, "rev-parse", f"{branch}^") == main
    assert git(home.repo, "rev-parse", "HEAD") == commit
    assert git(home.repo, "status", "--porcelain") == ""
    assert f"succeeded with commit {commit}" in done.stdout


@pytest.mark.parametrize("name", ["headway", "headway/two-steps"])
def test_a_branch_in_the_way_of_all_branches_of_runs_is_named(home: Home, name: str) -> None:
    git(home.repo, "branch", name)
    refused = home.run()
    assert refused.returncode == 1
    assert f"git branch -m {name} NEW-NAME" in refused.stdout + refused.stderr
    assert not (home.folder / "home" / "worktrees").exists()


def test_a_workspace_with_a_submodule_is_worked_in_and_cleaned(home: Home) -> None:
    with_submodule(home)
    done = home.run()
    assert done.returncode == 0, done.stderr
    (branch,) = [name for name in left(home) if name.startswith("headway/")]
    git(home.repo, "merge", "-q", branch)
    cleaned = home.here("worktrees", "clean", "--yes")
    assert "removed" in cleaned.stdout
    assert left(home) == []


def with_submodule(home: Home) -> Path:
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    allowed = ("-c", "protocol.file.allow=always")
    git(home.folder, "clone", "-q", "repo", "library")
    git(home.repo, *allowed, "submodule", "--quiet", "add", "../library", "library")
    git(home.repo, *identity, "commit", "-qm", "With a library")
    return home.repo / "library"


def test_a_workspace_that_is_a_submodule_is_a_repository_like_others(home: Home) -> None:
    library = with_submodule(home)
    done = home.run("--workspace", str(library))
    assert done.returncode == 0, done.stderr
    assert git(library, "branch", "--list", "headway/*") != ""
    assert git(library, "status", "--porcelain") == ""


def test_a_home_that_cannot_be_written_to_is_told(home: Home) -> None:
    home.environment["HEADWAY_HOME"] = "/proc/headway"
    refused = home.run()
    assert refused.returncode == 1
    assert "/proc/headway" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_folder_of_worktrees_that_cannot_be_made_ends_the_run_and_not_the_queue(
    home: Home,
) -> None:
    (home.folder / "home" / "worktrees").write_text("in the way\n")
    refused = home.run()
    assert refused.returncode == 1
    assert "failed (worktrees_unwritable): " in refused.stdout + refused.stderr
    (home.folder / "home" / "worktrees").unlink()
    assert left(home) == []
    assert home.run().returncode == 0


def test_a_checkout_that_fails_leaves_neither_folder_nor_branch(home: Home) -> None:
    (home.repo / ".gitattributes").write_text("*.py filter=broken\n")
    git(home.repo, "add", ".gitattributes")
    git(home.repo, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "Filtered")
    git(home.repo, "config", "filter.broken.clean", "cat")
    git(home.repo, "config", "filter.broken.smudge", "false")
    git(home.repo, "config", "filter.broken.required", "true")
    refused = home.run()
    assert refused.returncode == 1
    assert "failed (git_failed): git worktree failed" in refused.stdout + refused.stderr
    assert left(home) == []
    assert "task_" not in git(home.repo, "worktree", "list")


def test_a_workflow_with_errors_is_refused_with_them(home: Home) -> None:
    (home.folder / "workflows" / "broken.json").write_text('{"id": "broken", "steps": []}')
    refused = home.here("run", "broken", "--goal", "x", "--model", f"scripted:{home.script}")
    assert refused.returncode == 1
    assert "broken" in refused.stderr
    assert (home.listed(), left(home)) == ([], [])


def test_a_goal_too_long_is_refused(home: Home) -> None:
    model = ("--model", f"scripted:{home.script}")
    refused = home.here(*RUN[:2], "--goal", "long " * 20_000, *model)
    assert refused.returncode == 1
    assert "The goal must be 1 to 32768 bytes" in refused.stderr
    assert (home.listed(), left(home)) == ([], [])


def test_a_model_that_calls_what_is_not_there_or_sends_no_json_reads_so_and_goes_on(
    home: Home,
) -> None:
    script(
        home,
        "  - calls: [{fly: {to: moon}}, {bash: '{\"command\": '}, {bash: {comand: ls}}]\n",
        "  - expect: [fly, JSON, comand]\n" + DONE.replace("  - ", "    "),
        DONE,
    )
    done = home.run()
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_worktree_removed_under_the_run_is_told_and_the_queue_goes_on(home: Home) -> None:
    whole = home.script.read_text()
    script(home, "  - calls: [{bash: {command: 'rm -rf \"$PWD\"'}}]\n", DONE, DONE)
    lost = home.run()
    assert lost.returncode == 1, lost.stdout
    assert "failed (worktree_gone): " in lost.stdout
    assert "was deleted." in lost.stdout
    assert "Traceback" not in lost.stderr
    assert left(home) == []
    assert "task_" not in git(home.repo, "worktree", "list")
    shown = home.ask("runs", "show", home.listed()[0]["run"], "--json")
    assert json.loads(shown.stdout)["worktree"] is None
    home.script.write_text(whole)
    assert home.run().returncode == 0


def test_what_a_run_committed_in_a_worktree_it_removed_is_kept_and_named(home: Home) -> None:
    identity = "-c user.name=t -c user.email=t@t"
    command = f'git {identity} commit -qm Mine --allow-empty && rm -rf "$PWD"'
    script(home, f"  - calls: [{{bash: {{command: '{command}'}}}}]\n", DONE, DONE)
    lost = home.run()
    assert lost.returncode == 1, lost.stdout
    (branch,) = left(home)
    assert git(home.repo, "log", "-1", "--format=%s", branch) == "Mine"
    assert f"Its branch {branch} stays" in lost.stdout
    assert "task_" not in git(home.repo, "worktree", "list")


def test_a_run_aborted_after_its_worktree_was_removed_leaves_nothing_of_it_either(
    home: Home,
) -> None:
    begun = home.folder / "begun"
    command = f'rm -rf "$PWD"; touch {begun}; exec sleep 600'
    script(home, f"  - calls: [{{bash: {{command: '{command}'}}}}]\n", DONE, DONE)
    with home.begin(*asked(home)) as process:
        until(begun.exists)
        run = home.listed()[0]["run"]
        assert home.call("runs", "abort", run).returncode == 0
        assert process.wait(SECONDS_MAX) == 7
    assert left(home) == []
    assert "task_" not in git(home.repo, "worktree", "list")


def test_a_repository_removed_with_the_worktree_is_told(home: Home) -> None:
    other = home.folder / "other"
    git(home.folder, "clone", "-q", "repo", "other")
    command = f'rm -rf "$PWD" {other}'
    script(home, f"  - calls: [{{bash: {{command: '{command}'}}}}]\n", DONE, DONE)
    lost = home.run("--workspace", str(other))
    assert lost.returncode == 1, lost.stdout
    assert "failed (worktree_gone): " in lost.stdout
    assert "could not be cleared away" in lost.stdout
    assert "Traceback" not in lost.stderr


def test_what_cannot_be_driven_ends_and_the_queue_goes_on(home: Home) -> None:
    """What was well when it was asked for need not be when a worker comes to it."""
    other = home.folder / "other"
    git(home.folder, "clone", "-q", "repo", "other")
    for words in (("--workspace", str(other)), ()):
        assert home.here("dispatch", *asked(home, *words)[1:]).returncode == 0
    shutil.rmtree(other)
    assert home.here("worker", "--until-idle").returncode == 0
    assert [each["outcome"] for each in home.listed()] == ["success", "error"]


HOSTILE = """
[user]
    useConfigOnly = true
[commit]
    gpgSign = true
[gpg]
    program = /bin/false
[core]
    hooksPath = {hooks}
    autocrlf = true
    safecrlf = true
    fsmonitor = /bin/false
[status]
    showUntrackedFiles = no
[log]
    showSignature = true
[trailer]
    separators = "="
[color]
    ui = always
[diff]
    noprefix = true
    external = /bin/false
[includeIf "gitdir:{repo}/**"]
    path = {hooks}/more
"""


def test_no_hook_and_no_setting_of_the_user_is_in_the_way_of_the_commit(home: Home) -> None:
    hooks = made(home, "hooks")
    for name in (
        "pre-commit", "commit-msg", "post-checkout", "post-index-change", "reference-transaction",
    ):  # fmt: skip
        for folder in (hooks, home.repo / ".git" / "hooks"):
            (folder / name).write_text("#!/bin/sh\necho no >&2\nexit 1\n")
            (folder / name).chmod(0o755)
    (hooks / "more").write_text(
        "[core]\n    safecrlf = true\n[merge]\n    verifySignatures = true\n"
    )
    (home.folder / ".gitconfig").write_text(HOSTILE.format(hooks=hooks, repo=home.repo))
    crlf = "  - calls: [{bash: {command: \"printf 'a\\\\r\\\\nb\\\\n' > mixed.txt\"}}]\n"
    script(home, crlf, DONE, DONE)
    done = home.run()
    assert done.returncode == 0, done.stdout + done.stderr
    run = home.listed()[0]["run"]
    named = git(home.repo, "show", "--format=%an", "--name-only", f"headway/two-steps/{run}")
    assert named.split() == ["Headway", "mixed.txt"]
    head, row = [line.split() for line in home.here("worktrees", "list").stdout.splitlines()]
    assert head[3:6] == ["ahead", "behind", "changed"]
    assert row[4:7] == ["1", "0", "0"]


FULL = """
"$0" -m headway {run}; echo "first: $?"
rm {home}/ballast {home}/worktrees/*/filler
"$0" -m headway runs resume "$(basename {home}/worktrees/task_*)"; echo "second: $?"
"$0" -m headway verify; echo "verified: $?"
git log --all --format=%an
"""


def test_a_disk_that_fills_up_in_mid_run_is_told_and_the_run_goes_on_later(home: Home) -> None:
    before = small_disk(home.folder / "home")
    script(
        home,
        "  - calls: [{bash: {command: 'echo kept > kept.txt; cat /dev/zero > filler'}}]\n",
        "  - calls: [{bash: {command: 'ls kept.txt'}}]\n",
        DONE,
        DONE,
    )
    acts = FULL.format(run=shlex.join(asked(home)), home=home.folder / "home")
    told = subprocess.run(
        [*before, "sh", "-c", acts, sys.executable],
        cwd=home.repo, env=home.environment, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    for line in ("first: 1", "second: 0", "verified: 0", "Headway"):
        assert line in told.stdout.splitlines(), told.stdout + told.stderr
    assert "Free some space" in told.stderr, told.stderr
    assert "Traceback" not in told.stderr

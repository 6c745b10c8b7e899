"""`headway run` and `headway runs` as people call them, on a real repository."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.crashed_runs import ROOT, git, prepare

SECONDS_MAX = 60
RUN = ("run", "two-steps", "--goal", "Make check.py pass")
SLOW = """
turns:
  - calls:
      - bash: {command: "touch begun; sleep 50"}
  - expect: Interrupted
    calls:
      - complete_step: {notes: "The call was interrupted, as it says; the next step is told so."}
  - calls:
      - complete_step: {notes: "Nothing had to be done on this step, as these notes now say."}
"""


class Home:
    """A folder with a repository and a home, and the command line on it."""

    def __init__(self, folder: Path) -> None:
        prepare(folder)
        self.folder = folder
        self.repo = folder / "repo"
        self.script = folder / "script.yaml"
        self.environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "HEADWAY_HOME": str(folder / "home"),
            "HEADWAY_WORKFLOW_PATH": str(folder / "workflows"),
            "HOME": str(folder),
            "USER": "tester",
        }

    def begin(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "headway", *words],
            cwd=self.repo,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        with self.begin(*words) as process:
            out, err = process.communicate(timeout=SECONDS_MAX)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.call(*RUN, "--model", f"scripted:{self.script}", *words)

    def listed(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.call("runs", "list", "--json").stdout)["runs"]
        return found


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "place")


def slow(home: Home) -> tuple[subprocess.Popen[str], str]:
    """Begin a run whose first call takes long; return it once it is in that call."""
    home.script.write_text(SLOW)
    process = home.begin(*RUN, "--model", f"scripted:{home.script}")
    deadline = time.monotonic() + SECONDS_MAX
    while not list((home.folder / "home").glob("worktrees/**/begun")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process, str(home.listed()[0]["run"])


def test_a_run_tells_its_steps_and_ends_as_one_commit_on_its_branch(home: Home) -> None:
    done = home.run()
    assert done.returncode == 0, done.stderr
    (listed,) = home.listed()
    assert listed["outcome"] == "success"
    for line in ("step 1 of 2: Look", "step 2 of 2: Mend", "complete_step ok", "commit "):
        assert line in done.stderr
    assert "succeeded with commit" in done.stdout
    branch = f"headway/two-steps/{listed['run']}"
    assert git(home.repo, "rev-list", "--count", f"HEAD..{branch}") == "1"
    assert "a + b" in git(home.repo, "show", f"{branch}:calc.py")
    assert git(home.repo, "status", "--porcelain") == ""
    shown = json.loads(home.call("runs", "show", listed["run"], "--json").stdout)
    assert (shown["outcome"]["kind"], shown["step"]["number"]) == ("success", 2)
    assert home.call("verify").returncode == 0


def test_a_run_stopped_by_a_signal_goes_on_where_it_was(home: Home) -> None:
    process, run = slow(home)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 130
    assert f"headway runs resume {run}" in err
    assert home.listed()[0]["state"] == "stalled"
    resumed = home.call("runs", "resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert "recovered by another worker" in resumed.stderr


def test_a_killed_run_goes_on_at_once_and_a_living_one_is_left_alone(home: Home) -> None:
    process, run = slow(home)
    refused = home.call("runs", "resume", run)
    assert refused.returncode == 1
    assert f"is being driven by process {process.pid}" in refused.stderr
    process.kill()
    process.communicate(timeout=SECONDS_MAX)
    began = time.monotonic()
    assert home.call("runs", "resume", run).returncode == 0
    assert time.monotonic() - began < 30, "it did not wait for the lease of 60 s to run out"


def test_an_abort_from_another_process_ends_a_call_that_is_under_way(home: Home) -> None:
    process, run = slow(home)
    assert "is told to end" in home.call("runs", "abort", run, "--because", "enough").stdout
    out, _ = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 7
    assert "was cancelled by tester: enough" in out
    for words in (("abort", run), ("steer", run, "x"), ("resume", run)):
        late = home.call("runs", *words)
        assert late.returncode == 1
        assert "has ended: cancelled" in late.stderr


def test_a_paused_run_is_resumed_with_its_limit_granted_again(home: Home) -> None:
    paused = home.run("--turns", "4")
    assert paused.returncode == 5, paused.stderr
    run = home.listed()[0]["run"]
    assert home.call("runs", "resume", run).returncode == 5
    assert home.call("runs", "steer", run, "Nearly there.").returncode == 0
    resumed = home.call("runs", "resume", run)
    assert resumed.returncode == 0, resumed.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "two-steps", "--goal", "x", "--model", "nobody:x"), "No provider of models"),
        (("run", "two-steps", "--goal", "x", "--model", "scripted:/none"), "none"),
        (("run", "nothing", "--goal", "x", "--model", "SCRIPT"), "nothing"),
        (("run", "two-steps", "--goal", " ", "--model", "SCRIPT"), "The goal must be"),
        (("run", "two-steps", "--goal", "x", "--model", "SCRIPT", "--budget", "0"), "A limit of 0"),
        (
            ("run", "two-steps", "--goal", "x", "--model", "SCRIPT", "--workspace", ".."),
            "not in a git repository",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_made(
    home: Home, words: tuple[str, ...], said: str
) -> None:
    asked = [f"scripted:{home.script}" if word == "SCRIPT" else word for word in words]
    refused = home.call(*asked)
    assert refused.returncode == 1, refused.stderr
    assert said in refused.stderr
    assert home.listed() == []
    assert not (home.folder / "home" / "worktrees").exists()
    assert git(home.repo, "branch", "--list", "headway/*") == ""


def test_a_dirty_workspace_is_not_worked_on_in_place(home: Home) -> None:
    (home.repo / "calc.py").write_text("# mine\n")
    refused = home.run("--in-place")
    assert refused.returncode == 1
    assert (home.repo / "calc.py").read_text() == "# mine\n"
    assert home.listed()[0]["outcome"] == "error"


def test_a_zombie_that_wakes_after_its_lease_writes_nothing(home: Home) -> None:
    home.environment["HEADWAY_LEASE_SECONDS"] = "1"
    process, run = slow(home)
    process.send_signal(signal.SIGSTOP)
    deadline = time.monotonic() + SECONDS_MAX
    while home.listed()[0]["state"] != "stalled":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert home.call("runs", "resume", run).returncode == 0
    before = json.loads(home.call("runs", "show", run, "--json").stdout)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 8, err
    assert json.loads(home.call("runs", "show", run, "--json").stdout) == before


def test_workers_that_compete_do_each_dispatched_run_once(home: Home) -> None:
    asked = ("dispatch", *RUN[1:], "--model", f"scripted:{home.script}")
    first = home.call(*asked, "--key", "nightly").stdout
    assert home.call(*asked, "--key", "nightly").stdout == first, "the same key, the same run"
    for _ in range(3):
        assert home.call(*asked).returncode == 0
    workers = [home.begin("worker", "--until-idle") for _ in range(2)]
    for worker in workers:
        _, err = worker.communicate(timeout=SECONDS_MAX)
        assert worker.returncode == 0, err
    listed = home.listed()
    assert [each["outcome"] for each in listed] == ["success"] * 4
    assert [each["claims"] for each in listed] == [1] * 4


def test_a_run_whose_model_is_gone_ends_and_the_queue_goes_on(home: Home) -> None:
    lost = home.folder / "lost.yaml"
    lost.write_text(home.script.read_text())
    assert home.call("dispatch", *RUN[1:], "--model", f"scripted:{lost}").returncode == 0
    assert home.call("dispatch", *RUN[1:], "--model", f"scripted:{home.script}").returncode == 0
    lost.unlink()
    assert home.call("worker", "--until-idle").returncode == 0
    assert [each["outcome"] for each in home.listed()] == ["success", "error"]

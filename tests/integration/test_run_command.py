"""`headway run` and `headway runs` as people call them, on a real repository."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from headway.bootstrap import DATABASE_NAME
from tests.support.crashed_runs import git
from tests.support.patience import SECONDS_MAX
from tests.support.run_home import RUN, Home

SLOW = """
turns:
  - calls:
      - bash: {command: "touch begun; sleep 600"}
  - expect: Interrupted
    calls:
      - complete_step: {notes: "The call was interrupted, as it says; the next step is told so."}
  - calls:
      - complete_step: {notes: "Nothing had to be done on this step, as these notes now say."}
"""

SIGNALLED = """
import signal
from headway.__main__ import main
from headway.cli import run_driving

done = run_driving.{moment}

def signalled(*given):
    result = done(*given)
    signal.raise_signal(signal.{sign})
    return result

run_driving.{moment} = signalled
main()
"""


KILLED_ONCE_DECIDED = """
import os
import signal
from headway.__main__ import main
from headway.cli import gates_command

decide = gates_command.decide_gate

def decided(*given):
    decide(*given)
    os.kill(os.getpid(), signal.SIGKILL)

gates_command.decide_gate = decided
main()
"""


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
    done = home.call(*RUN, "--model", f"scripted:{home.script}")
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
    shown = json.loads(home.here("runs", "show", listed["run"], "--json").stdout)
    assert (shown["outcome"]["kind"], shown["step"]["number"]) == ("success", 2)
    assert home.here("verify").returncode == 0


def test_a_run_tells_what_its_tools_do_in_one_line_that_holds_no_secret(home: Home) -> None:
    command = "printf '\\e[31m'\\necho s3cret-of-mine https://me:pw@host/x {long}"
    home.script.write_text(
        "turns:\n"
        "  - name: all\n"
        "    calls:\n"
        f'      - bash: {{command: "{command.format(long="and so on " * 20)}"}}\n'
        "      - write_file: {path: new.txt, content: s3cret-of-mine}\n"
        "      - grep: {pattern: 'a . b', path: calc.py}\n"
        "      - read_file: {path: none.txt}\n"
    )
    home.environment["OPENAI_API_KEY"] = "s3cret-of-mine"
    ran = home.call(*RUN, "--model", f"scripted:{home.script}")
    begun = "printf ' [31m' echo *** https://***@host/x and so"
    tools = [line for line in ran.stderr.splitlines() if line.startswith("  ")]
    assert re.fullmatch(rf"  bash ok, \d\.\d s: {re.escape(begun)}.*\u2026", tools[0]), tools[0]
    assert len(tools[0]) <= 80
    told = [re.sub(r"\d\.\d s", "-", line) for line in tools[1:4]]
    assert told == [
        "  write_file ok, -: new.txt",
        "  grep ok, -: a . b",
        "  read_file failed, -: none.txt",
    ]
    log = home.call("runs", "log", home.listed()[0]["run"]).stdout
    assert f"bash begins: {begun}" in log
    assert "write_file begins: new.txt" in log
    begins = [line for line in log.splitlines() if " begins: " in line]
    assert all(len(line) <= 100 and "s3cret" not in line for line in begins + tools)
    with closing(sqlite3.connect(home.folder / "home" / DATABASE_NAME)) as store, store:
        store.execute("DELETE FROM blobs")
    assert "write_file begins\n" in home.call("runs", "log", home.listed()[0]["run"]).stdout


def test_a_run_that_nobody_listens_to_goes_on(home: Home) -> None:
    with home.begin(*RUN, "--model", f"scripted:{home.script}") as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline().startswith("run task_")
        process.stderr.close()
        assert "succeeded with commit" in process.stdout.read()
        assert process.wait(SECONDS_MAX) == 0


def test_a_run_stopped_by_a_signal_goes_on_where_it_was(home: Home) -> None:
    process, run = slow(home)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 130
    assert f"headway runs resume {run}" in err
    assert home.listed()[0]["state"] == "queued"
    resumed = home.here("runs", "resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert "recovered by another worker" in resumed.stderr


def test_a_run_stopped_by_its_user_rests_until_it_is_resumed(home: Home) -> None:
    process, run = slow(home)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 130
    assert f"headway runs resume {run}" in err
    assert home.listed()[0]["outcome"] == "paused"
    verified = home.here("verify")
    assert verified.returncode == 0, verified.stdout
    assert home.here("worker", "--until-idle").returncode == 0
    assert home.listed()[0]["outcome"] == "paused"
    resumed = home.here("runs", "resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert "recovered by another worker" not in resumed.stderr


@pytest.mark.parametrize("moment", ["claim_run", "crew_for"])
@pytest.mark.parametrize(
    ("sign", "left"), [(signal.SIGINT, ("resting", "paused")), (signal.SIGTERM, ("queued", None))]
)
def test_a_signal_before_the_first_turn_stops_a_run_as_one_in_a_turn_does(
    home: Home, sign: signal.Signals, left: tuple[str, str | None], moment: str
) -> None:
    def stop(*words: str) -> str:
        with signalled(home, sign, moment, *words) as process:
            _, err = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 130
        (listed,) = home.listed()
        assert (listed["state"], listed["outcome"]) == left
        assert f"headway runs resume {listed['run']}" in err
        assert "Traceback" not in err
        return str(listed["run"])

    run = stop(*RUN, "--model", f"scripted:{home.script}")
    assert stop("runs", "resume", run) == run
    assert home.here("runs", "resume", run).returncode == 0


def test_ctrl_c_again_and_again_stops_a_run_as_once_does(home: Home) -> None:
    process, run = slow(home)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)  # the machine has others to serve
    _, err = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 130
    assert err.endswith(f"Stopped. Go on with: headway runs resume {run}\n")
    assert home.listed()[0]["outcome"] == "paused"


def signalled(home: Home, sign: signal.Signals, moment: str, *words: str) -> subprocess.Popen[str]:
    """Begin a command that a signal meets as soon as it has done a part of its work."""
    return subprocess.Popen(
        [sys.executable, "-c", SIGNALLED.format(moment=moment, sign=sign.name), *words],
        cwd=home.repo,
        env=home.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_killed_run_goes_on_at_once_and_a_living_one_is_left_alone(home: Home) -> None:
    home.environment["HEADWAY_LEASE_SECONDS"] = "3600"
    process, run = slow(home)
    refused = home.here("runs", "resume", run)
    assert refused.returncode == 1
    assert f"is being driven by process {process.pid}" in refused.stderr
    process.kill()
    process.communicate(timeout=SECONDS_MAX)
    resumed = home.call("runs", "resume", run)
    assert resumed.returncode == 0, "it did not wait for the lease of an hour to run out"


def test_an_abort_from_another_process_ends_a_call_that_is_under_way(home: Home) -> None:
    process, run = slow(home)
    assert "is told to end" in home.here("runs", "abort", run, "--because", "enough").stdout
    out, _ = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 7
    assert "was cancelled by tester: enough" in out
    for words in (("abort", run), ("steer", run, "x"), ("resume", run)):
        late = home.here("runs", *words)
        assert late.returncode == 1
        assert "has ended: cancelled" in late.stderr


def test_a_paused_run_is_resumed_with_its_limit_granted_again(home: Home) -> None:
    paused = home.run("--turns", "4")
    assert paused.returncode == 5, paused.stderr
    run = home.listed()[0]["run"]
    assert home.here("runs", "resume", run).returncode == 5
    assert home.here("runs", "steer", run, "Nearly there.").returncode == 0
    resumed = home.here("runs", "resume", run)
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
    refused = home.here(*asked)
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
    assert home.here("runs", "resume", run).returncode == 0
    before = json.loads(home.here("runs", "show", run, "--json").stdout)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 8, err
    assert json.loads(home.here("runs", "show", run, "--json").stdout) == before


def test_workers_that_compete_do_each_dispatched_run_once(home: Home) -> None:
    asked = ("dispatch", *RUN[1:], "--model", f"scripted:{home.script}")
    first = home.here(*asked, "--key", "nightly").stdout
    assert home.here(*asked, "--key", "nightly").stdout == first, "the same key, the same run"
    for _ in range(3):
        assert home.here(*asked).returncode == 0
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
    assert home.here("dispatch", *RUN[1:], "--model", f"scripted:{lost}").returncode == 0
    assert home.here("dispatch", *RUN[1:], "--model", f"scripted:{home.script}").returncode == 0
    lost.unlink()
    assert home.here("worker", "--until-idle").returncode == 0
    assert [each["outcome"] for each in home.listed()] == ["success", "error"]


QUICK = """
turns:
  - calls:
      - complete_step: {notes: "Nothing had to be done on this step, as these notes now say."}
  - calls:
      - complete_step: {notes: "The plan was approved, and this step had nothing to do either."}
"""


REWORKED = """
turns:
  - calls:
      - complete_step: {notes: "Nothing had to be done on this step, as these notes now say."}
  - expect:
      - Reproduce the failure.
      - "tester did not approve what was handed in on this step: Name the file."
    calls:
      - complete_step: {notes: "The file is calc.py; this was rejected for want of its name."}
  - calls:
      - complete_step: {notes: "The plan was approved, and this step had nothing to do either."}
"""


def parked(home: Home, script: str = QUICK, because: str = "Seen.") -> tuple[str, tuple[str, ...]]:
    """Have a run park at a gate; return it, and what names the gate in an answer."""
    workflow = home.folder / "workflows" / "two-steps.json"
    written = json.loads(workflow.read_text())
    written["steps"][0]["requireConfirmation"] = {"kind": "human_approval"}
    workflow.write_text(json.dumps(written))
    home.script.write_text(script)
    assert home.run().returncode == 6
    assert home.here("worker", "--until-idle").returncode == 0
    (listed,) = home.listed()
    assert listed["outcome"] == "parked"
    (gate,) = json.loads(home.here("gates", "list", "--json").stdout)["gates"]
    shown = json.loads(home.here("gates", "show", gate["gateId"], "--json").stdout)["shown"]
    return listed["run"], (gate["gateId"], "--shown", shown, "--because", because)


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_run_that_is_parked_at_a_gate_goes_on_once_somebody_has_decided(
    home: Home, verdict: str
) -> None:
    run, gate = parked(home)
    decided = home.here("gates", verdict, *gate)
    assert decided.returncode == 0, decided.stderr
    assert f"The run {run} goes on with the next free worker" in decided.stdout
    assert home.here("worker", "--until-idle").returncode == 0
    assert home.listed()[0]["outcome"] == ("success" if verdict == "approve" else "parked")


def test_a_model_whose_work_was_rejected_is_told_why_before_it_does_it_again(home: Home) -> None:
    run, gate = parked(home, REWORKED, "Name the file.")
    assert home.here("gates", "reject", *gate).returncode == 0
    assert home.here("worker", "--until-idle").returncode == 0
    assert home.listed()[0]["outcome"] == "parked"
    assert "Name the file." in home.here("runs", "log", run, "--full").stdout
    (again,) = json.loads(home.here("gates", "list", "--json").stdout)["gates"]
    shown = json.loads(home.here("gates", "show", again["gateId"], "--json").stdout)
    assert "calc.py" in shown["notes"]
    approved = home.here("gates", "approve", again["gateId"], "--shown", shown["shown"])
    assert approved.returncode == 0, approved.stderr
    assert home.here("worker", "--until-idle").returncode == 0
    assert home.listed()[0]["outcome"] == "success"


def test_an_answer_that_died_before_the_run_was_woken_is_made_good_by_the_next(home: Home) -> None:
    run, gate = parked(home)
    words = (sys.executable, "-c", KILLED_ONCE_DECIDED, "gates", "approve", *gate)
    killed = subprocess.run(words, cwd=home.repo, env=home.environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert home.call("worker", "--until-idle").returncode == 0
    assert home.listed()[0]["outcome"] == "parked"
    again = home.call("gates", "approve", *gate)
    assert again.returncode == 1
    assert "was approved by tester" in again.stderr
    assert f"The run {run} goes on with the next free worker" in again.stderr
    assert home.call("worker", "--until-idle").returncode == 0
    assert home.listed()[0]["outcome"] == "success"

"""The commands that see runs, wait for them, move and record them, as people call them."""

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.support.cli_reference import PAGE
from tests.support.crashed_runs import git
from tests.support.patience import SECONDS_MAX
from tests.support.run_home import RUN, Home

QUICK = """
turns:
  - calls:
      - complete_step: {notes: "Nothing had to be done on this step, as these notes now say."}
    usage: {input_tokens: 900, output_tokens: 60, cache_read_tokens: 7, cost: 4200}
  - calls:
      - complete_step: {notes: "Nothing had to be done on this step, as these notes now say."}
    usage: {input_tokens: 100, output_tokens: 40, cost: 800}
"""
SLOW = QUICK.replace("turns:", 'turns:\n  - calls:\n      - bash: {command: "sleep 600"}\n', 1)
FIELDS_WITH_FIELDS = ("runs", "waiting", "limits", "workers", "total", "workedMs", "workflows")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path / "place")
    monkeypatch.chdir(home.repo)
    (home.folder / "quick.yaml").write_text(QUICK)
    (home.folder / "slow.yaml").write_text(SLOW)
    return home


def dispatch(home: Home, script: str = "quick.yaml", *words: str) -> str:
    model = f"scripted:{home.folder / script}"
    done = home.ask("dispatch", *RUN[1:], "--model", model, *words)
    assert done.exit_code == 0, done.stderr
    return done.stdout.strip()


def shown(home: Home, run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(home.ask("runs", "show", run, "--json").stdout)
    return found


def refusal(done: Result) -> dict[str, Any]:
    assert done.stdout == ""
    found: dict[str, Any] = json.loads(done.stderr)
    assert found["message"]
    assert found["details"]["suggestion"]
    return found


def until_driven(home: Home, run: str) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not any(each["state"] == "running" for each in home.listed()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert shown(home, run)["state"] == "running"


def test_the_end_says_what_there_is_and_what_to_do_next(home: Home) -> None:
    done = home.ask(*RUN, "--model", f"scripted:{home.script}")
    (listed,) = home.listed()
    branch = f"headway/two-steps/{listed['run']}"
    for line in (f"branch     {branch}", "worktree   ", "took       1", f"merge {branch}"):
        assert line in done.stdout
    merge = next(line for line in done.stdout.splitlines() if "merge" in line).split()
    subprocess.run(merge[1:], check=True, capture_output=True)  # as it stands there
    assert "a + b" in (home.repo / "calc.py").read_text()


def test_with_json_a_run_prints_one_object_that_says_what_show_says(home: Home) -> None:
    done = home.ask(*RUN, "--model", f"scripted:{home.script}", "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["outcome"]["kind"] == "success"
    assert told == shown(home, told["run"])


def test_what_each_step_took_is_shown_and_counted(home: Home) -> None:
    model = f"scripted:{home.folder / 'quick.yaml'}"
    assert home.ask(*RUN, "--model", model).exit_code == 0
    run = home.listed()[0]["run"]
    look, mend = shown(home, run)["steps"]
    assert (look["title"], look["turns"], look["inputTokens"], look["money"]) == (
        "Look",
        1,
        900,
        4_200,
    )
    assert (mend["number"], mend["outputTokens"], mend["cachedTokens"]) == (2, 40, 0)
    page = home.ask("runs", "show", run).stdout
    assert "1. Look" in page
    assert "$0.0050" in page
    place = shown(home, run)["worktree"]["path"]
    assert f"worktree   {place}\n" in page, "what is copied is whole, however narrow the terminal"
    stats = json.loads(home.ask("stats", "--json").stdout)
    assert stats["total"]["outcomes"] == {"success": 1}
    assert stats["total"]["spent"]["money"] == 5_000
    assert stats["workflows"][0]["steps"] == {"p50": 2, "p95": 2}
    assert "two-steps" in home.ask("stats", "--since", "7d", "--workflow", "two-steps").stdout
    assert "No run" in home.ask("stats", "--workflow", "none").stdout


def test_a_run_that_is_aborted_after_its_worktree_was_removed_leaves_nothing_of_it(
    home: Home,
) -> None:
    model = f"scripted:{home.folder / 'quick.yaml'}"
    assert home.ask(*RUN, "--model", model, "--turns", "1").exit_code == 5
    run = home.listed()[0]["run"]
    place = shown(home, run)["worktree"]
    others = home.folder / "others"
    git(home.repo, "worktree", "add", "-q", "--detach", str(others))
    for folder in (others, Path(place["path"])):
        shutil.rmtree(folder)
    assert home.ask("runs", "abort", run).exit_code == 0
    listed = git(home.repo, "worktree", "list")
    assert run not in listed
    assert str(others) in listed, "what is not the run's is left as it is"
    assert git(home.repo, "branch", "--list", place["branch"]) == ""
    assert shown(home, run)["outcome"]["kind"] == "cancelled"


def test_the_goal_may_stand_in_a_file_or_come_on_stdin(home: Home) -> None:
    (home.folder / "goal.md").write_text("Make check.py pass.\n")
    model = f"scripted:{home.folder / 'quick.yaml'}"
    asked = ("dispatch", "two-steps", "--model", model, "--goal-file")
    run = home.ask(*asked, "../goal.md").stdout.strip()
    assert shown(home, run)["goal"] == "Make check.py pass.\n"
    piped = home.call(*asked, "-", stdin="From a pipe.").stdout.strip()
    assert shown(home, piped)["goal"] == "From a pipe."


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (("--goal", "x", "--turns", "0"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--turns", "-3"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--tokens", "0"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--minutes", "0"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--minutes", "nan"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--budget", "0"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--budget", "-1"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--budget", "nan"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--budget", "inf"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--budget", "1e30"), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--turns", "9" * 30), "VALIDATION_ERROR", "limit"),
        (("--goal", "x", "--priority", "9" * 30), "VALIDATION_ERROR", "priority"),
        (("--goal", "x", "--key", " "), "VALIDATION_ERROR", "dedupe"),
        (("--goal", "x" * 1_000_000), "VALIDATION_ERROR", "goal"),
        (("--goal-file", "../none.md"), "VALIDATION_ERROR", "goal"),
        (("--goal-file", "../large.md"), "VALIDATION_ERROR", "goal"),
        (("--goal-file", "../binary.md"), "VALIDATION_ERROR", "goal"),
        (("--goal-file", "../empty.md"), "VALIDATION_ERROR", "goal"),
        (("--goal", "x", "--workspace", "../bare"), "PRECONDITION_FAILED", "workspace_not_git"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_code_and_nothing_is_kept(
    home: Home, words: tuple[str, ...], code: str, kind: str
) -> None:
    (home.folder / "large.md").write_text("x" * 1_000_000)
    (home.folder / "binary.md").write_bytes(b"\xff\xfe\x00")
    (home.folder / "empty.md").write_text("\n")
    git(home.folder, "init", "-q", "--bare", "bare")
    model = f"scripted:{home.folder / 'quick.yaml'}"
    refused = home.ask("dispatch", "two-steps", "--model", model, "--json", *words)
    assert refused.exit_code == 1, refused.stderr
    found = refusal(refused)
    assert (found["code"], found["details"]["kind"]) == (code, kind)
    assert home.listed() == []


@pytest.mark.parametrize(
    ("workflow", "model", "code", "said"),
    [
        ("two-step", "QUICK", "NOT_FOUND", "two-steps"),
        ("broken", "QUICK", "PRECONDITION_FAILED", "cannot be started"),
        ("two-steps", "scriptd:x", "VALIDATION_ERROR", "scripted"),
        ("two-steps", "scripted", "VALIDATION_ERROR", "PROVIDER:NAME"),
        ("two-steps", "scripted:../none.yaml", "VALIDATION_ERROR", "none.yaml"),
        ("two-steps", "anthropic:claude-sonnet-4-5", "VALIDATION_ERROR", "ANTHROPIC_API_KEY"),
    ],
)
def test_a_workflow_or_model_that_cannot_be_had_is_told_before_anything_is_made(
    home: Home, workflow: str, model: str, code: str, said: str
) -> None:
    (home.folder / "workflows" / "broken.json").write_text('{"id": "broken", "steps": []}')
    named = f"scripted:{home.folder / 'quick.yaml'}" if model == "QUICK" else model
    key_lacks = said == "ANTHROPIC_API_KEY"  # which the worker of a dispatched run may have
    for command in ("run",) if key_lacks else ("run", "dispatch"):
        refused = home.ask(command, workflow, "--goal", "x", "--model", named, "--json")
        assert refused.exit_code == 1
        found = refusal(refused)
        assert found["code"] == code
        assert said in json.dumps(found)
    assert home.listed() == []
    assert not (home.folder / "home" / "worktrees").exists()
    assert git(home.repo, "branch", "--list", "headway/*") == ""


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--goal", "x", "--goal-file", "y"),
        ("--goal", "x", "--budget", "much"),
        ("--goal", "x", "--on-limit", "stop"),
    ],
)
def test_a_command_line_that_means_nothing_ends_with_2(home: Home, words: tuple[str, ...]) -> None:
    refused = home.ask("run", "two-steps", "--model", "scripted:x", "--json", *words)
    assert refused.exit_code == 2
    assert refusal(refused)["code"] == "VALIDATION_ERROR"


def test_a_log_has_every_event_and_with_full_what_was_said(home: Home) -> None:
    model = f"scripted:{home.folder / 'quick.yaml'}"
    assert home.ask(*RUN, "--model", model).exit_code == 0
    run = home.listed()[0]["run"]
    lines = home.ask("runs", "log", run).stdout.splitlines()
    objects = [
        json.loads(line)
        for line in home.ask("runs", "log", run, "--json").stdout.split("\n")
        if line
    ]
    assert len(objects) == shown(home, run)["events"] == len(lines) - 1
    assert [each["version"] for each in objects] == list(range(1, len(objects) + 1))
    assert objects[0]["event"] == "run_submitted"
    assert objects[-1]["outcome"] == {"type": "success", "commit": None}
    assert "complete_step" in "".join(lines)
    full = home.ask("runs", "log", run, "--full").stdout
    assert "Reproduce the failure." in full
    assert "Nothing had to be done" in full
    assert "Nothing had to be done" not in "".join(lines)


def test_a_run_is_followed_across_the_death_of_its_worker(home: Home) -> None:
    first = home.begin(*RUN, "--model", f"scripted:{home.folder / 'slow.yaml'}")
    deadline = time.monotonic() + SECONDS_MAX
    while (
        not home.listed()
        or "bash begins" not in home.ask("runs", "log", home.listed()[0]["run"]).stdout
    ):
        assert time.monotonic() < deadline
    run = home.listed()[0]["run"]
    follower = home.begin("runs", "follow", run)
    waiting = home.begin("runs", "wait", run, "--json")
    first.kill()
    first.communicate(timeout=SECONDS_MAX)
    assert home.ask("runs", "resume", run).exit_code == 0
    out, err = follower.communicate(timeout=SECONDS_MAX)
    assert follower.returncode == 0, err
    assert out.count("step 1 of 2: Look") == 1, "each event once"
    assert "recovered by another worker" in out
    assert out.rstrip().endswith("succeeded without a change")
    waited, _ = waiting.communicate(timeout=SECONDS_MAX)
    assert waiting.returncode == 0
    assert json.loads(waited)["runs"][0]["outcome"] == "success"


def test_waiting_ends_by_outcome_or_by_time(home: Home) -> None:
    good, late = dispatch(home), dispatch(home)
    began = time.monotonic()
    assert home.ask("runs", "wait", good, late, "--timeout", "0.5").exit_code == 9
    assert time.monotonic() - began < SECONDS_MAX
    assert home.ask("queue", "cancel", late).exit_code == 0
    assert home.ask("runs", "wait", good, late, "--any").exit_code == 7
    assert home.ask("worker", "--until-idle").exit_code == 0
    assert home.ask("runs", "wait", good).exit_code == 0
    both = home.ask("runs", "wait", good, late)
    assert both.exit_code == 7
    assert both.stdout.split() == [good, "success", late, "cancelled"]
    assert home.ask("runs", "follow", late).exit_code == 7
    unknown = home.ask("runs", "wait", good, "task_zzz", "--json")
    assert (unknown.exit_code, refusal(unknown)["code"]) == (1, "NOT_FOUND")


def test_the_queue_is_looked_at_and_moved(home: Home) -> None:
    runs = [dispatch(home) for _ in range(3)]
    assert home.ask("queue", "move", runs[2], "--first").exit_code == 0
    assert home.ask("queue", "move", runs[0], "--last").exit_code == 0
    waiting = json.loads(home.ask("queue", "list", "--json").stdout)["waiting"]
    assert [each["run"] for each in waiting] == [runs[2], runs[1], runs[0]]
    assert [each["position"] for each in waiting] == [1, 2, 3]
    listed = home.ask("queue", "list").stdout
    assert listed.index(runs[2]) < listed.index(runs[1]) < listed.index(runs[0])
    assert home.ask("queue", "move", runs[0], "--first", "--last").exit_code == 2
    assert home.ask("queue", "move", runs[0]).exit_code == 1
    assert home.ask("queue", "cancel", runs[1], "--because", "not now").exit_code == 0
    assert home.ask("worker", "--until-idle").exit_code == 0
    claims = {each["run"]: each["outcome"] for each in home.listed()}
    assert claims == {runs[0]: "success", runs[1]: "cancelled", runs[2]: "success"}
    done = home.ask("queue", "cancel", runs[0], "--json")
    assert done.exit_code == 2, "cancel has no --json"
    ended = home.ask("queue", "cancel", runs[0])
    assert "has ended: success" in ended.stderr


def test_an_ended_run_is_begun_anew_and_names_the_old_one(home: Home) -> None:
    run = dispatch(home, "quick.yaml", "--turns", "7", "--priority", "3")
    early = home.ask("runs", "retry", run, "--json")
    assert (early.exit_code, refusal(early)["details"]["kind"]) == (1, "run_unfinished")
    assert home.ask("runs", "abort", run).exit_code == 0
    anew = home.ask("runs", "retry", run).stdout.strip()
    assert anew != run
    told = shown(home, anew)
    assert told["retryOf"] == run
    assert (told["state"], told["limits"]["turns"], told["priority"]) == ("queued", 7, 3)
    assert home.ask("runs", "resume", anew).exit_code == 0
    assert "anew from" in home.ask("runs", "show", anew).stdout


def test_a_run_is_paused_and_resumed_with_more_from_the_queue(home: Home) -> None:
    run = dispatch(home)
    assert "rests" in home.ask("runs", "pause", run).stdout
    assert home.ask("runs", "wait", run).exit_code == 5
    zero = home.ask("runs", "resume", run, "--turns", "0", "--json")
    assert (zero.exit_code, refusal(zero)["details"]["kind"]) == (1, "limit")
    resumed = home.ask("runs", "resume", run, "--queue", "--turns", "9", "--tokens", "5000")
    assert "waits for a worker" in resumed.stdout
    limits = shown(home, run)["limits"]
    assert (limits["turns"], limits["tokens"]) == (9, 5_000)
    assert home.ask("worker", "--until-idle").exit_code == 0
    assert shown(home, run)["outcome"]["kind"] == "success"


def test_a_limit_may_end_a_run_instead(home: Home) -> None:
    model = f"scripted:{home.script}"
    ended = home.ask(*RUN, "--model", model, "--turns", "4", "--on-limit", "end")
    assert ended.exit_code == 3, ended.stderr
    assert "headway runs retry" in ended.stdout
    assert home.ask("runs", "resume", home.listed()[0]["run"]).exit_code == 1


def test_a_record_of_a_run_plays_back_to_the_same_outcome_and_tree(home: Home) -> None:
    script = home.folder / "whole-paths.yaml"
    # As a real model does: whole paths of the worktree it was told of.
    script.write_text(
        home.script.read_text().replace(
            "read_file: {path: calc.py}", 'bash: {command: "cat $PWD/calc.py"}'
        )
    )
    model = f"scripted:{script}"
    assert home.ask(*RUN, "--model", model).exit_code == 0
    first = home.listed()[0]["run"]
    record = home.folder / "record.yaml"
    done = home.ask("runs", "record", first, "--output", str(record))
    assert done.exit_code == 0, done.stderr
    assert f"scripted:{record}" in done.stderr
    assert record.read_text() == home.ask("runs", "record", first).stdout
    again = home.ask("runs", "record", first, "-o", str(record))
    assert (again.exit_code, "is there already" in again.stderr) == (1, True)
    assert home.ask("runs", "record", first, "-o", str(record), "--force").exit_code == 0
    assert home.ask(*RUN, "--model", f"scripted:{record}").exit_code == 0
    second = home.listed()[0]["run"]
    trees = [
        git(home.repo, "rev-parse", f"headway/two-steps/{run}^{{tree}}") for run in (first, second)
    ]
    assert trees[0] == trees[1]
    taken = ("turns", "inputTokens", "outputTokens", "events")
    assert [shown(home, first)[name] for name in taken] == [
        shown(home, second)[name] for name in taken
    ]
    nothing = home.ask("runs", "record", dispatch(home), "--output", str(home.folder / "no.yaml"))
    assert nothing.exit_code == 1
    assert "said nothing yet" in nothing.stderr
    assert not list(home.folder.glob("*no.yaml*"))


def test_a_record_has_what_each_reply_took(home: Home) -> None:
    record = home.folder / "record.yaml"
    assert home.ask(*RUN, "--model", f"scripted:{home.folder / 'quick.yaml'}").exit_code == 0
    first = home.listed()[0]["run"]
    done = home.ask("runs", "record", first, "--output", str(record))
    assert done.exit_code == 0, done.stderr
    assert home.ask(*RUN, "--model", f"scripted:{record}").exit_code == 0
    played = shown(home, home.listed()[0]["run"])
    taken = [played[name] for name in ("inputTokens", "outputTokens", "cachedTokens", "money")]
    assert taken == [1000, 100, 7, 5000]


def test_the_status_of_a_home_tells_of_its_runs(home: Home) -> None:
    first = home.begin(*RUN, "--model", f"scripted:{home.folder / 'slow.yaml'}")
    deadline = time.monotonic() + SECONDS_MAX
    while not home.listed():
        assert time.monotonic() < deadline
    until_driven(home, home.listed()[0]["run"])
    dispatch(home)
    assert home.ask("runs", "pause", dispatch(home)).exit_code == 0
    runs = json.loads(home.ask("status", "--json").stdout)["runs"]
    (worker,) = runs.pop("workers")
    assert runs == {"running": 1, "waiting": 1, "resting": 1, "stalled": 0, "ended": 0}
    assert (worker["pid"], worker["runs"]) == (first.pid, 1)
    assert "1 running, 1 waiting, 1 resting" in home.ask("status").stdout
    first.kill()
    first.communicate(timeout=SECONDS_MAX)
    told = home.ask("status").stdout
    assert "1 waiting, 1 resting, 1 stalled" in told
    assert "headway worker" in told


def test_tab_completes_the_ids_of_runs(home: Home) -> None:
    run = dispatch(home)
    home.environment |= {
        "_HEADWAY_COMPLETE": "bash_complete",
        "COMP_WORDS": f"headway runs show {run[:8]}",
        "COMP_CWORD": "3",
    }
    assert run in home.call().stdout


def test_on_a_terminal_one_line_stands_and_is_gone_after_ctrl_c(home: Home) -> None:
    words = [*RUN, "--model", f"scripted:{home.folder / 'slow.yaml'}"]
    main, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 60))
    with subprocess.Popen(
        [sys.executable, "-m", "headway", *words],
        cwd=home.repo,
        env=home.environment | {"TERM": "xterm", "PYTHONIOENCODING": "utf-8"},
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        start_new_session=True,
    ) as process:
        os.close(terminal)
        seen = _read_until(main, b"\xc2\xb7 bash \xc2\xb7")
        process.send_signal(signal.SIGINT)
        seen += _read_until(main, None)
        assert process.wait(SECONDS_MAX) == 130
    os.close(main)
    text = seen.decode()
    standing = [part for part in text.split("\r\x1b[K") if part.startswith("step 1 of 2")]
    assert any("turn 1" in each for each in standing)
    assert all(len(each) < 60 for each in standing if "\n" not in each)
    last = text.rpartition("\r\x1b[K")[2]
    assert last.startswith("Stopped. Go on with: headway runs resume task_")


def _read_until(main: int, mark: bytes | None) -> bytes:
    """Read what a terminal shows until a mark, or until nobody writes to it any more."""
    seen = b""
    deadline = time.monotonic() + SECONDS_MAX
    while mark is None or mark not in seen:
        assert time.monotonic() < deadline, seen
        if not select.select([main], [], [], 0.5)[0]:
            continue
        try:
            part = os.read(main, 65_536)
        except OSError:  # the other end is closed
            return seen
        if not part:
            return seen
        seen += part
    return seen


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (("runs", "list"), ("runs list",)),
        (("runs", "show", "RUN"), ("runs list", "runs show")),
        (("runs", "wait", "RUN"), ("runs wait", "runs list")),
        (("runs", "retry", "RUN"), ("dispatch", "runs list")),
        (("queue", "list"), ("queue list",)),
        (("stats",), ("stats", "runs show")),
        (("status",), ("status",)),
    ],
)
def test_the_page_on_json_names_every_field(
    home: Home, words: tuple[str, ...], rows: tuple[str, ...]
) -> None:
    assert home.ask("runs", "abort", dispatch(home)).exit_code == 0
    (ended,) = (each["run"] for each in home.listed())
    dispatch(home)
    asked = [ended if word == "RUN" else word for word in words]
    document = json.loads(home.ask(*asked, "--json").stdout)
    page = PAGE.with_name("cli-json.md").read_text("utf-8").splitlines()
    named = [line for line in page if line.startswith("| `")]
    told = "".join(line for line in named if any(f"`{row}`" in line.split("|")[1] for row in rows))
    for key in keys(document):
        assert f"`{key}`" in told, key


def keys(value: object) -> set[str]:
    """Return the names of a document's fields; what stands beside a name of the user's is none."""
    if isinstance(value, list):
        return {key for each in value for key in keys(each)}
    if not isinstance(value, dict):
        return set()
    nested = {key for name in FIELDS_WITH_FIELDS for key in keys(value.get(name))}
    return set(value) | nested

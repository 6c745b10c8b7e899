"""A run whose session is kept by a server elsewhere, which may die and come back under it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.called import called
from tests.support.crashed_runs import ROOT, WORKFLOW, git
from tests.support.crashed_runs import prepare as prepare_repository
from tests.support.living import eventually
from tests.support.patience import SECONDS_MAX
from tests.support.up import Up, environment, port_to_come_back_to, up

TOKEN = "a-token-of-more-than-16-characters"
SESSION_TOKEN = re.compile(rb"c[tk]_[A-Za-z0-9_-]{24}")
NOTES = "The step is handed in with these notes, which say what was done and found."
SCRIPT = f"""
turns:
  - calls:
      - complete_step: {{notes: "{NOTES}"}}
  - expect: "Mend it"
    calls:
      - bash: {{command: "touch begun; until [ -e ../../../go ]; do sleep 0.05; done"}}
  - calls:
      - bash: {{command: "sed -i 's/a - b/a + b/' calc.py; python3 -B check.py"}}
  - expect: "all is well"
    calls:
      - complete_step: {{notes: "{NOTES}"}}
"""


class Pair:
    """A server that knows the workflow, and a home that does not, with a repository."""

    def __init__(self, folder: Path) -> None:
        self.there = folder / "there"
        self.there.mkdir()
        (self.there / "files").mkdir()
        (self.there / "files" / "two-steps.json").write_text(json.dumps(WORKFLOW))
        self._stack = ExitStack()
        self.server = self._serve(port_to_come_back_to())
        self.place = folder / "here"
        prepare_repository(self.place)
        self.repo = self.place / "repo"
        (self.place / "script.yaml").write_text(SCRIPT)
        self.environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "HEADWAY_HOME": str(self.place / "home"),
            "HEADWAY_ENGINE_TOKEN": TOKEN,
            "HOME": str(self.place),
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
        return called(words, self.repo, self.environment)

    def run(self, workflow: str = "two-steps") -> subprocess.Popen[str]:
        model = f"scripted:{self.place / 'script.yaml'}"
        there = ("--engine-url", self.server.url)
        return self.begin("run", workflow, "--goal", "Mend it", "--model", model, *there)

    def in_its_second_step(self) -> None:
        home = self.place / "home"
        eventually(lambda: bool(list(home.glob("worktrees/*/begun"))), SECONDS_MAX)

    def restart_with_other_keys(self) -> None:
        port = str(self.server.port)
        self.server.kill()
        self._stack.close()
        for _ in range(2):
            rotated = called(("keys", "rotate"), self.there, environment(self.there))
            assert rotated.returncode == 0, rotated.stderr
        self.server = self._serve(port)

    def the_run(self) -> dict[str, Any]:
        (found,) = json.loads(self.call("runs", "list", "--json").stdout)["runs"]
        return dict(found)

    def close(self) -> None:
        self._stack.close()

    def _serve(self, port: str) -> Up:
        return self._stack.enter_context(up(self.there, port=port, HEADWAY_TOKEN=TOKEN))


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path)
    yield made
    made.close()


def test_a_run_outlives_the_server_of_its_session_and_its_keys_and_itself(pair: Pair) -> None:
    process = pair.run()
    with process:
        pair.in_its_second_step()
        process.send_signal(signal.SIGKILL)
    pair.restart_with_other_keys()
    (pair.place / "go").touch()
    resumed = pair.call("runs", "resume", str(pair.the_run()["run"]))
    assert resumed.returncode == 0, resumed.stderr
    run = pair.the_run()
    assert run["outcome"] == "success"
    assert "a + b" in git(pair.repo, "show", f"headway/two-steps/{run['run']}:calc.py")
    stores = list((pair.place / "home").glob("headway.db*"))
    assert stores
    for store in stores:
        kept = store.read_bytes()
        assert TOKEN.encode() not in kept
        assert not SESSION_TOKEN.search(kept)
    assert json.loads(pair.call("sessions", "list", "--json").stdout)["sessions"] == []


def test_a_server_restarted_under_a_living_run_is_gone_on_with(pair: Pair) -> None:
    process = pair.run()
    with process:
        pair.in_its_second_step()
        pair.restart_with_other_keys()
        (pair.place / "go").touch()
        _, err = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 0, err
    assert "step 2 of 2: Mend" in err
    assert TOKEN not in err
    assert not SESSION_TOKEN.search(err.encode())


def test_a_worker_keeps_the_sessions_of_waiting_runs_where_it_is_told_to(pair: Pair) -> None:
    (pair.place / "go").touch()
    workflows = {"HEADWAY_WORKFLOW_PATH": str(pair.place / "workflows")}
    pair.environment |= workflows
    model = f"scripted:{pair.place / 'script.yaml'}"
    dispatched = pair.call("dispatch", "two-steps", "--goal", "Mend it", "--model", model)
    assert dispatched.returncode == 0, dispatched.stderr
    worker = pair.call("worker", "--until-idle", "--engine-url", pair.server.url)
    assert worker.returncode == 0, worker.stderr
    assert pair.the_run()["outcome"] == "success"
    assert json.loads(pair.call("sessions", "list", "--json").stdout)["sessions"] == []


def test_what_cannot_be_had_elsewhere_is_told_before_anything_is_made(pair: Pair) -> None:
    for workflow, token, said in (
        ("no-such-flow", TOKEN, "no workflow 'no-such-flow'"),
        ("two-steps", "another-token-than-the-server-s", "demands a token"),
    ):
        pair.environment["HEADWAY_ENGINE_TOKEN"] = token
        with pair.run(workflow) as process:
            _, err = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 1
        assert said in err
    wrong = pair.call(
        *("run", "two-steps", "--goal", "g", "--model", f"scripted:{pair.place / 'script.yaml'}"),
        *("--engine-url", "localhost"),
    )
    assert wrong.returncode == 1
    assert "http://HOST:PORT" in wrong.stderr
    assert json.loads(pair.call("runs", "list", "--json").stdout)["runs"] == []
    assert git(pair.repo, "branch", "--list", "headway/*") == ""

"""A run whose steps declare checks: refused until they pass, and told why."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.called import called
from tests.support.crashed_runs import ROOT, git, prepare
from tests.support.living import eventually, is_alive
from tests.support.patience import SECONDS_MAX

NOTES = "The step is handed in with these notes, which say what was done and found."
CLAIMS = f"""
turns:
  - calls:
      - complete_step: {{notes: "{NOTES}"}}
  - expect: {{matches: "AssertionError|assert add"}}
    calls:
      - bash: {{command: "sed -i 's/a - b/a + b/' calc.py"}}
  - calls:
      - complete_step: {{notes: "{NOTES}"}}
"""
CHEATS = f"""
turns:
  - calls:
      - bash: {{command: "echo > check.py"}}
  - calls:
      - complete_step: {{notes: "{NOTES}"}}
  - expect: "protected files were changed: check.py"
    calls:
      - bash: {{command: "git checkout -q check.py; sed -i 's/a - b/a + b/' calc.py; touch new.py"}}
  - calls:
      - complete_step: {{notes: "{NOTES}"}}
"""
HIDES = f"""
turns:
  - calls:
      - bash: {{{{command: "git update-index --{{mark}} check.py; echo > check.py"}}}}
  - calls:
      - complete_step: {{{{notes: "{NOTES}"}}}}
  - expect: "protected files were changed: check.py"
    calls:
      - bash: {{{{command: "git update-index --no-{{mark}} check.py; git checkout -q check.py"}}}}
  - calls:
      - bash: {{{{command: "sed -i 's/a - b/a + b/' calc.py"}}}}
  - calls:
      - complete_step: {{{{notes: "{NOTES}"}}}}
"""
HANDS_IN = f"""
turns:
  - calls:
      - complete_step: {{notes: "{NOTES}"}}
  - name: again
    then: again
    calls:
      - complete_step: {{notes: "{NOTES}"}}
"""


class Place:
    """A repository, a home, and a workflow of one step with a check."""

    def __init__(self, folder: Path, command: str) -> None:
        prepare(folder)
        check = {"id": "test", "run": command, "protect": ["check.py"]}
        step = {"id": "mend", "title": "Mend", "prompt": "Mend it.", "checks": [check]}
        flow = {
            "id": "mending",
            "name": "Mending",
            "description": "Mend.",
            "version": "1.0.0",
            "steps": [step],
        }
        (folder / "workflows" / "mending.json").write_text(json.dumps(flow))
        self.folder = folder
        self.repo = folder / "repo"
        self.environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "HEADWAY_HOME": str(folder / "home"),
            "HEADWAY_WORKFLOW_PATH": str(folder / "workflows"),
            "HOME": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
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

    def run(self, script: str) -> subprocess.Popen[str]:
        (self.folder / "script.yaml").write_text(script)
        model = f"scripted:{self.folder / 'script.yaml'}"
        return self.begin("run", "mending", "--goal", "Mend it", "--model", model)

    def told(self, *words: str) -> str:
        done = called(words, self.repo, self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def the_run(self) -> dict[str, Any]:
        (found,) = json.loads(self.told("runs", "list", "--json"))["runs"]
        return dict(found)

    def tree(self) -> str:
        (session,) = json.loads(self.told("sessions", "list", "--json"))["sessions"]
        return self.told("sessions", "tree", str(session["sessionId"]))


@pytest.mark.parametrize(
    "script",
    [CLAIMS, CHEATS, HIDES.format(mark="assume-unchanged"), HIDES.format(mark="skip-worktree")],
    ids=["claims", "cheats", "hides", "skips"],
)
def test_a_claim_of_done_is_refused_until_the_check_passes_as_it_was(
    tmp_path: Path, script: str
) -> None:
    place = Place(tmp_path / "place", "python3 check.py")
    with place.run(script) as process:
        _, err = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 0, err
    run = place.the_run()
    assert run["outcome"] == "success"
    assert "a + b" in git(place.repo, "show", f"headway/mending/{run['run']}:calc.py")
    tree = place.tree()
    assert "CHECK_FAILED" in tree
    assert "check test: exit code 0" in tree
    assert "CHECK_NOT_RUN" not in tree


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_ended_in_the_middle_of_a_check_leaves_none_behind_and_runs_it_again(
    tmp_path: Path, sign: signal.Signals
) -> None:
    place = Place(
        tmp_path / "place", f"echo $$ >> {tmp_path}/begun; [ -e {tmp_path}/go ] || sleep 600"
    )
    begun = tmp_path / "begun"
    with place.run(HANDS_IN) as process:
        eventually(lambda: begun.exists() and bool(begun.read_text()))
        process.send_signal(sign)
        process.wait(SECONDS_MAX)
    pid = int(begun.read_text())
    eventually(lambda: not is_alive(pid))
    (tmp_path / "go").touch()
    place.told("runs", "resume", str(place.the_run()["run"]))
    assert place.the_run()["outcome"] == "success"
    assert len(begun.read_text().split()) == 2
    assert "check test: exit code 0" in place.tree()

"""A repository, a home, and workers on it as processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.called import called
from tests.support.crashed_runs import ROOT, prepare
from tests.support.patience import SECONDS_MAX

# The first call lasts until the file `go` appears beside the repository, unless it is cut off.
HELD = """
turns:
  - calls:
      - bash: {command: "touch ../../begun-$(basename $PWD); \\
          until [ -e ../../go ]; do sleep 0.05; done; echo let go"}
  - expect: "let go"
    otherwise: cut
    then: rest
    calls:
      - complete_step: {notes: "The call was let go and came to its end; nothing was interrupted."}
  - name: cut
    expect: Interrupted
    calls:
      - complete_step: {notes: "The call was interrupted, as it says; the next step is told so."}
  - name: rest
    calls:
      - complete_step: {notes: "Nothing had to be done on this step, as these notes now say."}
"""


class Place:
    """A folder with a repository and a home; the store is its own file unless a `url` is given."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        prepare(folder)
        self.folder = folder
        self.script = folder / "script.yaml"
        self.go = folder / "home" / "go"
        self.environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "HEADWAY_HOME": str(folder / "home"),
            "HEADWAY_WORKFLOW_PATH": str(folder / "workflows"),
            "HOME": str(folder),
            "USER": "tester",
        }
        if url is not None:
            self.environment["HEADWAY_DATABASE_URL"] = url

    def begin(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "headway", *words],
            cwd=self.folder / "repo",
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Call the command line in this process; workers alone are others."""
        return called(words, self.folder / "repo", self.environment)

    def dispatch(self, *words: str) -> str:
        """Have a run of the script wait; return its id."""
        asked = ("dispatch", "two-steps", "--goal", "Make check.py pass")
        done = self.call(*asked, "--model", f"scripted:{self.script}", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[0]

    def held_up(self) -> None:
        """Have every run wait in its first call until it is let go."""
        self.script.write_text(HELD)

    def listed(self) -> dict[str, dict[str, Any]]:
        found = json.loads(self.call("runs", "list", "--json").stdout)["runs"]
        return {each["run"]: each for each in found}

    def shown(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.call("runs", "show", run, "--json").stdout)
        return found

    def begun(self) -> list[str]:
        """Return the runs that came to their held call."""
        return [each.name.partition("-")[2] for each in (self.folder / "home").glob("begun-*")]

    @contextmanager
    def worker(self, *words: str) -> "Iterator[Work]":
        """Start a worker; it is killed at the end unless it has ended by itself."""
        with self.begin("worker", *words) as process:
            try:
                yield Work(process)
            finally:
                process.kill()


class Work:
    """A worker process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def tell(self, sign: signal.Signals) -> None:
        self.process.send_signal(sign)

    def heard(self, words: str) -> None:
        """Wait for a line with these words."""
        assert self.process.stderr is not None
        assert any(words in line for line in iter(self.process.stderr.readline, ""))

    def ended(self) -> str:
        """Wait for its end; return what it said."""
        _, err = self.process.communicate(timeout=SECONDS_MAX)
        return err


def until(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + SECONDS_MAX
    while not true():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.05)

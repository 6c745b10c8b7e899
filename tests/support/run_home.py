"""A home with a repository to run in, and the command line on it, as people call it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from headway.cli.main import cli
from tests.support.called import called
from tests.support.crashed_runs import ROOT, prepare
from tests.support.patience import SECONDS_MAX

RUN = ("run", "two-steps", "--goal", "Make check.py pass")


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
            # What was compiled of a file must not be run once it has changed within a second.
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def begin(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "headway", *words],
            cwd=self.repo,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Call the command line as a process of its own."""
        with self.begin(*words) as process:
            out, err = process.communicate(stdin, timeout=SECONDS_MAX)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def ask(self, *words: str) -> Result:
        """Call the command line in this process, whose folder is the repository."""
        return CliRunner().invoke(cli, words, env=self.environment, prog_name="headway")

    def here(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Call the command line in this process, where only what comes of it is looked at."""
        return called(words, self.repo, self.environment)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.here(*RUN, "--model", f"scripted:{self.script}", *words)

    def listed(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.ask("runs", "list", "--json").stdout)["runs"]
        return found

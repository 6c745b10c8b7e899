"""What the commands of a run can read of the processes around it: real ones, as one user."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.patience import SECONDS_MAX
from tests.support.run_home import RUN, Home
from tests.support.unprivileged import unprivileged

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is sealed elsewhere")

NOTES = "Looked at all that can be seen from here, and wrote down what was found."
DONE = {"calls": [{"complete_step": {"notes": NOTES}}]}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "place")
    # As a provider's key would be called; no other process of this machine holds its value.
    home.environment["SOME_API_KEY"] = f"sk-{os.urandom(8).hex()}"
    return home


def commanded(home: Home, command: str) -> None:
    """Have the run's model call the shell, and be done."""
    turns = [{"calls": [{"bash": {"command": command}}]}, DONE, DONE]
    home.script.write_text(json.dumps({"turns": turns}))


@contextmanager
def begun(home: Home, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Begin a process that holds the key; it is gone at the end."""
    with subprocess.Popen(
        unprivileged(*words),
        cwd=home.repo,
        env=home.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("door", ["run", "up"])
def test_a_runs_commands_cannot_read_the_keys_of_the_process_that_drives_it(
    home: Home, door: str
) -> None:
    found = home.folder / "found"
    look = f"grep -ls {home.environment['SOME_API_KEY']} /proc/[0-9]*/environ"
    commanded(home, f"{look} > {found}; true")
    model = ("--model", f"scripted:{home.script}")
    headway = (sys.executable, "-m", "headway")
    with begun(home, "sleep", "600") as another:
        # It is what it will be once its environment can be read, as any process's can.
        while Path(f"/proc/{another.pid}/comm").read_text() != "sleep\n":
            time.sleep(0.01)
        if door == "run":
            with begun(home, *headway, *RUN, *model) as process:
                said, _ = process.communicate(timeout=SECONDS_MAX)
                assert process.returncode == 0, said
        else:
            assert home.call("dispatch", *RUN[1:], *model).returncode == 0
            with begun(home, *headway, "up", "--port", "0") as process:
                deadline = time.monotonic() + SECONDS_MAX
                while home.listed()[0]["outcome"] != "success":
                    assert time.monotonic() < deadline, home.listed()
                    time.sleep(0.1)
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=SECONDS_MAX)
        assert found.read_text() == f"/proc/{another.pid}/environ\n", "of that process alone"


def test_filters_that_a_model_sets_are_run_by_git_without_the_keys(home: Home) -> None:
    seen = home.folder / "seen"
    filter_set = f"git config filter.spy.clean 'env >> {seen}; cat'"
    commanded(home, f"{filter_set}; echo '*.py filter=spy' > .gitattributes; echo >> calc.py")
    done = home.run()
    assert done.returncode == 0, done.stderr
    assert home.call("worktrees", "list").returncode == 0
    told = seen.read_text()
    assert "GIT_TERMINAL_PROMPT=0" in told, "it was run by a git of ours"
    assert home.environment["SOME_API_KEY"] not in told
    assert "HEADWAY_HOME" not in told

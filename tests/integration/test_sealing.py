"""What commands of runs and checks can read of the real processes around them, as one user."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.living import eventually
from tests.support.patience import SECONDS_MAX
from tests.support.run_home import RUN, Home
from tests.support.served import Served
from tests.support.unprivileged import unprivileged

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is sealed elsewhere")

HEADWAY = (sys.executable, "-m", "headway")
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


def checked(home: Home, command: str) -> None:
    """Have a workflow of one step, which a command checks."""
    step = {
        "id": "fix",
        "title": "Fix",
        "prompt": "Fix it.",
        "checks": [{"id": "look", "run": command}],
    }
    flow = {"id": "checked", "name": "Checked", "description": "One check.", "version": "1.0.0"}
    (home.folder / "workflows" / "checked.json").write_text(json.dumps({**flow, "steps": [step]}))
    home.environment["HEADWAY_CHECKS"] = "run"


@contextmanager
def another(home: Home) -> Iterator[Path]:
    """Begin a process that holds the key and may be read, as any of a user's; return where."""
    with begun(home, "sleep", "600") as process:
        # It is what it will be once its environment can be read.
        eventually(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n")
        yield Path(f"/proc/{process.pid}/environ")


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
    with another(home) as readable:
        if door == "run":
            with begun(home, *HEADWAY, *RUN, *model) as process:
                said, _ = process.communicate(timeout=SECONDS_MAX)
                assert process.returncode == 0, said
        else:
            assert home.call("dispatch", *RUN[1:], *model).returncode == 0
            with begun(home, *HEADWAY, "up", "--port", "0") as process:
                eventually(lambda: home.listed()[0]["outcome"] == "success")
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=SECONDS_MAX)
        assert found.read_text() == f"{readable}\n", "of that process alone"


@pytest.mark.parametrize("door", ["in its own process", "through headway up"])
def test_the_checks_of_a_client_cannot_read_the_keys_of_what_serves_it(
    home: Home, door: str
) -> None:
    found, log = home.folder / "found", home.folder / "log"
    look = f"grep -ls {home.environment['SOME_API_KEY']} /proc/[0-9]*/environ"
    checked(home, f"{look} > {found}; true")
    with ExitStack() as opened:
        readable = opened.enter_context(another(home))
        if door == "through headway up":
            words = (*HEADWAY, "up", "--port", "0", "--no-worker", "--json")
            server = opened.enter_context(begun(home, *words))
            assert server.stdout is not None
            assert "url" in json.loads(server.stdout.readline())
        process = opened.enter_context(
            subprocess.Popen(
                unprivileged(*HEADWAY, "mcp"),
                env=home.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=opened.enter_context(log.open("wb")),
            )
        )
        client = Served(process, log)
        client.shake_hands()
        token = client.start(home.repo, "checked")["continueToken"]
        assert client.advance(token)["isComplete"]
        assert found.read_text() == f"{readable}\n", "of that process alone"
        assert client.leave() == 0


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

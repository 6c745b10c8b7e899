"""The program on a home with two sessions, as a person or a script runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from headway.adapters.storage.sqlite import open_sqlite
from headway.bootstrap import DATABASE_NAME
from headway.domain.values import Json
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.called import called
from tests.support.patience import SECONDS_MAX
from tests.support.walked import engine_of, finish, walk


def home_of_two(tmp_path: Path) -> Path:
    """Make a home with a finished session and one that goes on, forked and in a loop."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    store = open_sqlite(folder / DATABASE_NAME, FakeClock(), FakeEntropy(5))
    engine = engine_of(store)
    finish(engine, walk(engine, "Mend the roof"))
    walk(engine, "Mend the door")
    store.close()
    return folder


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a command on a home."""
    own = {"HOME": str(home.parent), "HEADWAY_HOME": str(home), "COLUMNS": "80"}
    return {**os.environ, **own, **more}  # noqa: TID251


def run(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "headway", *arguments],
        env=environment(home, **more),
        cwd=home.parent,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS_MAX,
        check=False,
    )


def document(home: Path, *arguments: str, code: int = 0) -> dict[str, Json]:
    """Call a command with --json and return its document, which is all there is on stdout."""
    ran = called((*arguments, "--json"), home.parent, environment(home))
    assert (ran.returncode, ran.stderr) == (code, "")
    assert ran.stdout.isascii()
    parsed = json.loads(ran.stdout)
    assert isinstance(parsed, dict)
    return parsed


def refusal(home: Path, *arguments: str, code: int) -> dict[str, Json]:
    """Call a command with --json and return the envelope it refuses with, alone on stderr."""
    ran = run(home, *arguments, "--json")
    assert (ran.returncode, ran.stdout) == (code, "")
    envelope = json.loads(ran.stderr)
    assert isinstance(envelope, dict)
    assert list(envelope) == ["code", "message", "retry", "details"]
    assert envelope["details"]["suggestion"]
    return envelope

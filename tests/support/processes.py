"""Other processes on a store's file, and what they tell; see `ledger_process.py`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@contextmanager
def process(
    verb: str, path: Path, *options: str, count: int = 0, before: Sequence[str] = ()
) -> Iterator[subprocess.Popen[str]]:
    """Start a process, through the command `before` if there is one, and end it at the end."""
    command = [sys.executable, "-m", "tests.support.ledger_process", verb, str(path), str(count)]
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    with subprocess.Popen(
        [*before, *command, *options],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment | {"PATH": os.defpath},
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def told(started: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the next line that a process tells."""
    assert started.stdout is not None
    facts: dict[str, Any] = json.loads(started.stdout.readline())
    return facts


def say(started: subprocess.Popen[str]) -> None:
    """Give a process the line it waits for."""
    assert started.stdin is not None
    started.stdin.write("\n")
    started.stdin.flush()

"""What an earlier claim of a run left running on this machine: found by its mark, and killed.

Every process that a run's tools begin bears the run and its fence in its environment, and so do its
children, in whatever group or session they are. A worker that was stopped past its lease has not
ended its commands; they would go on writing beside its successor's. One that takes the mark off
itself is not found, nor is anything where the system has no `/proc`: a sandbox is to hold those.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from headway.domain.ids import RunId
from headway.ports.owners import MARK

PROC: Final = Path("/proc")
SWEEPS_MAX: Final = 50  # a process may begin another while it is looked for
GONE_SECONDS_MAX: Final = 5.0
LOOK_SECONDS: Final = 0.005


def end_work_of(run: RunId, fence: int) -> int:
    """Kill every process that an earlier claim of a run began; return how many there were.

    Returns when they are gone, or cannot be ended within a few seconds.
    """
    killed: set[int] = set()
    for _ in range(SWEEPS_MAX):
        found = set(_marked(run, fence)) - killed
        if not found:
            break
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed |= found
    deadline = time.monotonic() + GONE_SECONDS_MAX
    while any(map(_lives, killed)) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    return len(killed)


def _marked(run: RunId, fence: int) -> Iterator[int]:
    beginning = f"{MARK}={run}:".encode()
    for folder in PROC.glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # gone meanwhile, or another user's
            continue
        marks = [each[len(beginning) :] for each in variables if each.startswith(beginning)]
        if any(mark.isdigit() and int(mark) < fence for mark in marks):
            yield int(folder.name)


def _lives(pid: int) -> bool:
    try:
        told = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return False
    return told.rpartition(")")[2].split()[0] not in {"Z", "X"}

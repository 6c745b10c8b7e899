"""Which processes live, what they do, and waiting until something is so."""

import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.patience import SECONDS_MAX


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that is dead and not yet waited for does not."""
    return _state(pid) not in {"", "Z"}


def is_asleep(pid: int) -> bool:
    """Tell whether the first thread of a process waits for something.

    A signal just before it does is taken note of and wakes nobody: Python looks at it only when the
    wait is over.
    """
    return _state(pid) == "S"


def runs_command(pid: int, word: str) -> bool:
    """Tell whether a process was begun with a word; one just forked has its parent's still."""
    try:
        return word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False


def heeds(pid: int, sign: signal.Signals) -> bool:
    """Tell whether a process has a handler of its own for a signal."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (sign - 1) & 1)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def eventually(is_so: Callable[[], bool], seconds: float = SECONDS_MAX) -> None:
    """Wait until something is so; it is an error when that takes too long."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)

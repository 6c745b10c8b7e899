"""Which processes live, and waiting until something is so."""

import time
from collections.abc import Callable
from pathlib import Path

WAIT_SECONDS = 20


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that is dead and not yet waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def eventually(is_so: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
    """Wait until something is so; it is an error when that takes too long."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)

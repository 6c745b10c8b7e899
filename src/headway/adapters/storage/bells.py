"""Bells of the stores on one machine: one is rung by the queue, one looks at the file.

Every commit grows or rewrites SQLite's log, so a look at its size and time costs no connection and
no lock. It tells of commits that concern nobody as well; who wakes looks into the queue anyway.
"""

import threading
import time
from pathlib import Path
from typing import Final

LOOK_SECONDS: Final = 0.1


class RungBell:
    """Implements `ports.queue.Bell` for the store in memory."""

    def __init__(self, bells: list[threading.Event]) -> None:
        self._bells = bells
        self._rung = threading.Event()
        self._cut = False
        bells.append(self._rung)

    def wait(self, seconds: float) -> None:
        """Return when it was rung since the last wait, or after so long."""
        self._rung.wait(seconds)
        if not self._cut:
            self._rung.clear()

    def cut(self) -> None:
        """Have every wait return at once."""
        self._cut = True
        self._rung.set()

    def close(self) -> None:
        """Be rung no more."""
        self._bells.remove(self._rung)


class FileBell:
    """Implements `ports.queue.Bell` for a store in a file."""

    def __init__(self, path: Path) -> None:
        self._log = path.with_name(path.name + "-wal")
        self._cut = threading.Event()
        self._seen = self._look()

    def wait(self, seconds: float) -> None:
        """Return when something was committed since the last wait, or after so long."""
        deadline = time.monotonic() + seconds
        while self._look() == self._seen and time.monotonic() < deadline:
            if self._cut.wait(LOOK_SECONDS):
                return
        self._seen = self._look()

    def cut(self) -> None:
        """Have every wait return at once."""
        self._cut.set()

    def close(self) -> None:
        """Nothing is held."""

    def _look(self) -> tuple[int, int]:
        try:
            found = self._log.stat()
        except OSError:  # no log yet, or none any more: the last to close the file removes it
            return 0, 0
        return found.st_size, found.st_mtime_ns

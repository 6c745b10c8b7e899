"""The processes of this machine, told apart by what the operating system says of each.

A pid alone is used again. With the boot of the machine and the moment the process started it names
one process for ever. Where the system does not say these (no `/proc`), nobody is ever provably
gone, and a lease ends by its time.
"""

import os
import socket
from pathlib import Path
from typing import Final

from headway.adapters.machine.leftovers import end_work_of
from headway.domain.ids import RunId
from headway.domain.runs.events import Owner

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
MACHINE_ID: Final = Path("/etc/machine-id")
PIDS: Final = Path("/proc/self/ns/pid")  # pids of another namespace are other processes
STARTED_FIELD: Final = 19  # of those that follow the name in /proc/PID/stat
UNKNOWN: Final = ""


class HostOwners:
    """Implements `ports.owners.Owners`."""

    def __init__(self) -> None:
        self._machine = _machine()
        self._host = f"{socket.gethostname()}/{self._machine}/{_namespace()}"
        self._boot = _boot()

    def me(self) -> Owner:
        """Return this process."""
        pid = os.getpid()
        return Owner(host=self._host, boot=self._boot, pid=pid, started=_started(pid) or UNKNOWN)

    def is_gone(self, owner: Owner) -> bool:
        """Tell whether a process is provably gone; False where that cannot be known from here."""
        if UNKNOWN in (owner.boot, owner.started, self._boot) or owner.host != self._host:
            return False
        if owner.boot != self._boot:  # another boot of this machine, or another machine
            return self._machine != UNKNOWN
        return _started(owner.pid) != owner.started

    def end_work_of(self, run: RunId, fence: int) -> int:
        """End what earlier claims of a run left running on this machine; return how many."""
        return end_work_of(run, fence)


def _boot() -> str:
    try:
        return BOOT_ID.read_text("ascii").strip()
    except OSError:
        return UNKNOWN


def _namespace() -> str:
    try:
        return str(PIDS.readlink())
    except OSError:
        return UNKNOWN


def _machine() -> str:
    try:
        return MACHINE_ID.read_text("ascii").strip()
    except OSError:
        return UNKNOWN


def _started(pid: int) -> str | None:
    """Return when a process started, in ticks since boot; None when there is none, or a dead one.

    A process that ended and waits for its parent to notice does nothing more.
    """
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    state, *fields = told.rpartition(")")[2].split()
    return None if state in ("Z", "X") else fields[STARTED_FIELD - 1]

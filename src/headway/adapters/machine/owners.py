"""The processes of this machine, told apart by what the operating system says of each.

A pid alone is used again. With the boot of the machine and the moment the process started it names
one process for ever. Where the system does not say these (no `/proc`), nobody is ever provably
gone, and a lease ends by its time.
"""

import os
import socket
from contextlib import suppress
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
        started = _started(_told_of(pid)) or UNKNOWN
        return Owner(host=self._host, boot=self._boot, pid=pid, started=started)

    def is_gone(self, owner: Owner) -> bool:
        """Tell whether a process is provably gone; False where that cannot be known from here."""
        if UNKNOWN in (owner.boot, owner.started, self._boot) or owner.host != self._host:
            return False
        if owner.boot != self._boot:  # another boot of this machine, or another machine
            return self._machine != UNKNOWN
        told = _told_of(owner.pid)
        return not _is_there(owner.pid) if told is None else _started(told) != owner.started

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


def _told_of(pid: int) -> list[str] | None:
    """Return what the system tells of a process, behind its name; None where it tells nothing."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return told.rpartition(")")[2].split()


def _started(told: list[str] | None) -> str | None:
    """Return when a process started, in ticks since boot; None when there is none, or a dead one.

    A process that ended and waits for its parent to notice does nothing more.
    """
    return None if told is None or told[0] in ("Z", "X") else told[STARTED_FIELD]


def _is_there(pid: int) -> bool:
    """Tell whether there is a process, though the system may tell nothing of it (`hidepid`)."""
    try:
        with suppress(PermissionError):  # it is another user's
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

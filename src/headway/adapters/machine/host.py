"""The machine at hand, by the means of its operating system.

What only one of the looks needs is imported by it: `headway status` asks for little and at once.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headway.ports.machine import Disk, Process

if TYPE_CHECKING:
    import subprocess

PROGRAM_SECONDS_MAX: Final = 5.0
ANSWER_SECONDS_MAX: Final = 1.0
PROBE_BYTES: Final = 4096
HTTP_OK: Final = 200
COMMAND_CHARACTERS_MAX: Final = 200
# As a run's shell is confined: nothing of the machine can be written, and there is no network.
SANDBOX: Final = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-all", "true")
LOCKS: Final = Path("/proc/locks")


class HostMachine:
    """Implements `ports.machine.Machine`. `environment` is what programs inherit."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def mode(self, path: Path) -> int | None:
        """Return the permission bits of a file or folder, None when there is none."""
        try:
            return stat.S_IMODE(path.stat().st_mode)
        except OSError:
            return None

    def names(self, folder: Path) -> tuple[str, ...]:
        """Return the names of the folders in a folder, none where there is none."""
        try:
            return tuple(sorted(each.name for each in folder.iterdir() if each.is_dir()))
        except OSError:
            return ()

    def disk(self, folder: Path) -> Disk | None:
        """Return the room on the disk under a folder, or under the first above it that exists."""
        for each in (folder, *folder.parents):
            try:
                found = os.statvfs(each)
            except OSError:
                continue
            if not found.f_blocks:  # a file system of the kernel's own, which keeps nothing
                return None
            return Disk(
                free_bytes=found.f_bavail * found.f_frsize,
                total_bytes=found.f_blocks * found.f_frsize,
            )
        return None

    def obstacle(self, folder: Path) -> str | None:
        """Return why a folder cannot be written, or made where there is none, in words."""
        import tempfile

        try:
            # A file without a name leaves no trace, and rights alone do not tell what root may.
            with tempfile.TemporaryFile(dir=_first_there(folder)):
                return None
        except OSError as error:
            return error.strerror or str(error)

    def fsync_ms(self, folder: Path) -> float | None:
        """Return how long it takes to bring a small file in a folder to the disk."""
        import tempfile

        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                began = time.perf_counter()
                file.write(bytes(PROBE_BYTES))
                file.flush()
                os.fsync(file.fileno())
                return (time.perf_counter() - began) * 1000
        except OSError:
            return None

    def version_of(self, program: str) -> str | None:
        """Return the first line a program answers to `--version`."""
        done = self._run(program, "--version")
        if done is None or done.returncode != 0:
            return None
        return next(iter(done.stdout.decode("utf-8", "replace").splitlines()), "")

    def can_sandbox(self) -> bool:
        """Tell whether bubblewrap can run something in a sandbox."""
        done = self._run(*SANDBOX)
        return done is not None and done.returncode == 0

    def is_free(self, host: str, port: int) -> bool:
        """Tell whether a server could listen there."""
        import socket

        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                return False
        return True

    def answer_ms(self, host: str, port: int, path: str) -> float | None:
        """Return how long a server took to answer 200 over HTTP, None when it did not."""
        from http.client import HTTPConnection, HTTPException

        began = time.perf_counter()
        try:
            with closing(HTTPConnection(host, port, timeout=ANSWER_SECONDS_MAX)) as connection:
                connection.request("GET", path)
                if connection.getresponse().status != HTTP_OK:
                    return None
        except (OSError, HTTPException):
            return None
        return (time.perf_counter() - began) * 1000

    def holders(self, path: Path) -> tuple[Process, ...] | None:
        """Return the processes that hold a lock on a file; None where that cannot be known."""
        try:
            wanted = path.stat()
            lines = LOCKS.read_text("ascii").splitlines()
        except FileNotFoundError:
            return () if LOCKS.exists() else None
        except (OSError, ValueError):
            return None
        device = f"{os.major(wanted.st_dev):02x}:{os.minor(wanted.st_dev):02x}:{wanted.st_ino}"
        pids = sorted(set(_holding(lines, device)) - {os.getpid()})
        return tuple(_process(pid) for pid in pids)

    def _run(self, *command: str) -> "subprocess.CompletedProcess[bytes] | None":
        import subprocess

        try:
            return subprocess.run(
                command,
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROGRAM_SECONDS_MAX,
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None


def _first_there(folder: Path) -> Path:
    """Return a folder, or the first above it that is there. Raises OSError for no possible path."""
    for each in (folder, *folder.parents):
        try:
            each.lstat()
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        return each
    return folder


def _holding(lines: list[str], device: str) -> Iterator[int]:
    """Yield the pids in the system's table: `1: FLOCK ADVISORY READ 4711 08:01:99 0 EOF`."""
    for line in lines:
        fields = line.split()
        if "->" not in fields and device in fields:
            pid = fields[fields.index(device) - 1]
            if pid.isdecimal() and pid != "0":  # 0: a process that this container does not see
                yield int(pid)


def _process(pid: int) -> Process:
    folder = Path("/proc") / str(pid)
    try:
        words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        after_name = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:  # gone meanwhile, or somebody else's
        return Process(pid=pid, command="")
    command = " ".join(word for word in words if word)[:COMMAND_CHARACTERS_MAX]
    return Process(pid=pid, command=command, orphan=after_name[1:2] == ["1"])

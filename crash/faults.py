"""The faults: a server that is killed, that hangs as on a slow disk, that cannot write."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

START_SECONDS_MAX = 60
# What may still be written to any one file while the disk is full: some pages of the log, so that
# it fills in the middle of a transaction as well as at its beginning.
ROOM_BYTES = 64 * 1024
CAN_FILL_DISK = hasattr(resource, "prlimit")


class Server:
    """`headway up` on one home, started again after every kill, each time on another port."""

    def __init__(self, environment: Mapping[str, str], home: Path, log: Path) -> None:
        self._environment = environment
        self._home = home
        self._log = log
        self._process = self._start()

    def kill_and_restart(self) -> None:
        self.kill()
        self._process = self._start()

    def pause(self, seconds: float) -> None:
        """Stop it in whatever it is doing, perhaps in a transaction, and let it go on."""
        os.kill(self._process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self._process.pid, signal.SIGCONT)

    def fill_disk(self, seconds: float) -> None:
        """Let none of its files grow for a while."""
        sizes = [path.stat().st_size for path in self._home.glob("headway.db*")]
        limit = min(sizes) + ROOM_BYTES
        _, hard = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (limit, hard))
        time.sleep(seconds)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (hard, hard))

    def stop(self) -> int:
        """Tell it to stop; return its exit code."""
        self._process.terminate()
        return self._process.wait(START_SECONDS_MAX)

    def kill(self) -> None:
        """Kill it as a power cut would."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "headway", "up", "--no-worker", "--port", "0", "--json"],
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environment,
            )
        assert process.stdout is not None
        if not process.stdout.readline():
            raise RuntimeError(f"the server did not start: {self._log.read_text('utf-8')[-2000:]}")
        return process

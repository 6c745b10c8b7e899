"""Servers in processes of their own, and what one holds in memory."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

EXIT_SECONDS_MAX = 30
UP = ["headway", "up", "--no-worker", "--json", "--port", "0"]


class Server(NamedTuple):
    """Where a server is."""

    port: int
    pid: int


@contextmanager
def serving(words: list[str], environment: Mapping[str, str]) -> Iterator[Server]:
    """Start a module as a server, which says its port in a line of JSON; stop it at the end."""
    command = [sys.executable, "-m", *words]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield Server(int(json.loads(process.stdout.readline())["port"]), process.pid)
        finally:
            process.terminate()
            process.wait(EXIT_SECONDS_MAX)


def resident_mib(pid: int) -> float | None:
    """Return the memory of a process in MiB; None where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    for line in status.read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return None

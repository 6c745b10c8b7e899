"""A PostgreSQL for tests: the one that is named, the one on this machine, or one of their own.

Each store gets a schema of its own, dropped when it is closed. A server of our own is ended with
the process that made it; one whose process was killed, by the next that makes one.
"""

import atexit
import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NoReturn
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from simulation.servers import LOCAL, NAMED, schema

__all__ = ["require_programs", "require_server", "require_tcp_url", "require_url", "schema"]

CI = os.environ.get("CI") == "true"  # noqa: TID251  on CI a skip is a failure
UNPRIVILEGED = "nobody"
PROGRAMS = ("initdb", "pg_ctl")
PREFIX = "headway-pg-"
OWNED = "owned"  # locked for as long as the process lives that made the folder


@dataclass(frozen=True)
class Server:
    """A server of our own: where it is, and how to start and stop it."""

    folder: Path
    owned: BinaryIO

    @property
    def url(self) -> str:
        """Where it listens: a socket in its folder."""
        return f"postgresql://headway@/postgres?host={quote(str(self.folder), safe='')}"

    def control(self, *words: str) -> None:
        log = str(self.folder / "log")
        command = ["pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", log, *words]
        _as_nobody(command, self.folder)


def require_url() -> str:
    """Return the address of a server; without one the test is skipped, or fails on CI."""
    url = _url()
    if url is None:
        _give_up("no PostgreSQL: set HEADWAY_TEST_DATABASE_URL, or install initdb and pg_ctl")
    return url


def require_tcp_url() -> str:
    """Return the address of a server that listens on a port; else as `require_url`."""
    url = require_url()
    host = str(conninfo_to_dict(url).get("host", ""))
    if host.startswith("/") or not host:
        pytest.skip("the server listens on no port")
    return url


def require_server() -> Server:
    """Return a server that may be stopped; where none can be made, as `require_url`."""
    require_programs()
    server = _private()
    assert server is not None
    return server


def require_programs() -> None:
    """See that a server of our own can be made; where none can, as `require_url`."""
    if not _has_programs():
        _give_up("no private PostgreSQL: initdb and pg_ctl are not on PATH")


def _give_up(reason: str) -> NoReturn:
    if CI:
        pytest.fail(reason)
    pytest.skip(reason)


@lru_cache(maxsize=1)
def _url() -> str | None:
    if NAMED:
        return NAMED
    try:
        psycopg.connect(LOCAL).close()
    except psycopg.OperationalError:
        server = _private()
        return server.url if server else None
    return LOCAL


def _has_programs() -> bool:
    return all(shutil.which(name) for name in PROGRAMS)


@lru_cache(maxsize=1)
def _private() -> Server | None:
    if not _has_programs():
        return None
    end_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    owned = (folder / OWNED).open("wb")
    fcntl.flock(owned, fcntl.LOCK_EX)
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam(UNPRIVILEGED).pw_uid, -1)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = ["initdb", "-D", str(folder / "data"), "-U", "headway", "-A", "trust", "-E", "UTF8"]
    _as_nobody([*made, "--locale=C", "--no-sync"], folder)
    server = Server(folder, owned)
    server.control("-o", f"-c listen_addresses= -k {folder}", "start")
    atexit.register(server.control, "-m", "immediate", "stop")
    return server


def end_abandoned() -> None:
    """End the servers of processes that are gone, and remove their folders."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Another user's, one that is just being made, or in use.
        with suppress(OSError), (folder / OWNED).open("rb+") as owned:
            fcntl.flock(owned, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _end(Server(folder, owned))


def _end(server: Server) -> None:
    data = server.folder / "data"
    with suppress(OSError, ValueError, IndexError, subprocess.CalledProcessError):
        pid = int((data / "postmaster.pid").read_text().splitlines()[0])
        if Path(f"/proc/{pid}/cwd").resolve() == data.resolve():  # the number may be another's now
            os.kill(pid, signal.SIGCONT)  # a test may have stopped it
            server.control("-m", "immediate", "stop")
    shutil.rmtree(server.folder, ignore_errors=True)


def _as_nobody(command: list[str], folder: Path) -> None:
    """Run a program of the server's, which refuses to be run by root."""
    user = UNPRIVILEGED if os.geteuid() == 0 else None
    environment = {"PATH": os.environ["PATH"]}  # noqa: TID251
    with (folder / "told").open("ab") as told:
        subprocess.run(
            command, cwd=folder, user=user, env=environment, stdout=told, stderr=told, check=True
        )

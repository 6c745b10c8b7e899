"""`server.lock`: who serves this home; a second server is refused, clients find the first.

Standard library alone, so that the relay starts at once.

Two locks of the operating system, both dropped with the process however it ends. The lock on the
home folder itself decides: whoever has it is the server. The lock on `server.lock` vouches for what
the file says: a server writes it under another name, locks it, and only then gives it its name. So
a file that is locked is whole and true, one that is not was left by a dead server, and a reader's
short look at the lock can never stand in a server's way. It holds no durable fact.
"""

import errno
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

FILE_NAME: Final = "server.lock"
FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
BYTES_MAX: Final = 64 * 1024
ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - named, not bound


class Running(NamedTuple):
    """A server at work; `started_at` is UTC in ISO 8601, `port` the one it really has.

    `token_file` is where the token stands that it demands, if that is in a file; `settings` those
    that a client may have too and that count only here, by name and as `home.claims` writes them.
    """

    pid: int
    host: str
    port: int
    version: str
    started_at: str
    token_file: str | None = None
    settings: Mapping[str, str] = {}

    @property
    def url(self) -> str:
        """Return where a client on this machine reaches it, without a slash at the end."""
        host = ANY_ADDRESS.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


class AlreadyServed(Exception):
    """Another process serves this home; `running` is None while it has not said where yet."""

    def __init__(self, running: Running | None) -> None:
        super().__init__(running)
        self.running: Final = running


class ServerLock:
    """The right to serve a home, held until released or until the process ends."""

    def __init__(self, home: Path) -> None:
        """Take it, making the folder if need be. Raises AlreadyServed or OSError."""
        home.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        self._path = home / FILE_NAME
        self._file: int | None = None
        self._folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._folder)
            raise AlreadyServed(read_lock(home)) from error
        except OSError:
            os.close(self._folder)
            raise

    def announce(self, running: Running) -> None:
        """Say where the server is, once it listens. Raises OSError."""
        assert self._file is None, "a server announces itself once"
        unnamed = self._path.with_name(f"{FILE_NAME}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        self._file = os.open(unnamed, flags, FILE_MODE)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(self._file, _encode(running))
        unnamed.rename(self._path)

    def release(self) -> None:
        """Let another server have the home."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
        os.close(self._folder)


def read_lock(home: Path) -> Running | None:
    """Return the server of a home; None when there is none, or it does not listen yet.

    Raises OSError when the file is there but may not be read, or was written by another user: what
    it says is where tokens are sent to.
    """
    try:
        descriptor = os.open(home / FILE_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if os.fstat(descriptor).st_uid not in (0, os.getuid()):
            raise PermissionError(errno.EPERM, "another user wrote it", FILE_NAME)
        if not _is_locked(descriptor):
            return None
        return _decode(os.read(descriptor, BYTES_MAX))
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _encode(running: Running) -> bytes:
    told = {
        "pid": running.pid,
        "startedAt": running.started_at,
        "host": running.host,
        "port": running.port,
        "version": running.version,
        "url": running.url,
        "tokenFile": running.token_file,
        "settings": dict(running.settings),
    }
    return json.dumps(told).encode() + b"\n"


def _decode(data: bytes) -> Running | None:
    """Read what a server of any version wrote; None when it does not say what we need."""
    try:
        told = json.loads(data)
        token_file = told.get("tokenFile")
        return Running(
            pid=int(told["pid"]),
            host=str(told["host"]),
            port=int(told["port"]),
            version=str(told["version"]),
            started_at=str(told["startedAt"]),
            token_file=None if token_file is None else str(token_file),
            settings={str(name): str(text) for name, text in told.get("settings", {}).items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None

"""The store's file: made private, and guarded against a process it must not be shared with.

The guard is a lock of the operating system on an empty file beside the store. Processes whose
SQLite bears company take it together, one that does not takes it alone. It holds no fact, and the
system drops it with the process, however that ends.

It also knows the file it was given. One that is deleted under a running process can still be
written, and all of that is lost with the process; so what is at the path is looked at again.
"""

import errno
import fcntl
import os
from pathlib import Path
from typing import Final

from headway.adapters.storage.drivers import Driver
from headway.adapters.storage.sqlite_faults import already_open, file_fault, file_gone

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
GUARD_SUFFIX: Final = "-open"


class Guard:
    """The right to have the store open, held until released."""

    def __init__(self, path: Path, driver: Driver) -> None:
        """Make folder and file if need be and take the lock. Raises StoreUnavailable."""
        self._path = path.absolute()
        try:
            path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            self._file = _made(path)
            self._descriptor = _open_private(path.with_name(path.name + GUARD_SUFFIX))
        except OSError as error:
            raise file_fault(error, path) from error
        kind = fcntl.LOCK_SH if driver.shares_files else fcntl.LOCK_EX
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.release()
            version = ".".join(map(str, driver.version))
            raise already_open(path, version) from error
        except OSError as error:
            self.release()
            raise file_fault(error, path) from error

    def check(self) -> None:
        """See that the file is where it was, about a microsecond long. Raises StoreUnavailable.

        Asked before every commit: what is written into a deleted file is not kept.
        """
        try:
            found = self._path.stat()
        except OSError as error:
            raise file_gone(self._path) from error
        if (found.st_dev, found.st_ino) != self._file:
            raise file_gone(self._path)

    def release(self) -> None:
        """Let others have it."""
        os.close(self._descriptor)


def _made(path: Path) -> tuple[int, int]:
    """Make the file if need be; return what tells it from any other.

    One that is there is not opened: closing it would drop the locks that SQLite has on it for
    another store of this process.
    """
    real = Path(os.path.realpath(path))
    try:
        os.close(_open_private(real, os.O_EXCL))
    except FileExistsError:
        if not os.access(real, os.R_OK | os.W_OK, effective_ids=True):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(real)) from None
    found = real.stat()
    return found.st_dev, found.st_ino


def _open_private(path: Path, more: int = 0) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | more, FILE_MODE)

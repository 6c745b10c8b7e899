"""The store's file: made private, and guarded against a process it must not be shared with.

The guard is a lock of the operating system on an empty file beside the store. Processes whose
SQLite bears company take it together, one that does not takes it alone. It holds no fact, and the
system drops it with the process, however that ends.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

from headway.adapters.storage.drivers import Driver
from headway.adapters.storage.sqlite_faults import already_open, file_fault

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
GUARD_SUFFIX: Final = "-open"


class Guard:
    """The right to have the store open, held until released."""

    def __init__(self, path: Path, driver: Driver) -> None:
        """Make folder and file if need be and take the lock. Raises StoreUnavailable."""
        try:
            path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            os.close(_open_private(path))
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

    def release(self) -> None:
        """Let others have it."""
        os.close(self._descriptor)


def _open_private(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)

"""What SQLite and the file system may answer instead of serving, in words and with a way out."""

import errno
import sqlite3
from pathlib import Path
from typing import Final

from headway.adapters.storage.store_faults import (
    damaged,
    damaged_text,
    final,
    no_room,
    unavailable,
)
from headway.domain.errors import Fault

_NOT_PERMITTED: Final = "Give this user the right to write the folder and its files"


def driver_fault(error: BaseException, path: Path) -> Fault:
    """Return the fault that a driver's error stands for."""
    if isinstance(error, UnicodeDecodeError):
        return damaged("a name or text in it is not UTF-8", path)
    code = getattr(error, "sqlite_errorcode", None)
    match code & 0xFF if isinstance(code, int) else None:  # the primary code of an extended one
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return unavailable(
                f"The store {path} is locked by another process.",
                "Repeat the call; if it goes on, look for a program that holds the file open.",
                retry_after_ms=250,
            )
        case sqlite3.SQLITE_FULL:
            return no_room(path)
        case sqlite3.SQLITE_IOERR:  # a spent quota too; the driver tells no more of it
            return unavailable(
                f"The store {path} could not be read or written ({error}).",
                "See whether a quota or a limit on the size of files is used up, or the disk "
                "fails; then repeat the call. Nothing recorded was lost.",
            )
        case sqlite3.SQLITE_PERM | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN:
            return unavailable(
                f"The store {path} cannot be opened for writing ({error}).",
                f"{_NOT_PERMITTED}, or choose another folder with HEADWAY_HOME.",
            )
        case sqlite3.SQLITE_NOTADB:
            return not_a_store(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_CONSTRAINT:
            return damaged(str(error), path)
        case _ if "Could not decode to UTF-8" in str(error):  # as the driver's own words have it
            return damaged_text(path)
        case _ if "no such module" in str(error):
            return final(
                f"The SQLite here lacks full-text search ({error}).",
                "Install the pysqlite3 package, which brings one that has it.",
            )
        case _:
            return unavailable(
                f"The store {path} could not serve ({error}).",
                "Repeat the call; if it goes on, restart Headway and check the disk.",
            )


def is_busy(error: BaseException) -> bool:
    """Tell whether another connection was in the way, so that waiting may help."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def file_fault(error: OSError, path: Path) -> Fault:
    """Return the fault that a refusal of the file system stands for."""
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return no_room(path)
    return unavailable(
        f"The store {path} cannot be opened: {reason}.",
        f"{_NOT_PERMITTED}, or choose another folder with HEADWAY_HOME.",
    )


def file_gone(path: Path) -> Fault:
    """Return the fault of a file that was deleted or replaced while it was open."""
    return final(
        f"The store {path} was deleted or replaced while Headway had it open; "
        "nothing of this call was kept.",
        "Put the file back, from a backup if need be, and restart Headway. "
        "Without the file a restart begins a new, empty store.",
    )


def not_a_store(path: Path) -> Fault:
    """Return the fault of a file that holds something else."""
    return final(
        f"The file {path} is not a Headway store, or its beginning is damaged.",
        "Restore it from a backup, or move it away; a new one is made in its place.",
    )


def already_open(path: Path, version: str) -> Fault:
    """Return the fault of a second process where SQLite cannot bear one."""
    return unavailable(
        f"The store {path} is open in another process, and one of the two has an SQLite that can "
        f"damage a file that several processes share (here: {version}; safe from 3.51.3 on).",
        "Stop the other process, or install the pysqlite3 package for both of them.",
    )


def not_lasting(path: Path, mode: str) -> Fault:
    """Return the fault of a file system on which SQLite cannot keep a write-ahead log."""
    return final(
        f"The store {path} cannot keep a write-ahead log (SQLite offers {mode!r} instead).",
        "Keep it on a local disk: choose another folder with HEADWAY_HOME.",
    )

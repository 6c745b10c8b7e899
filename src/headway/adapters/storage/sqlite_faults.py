"""What SQLite and the file system may answer instead of serving, in words and with a way out."""

import errno
import sqlite3
from pathlib import Path
from typing import Final

from headway.domain.errors import Fault, SessionNotHealthy, StoreUnavailable

_NOT_PERMITTED: Final = "Give this user the right to write the folder and its files"
_NO_SPACE: Final = "Free some space on that disk, then repeat the call; nothing recorded was lost."


def driver_fault(error: BaseException, path: Path) -> Fault:
    """Return the fault that a driver's error stands for."""
    if isinstance(error, UnicodeDecodeError):
        return _damaged("a name or text in it is not UTF-8", path)
    code = getattr(error, "sqlite_errorcode", None)
    match code & 0xFF if isinstance(code, int) else None:  # the primary code of an extended one
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return _unavailable(
                f"The store {path} is locked by another process.",
                "Repeat the call; if it goes on, look for a program that holds the file open.",
                retry_after_ms=250,
            )
        case sqlite3.SQLITE_FULL:
            return _unavailable(f"There is no room left for the store {path}.", _NO_SPACE)
        case sqlite3.SQLITE_PERM | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN:
            return _unavailable(
                f"The store {path} cannot be opened for writing ({error}).",
                f"{_NOT_PERMITTED}, or choose another folder with HEADWAY_HOME.",
            )
        case sqlite3.SQLITE_NOTADB:
            return not_a_store(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_CONSTRAINT:
            return _damaged(str(error), path)
        case _:
            return _unavailable(
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
        return _unavailable(f"There is no room left for the store {path}.", _NO_SPACE)
    return _unavailable(
        f"The store {path} cannot be opened: {reason}.",
        f"{_NOT_PERMITTED}, or choose another folder with HEADWAY_HOME.",
    )


def not_a_store(path: Path) -> Fault:
    """Return the fault of a file that holds something else."""
    return _final(
        f"The file {path} is not a Headway store, or its beginning is damaged.",
        "Restore it from a backup, or move it away; a new one is made in its place.",
    )


def newer_store(path: Path, found: str, known: int) -> Fault:
    """Return the fault of a store that a later version of Headway has written."""
    return _final(
        f"The store {path} has schema version {found}; this Headway knows up to {known}.",
        "Update Headway to the version that wrote it, or a later one.",
    )


def already_open(path: Path, version: str) -> Fault:
    """Return the fault of a second process where SQLite cannot bear one."""
    return _unavailable(
        f"The store {path} is open in another process, and one of the two has an SQLite that can "
        f"damage a file that several processes share (here: {version}; safe from 3.51.3 on).",
        "Stop the other process, or install the pysqlite3 package for both of them.",
    )


def not_lasting(path: Path, mode: str) -> Fault:
    """Return the fault of a file system on which SQLite cannot keep a write-ahead log."""
    return _final(
        f"The store {path} cannot keep a write-ahead log (SQLite offers {mode!r} instead).",
        "Keep it on a local disk: choose another folder with HEADWAY_HOME.",
    )


def closed(path: Path) -> Fault:
    """Return the fault of a call after the store was closed."""
    return _final(f"The store {path} is closed.", "Restart Headway; it was stopping.")


def too_busy(path: Path, seconds: int) -> Fault:
    """Return the fault of a call that waited too long for its turn."""
    return _unavailable(
        f"The store {path} has been writing for other calls for {seconds} seconds.",
        "Repeat the call; nothing of it was kept.",
    )


def cut_off(path: Path) -> Fault:
    """Return the fault of a write whose commit, made by another call, was interrupted."""
    return _unavailable(
        f"Another call that was writing to the store {path} for this one was interrupted.",
        "Repeat the call: what was recorded is answered again, never applied twice.",
    )


def _damaged(problem: str, path: Path) -> Fault:
    return SessionNotHealthy(
        f"The store {path} is damaged where this call read or wrote it: {problem}.",
        remedy="Nothing was changed. Restore the file from a backup; sessions kept in sound parts "
        "of it go on working.",
        details={"kind": "damaged_store"},
    )


def _unavailable(
    message: str, remedy: str, retry_after_ms: int | None = StoreUnavailable.retry_after_ms
) -> Fault:
    fault: Fault = StoreUnavailable(message, remedy=remedy)
    fault.retry_after_ms = retry_after_ms
    return fault


def _final(message: str, remedy: str) -> Fault:
    """Return a fault that repeating the call will not cure."""
    return _unavailable(message, remedy, retry_after_ms=None)

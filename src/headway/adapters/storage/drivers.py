"""SQLite's driver: which module serves, and whether its SQLite is safe with several connections.

SQLite before 3.51.3 can corrupt a WAL file when one connection writes while another resets the log.
`pysqlite3` brings a newer one where it has a wheel; elsewhere the standard library's is used, and
an affected one is kept to a single connection in a single process.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType, NoneType
from typing import Final, Protocol

from headway.adapters.storage.database import Cursor, SqlValue

try:
    import pysqlite3.dbapi2 as pysqlite3  # type: ignore[import-not-found, unused-ignore]  # no wheel everywhere
except ImportError:
    pysqlite3 = None

SAFE_VERSION: Final = (3, 51, 3)


class DriverCursor(Cursor, Protocol):
    """A cursor that can be told that nobody uses it any more."""

    def close(self) -> None:
        """Let go of its statement."""


class DriverConnection(Protocol):
    """The part of a driver's connection that is used."""

    text_factory: Callable[[bytes], object]

    @property
    def in_transaction(self) -> bool:
        """Tell whether a transaction is open."""

    def execute(self, sql: str, values: Sequence[SqlValue] = (), /) -> Cursor:
        """Run one statement on a cursor of its own."""

    def cursor(self) -> DriverCursor:
        """Return a cursor."""

    def rollback(self) -> None:
        """Undo the open transaction."""

    def close(self) -> None:
        """Close the connection."""


def text_or_bytes(stored: bytes) -> str | bytes:
    """Return a stored text; the bytes of one that is damaged."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


@dataclass(frozen=True, slots=True)
class Driver:
    """A DB-API module and the version of the SQLite in it."""

    module: ModuleType
    version: tuple[int, ...]

    @property
    def shares_files(self) -> bool:
        """Tell whether several connections may have one file open."""
        return self.version >= SAFE_VERSION

    @property
    def error(self) -> type[Exception]:
        """The root of the module's errors."""
        error: type[Exception] = self.module.Error
        return error


def driver_of(module: ModuleType) -> Driver:
    """Return a DB-API module as a driver."""
    # It asks each value but numbers and texts how it wants to be stored, and takes a microsecond
    # over it. Registered, these two are asked at once: they are stored as they are.
    module.register_adapter(bytes, bytes)
    module.register_adapter(NoneType, lambda nothing: nothing)
    return Driver(module, tuple(module.sqlite_version_info))


def best_driver() -> Driver:
    """Return the driver with the newer SQLite."""
    own = driver_of(sqlite3)
    if pysqlite3 is None:
        return own
    return max(own, driver_of(pysqlite3), key=lambda driver: driver.version)

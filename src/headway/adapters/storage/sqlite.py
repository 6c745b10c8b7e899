"""The store in an SQLite file.

Laws.
1. A write that returned is on the disk: WAL with `synchronous=FULL`, one BEGIN IMMEDIATE a write.
2. A write that raised left nothing behind.
3. Several processes may have the file open, where their SQLite bears it (see `drivers.py`); they
   queue for the write lock, each at most BUSY_TIMEOUT_MS.

Theory of operation. One connection writes, guarded by a lock. Reads take an idle connection or open
another, so they never wait for a write. An SQLite that must be alone reads through the writing one.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from headway.adapters.storage.database import Cursor
from headway.adapters.storage.drivers import Driver, DriverConnection, best_driver
from headway.adapters.storage.keyring import SqlKeyring
from headway.adapters.storage.ledger import SqlLedger
from headway.adapters.storage.sessions import SqlSessions
from headway.adapters.storage.sources import SqlSources
from headway.adapters.storage.sqlite_faults import closed, driver_fault, not_lasting, too_busy
from headway.adapters.storage.sqlite_file import Guard
from headway.adapters.storage.sqlite_schema import known_ledger, make_ledger
from headway.adapters.storage.store import Store
from headway.ports.clock import Clock, Entropy

T = TypeVar("T")

BUSY_TIMEOUT_MS: Final = 10_000
WRITER_WAIT_SECONDS: Final = 30
WAL_BYTES_MAX: Final = 64 << 20  # kept of the log after a checkpoint
STATEMENTS_CACHED_MAX: Final = 256


def open_sqlite(
    path: Path,
    clock: Clock,
    entropy: Entropy,
    *,
    driver: Driver | None = None,
    pages_max: int | None = None,
) -> Store:
    """Open the store in a file, made if it is not there; `pages_max` limits how large it may grow.

    Raises StoreUnavailable when it cannot be opened, or is not of a version this program knows.
    """
    database = SqliteDatabase(path, driver or best_driver(), pages_max)
    try:
        ledger_id = database.query(lambda core: known_ledger(core, path)) or database.define(
            lambda core: make_ledger(core, path, entropy)
        )
    except BaseException:
        database.close()
        raise
    return Store(
        ledger_id=ledger_id,
        ledger=SqlLedger(database, clock),
        sessions=SqlSessions(database),
        keyring=SqlKeyring(database, entropy),
        sources=SqlSources(database),
        close=database.close,
    )


class SqliteDatabase:
    """Implements `database.Database` on one file; threads may share it."""

    def __init__(self, path: Path, driver: Driver, pages_max: int | None = None) -> None:
        self._path = path
        self._driver = driver
        self._errors: tuple[type[Exception], ...] = (driver.error, DBAPIError)
        self._engine = create_engine(
            "sqlite://", module=driver.module, creator=self._connect, poolclass=NullPool
        )
        self._turn = threading.Lock()
        self._idle: list[Connection] = []
        self._closed = threading.Event()
        self._guard = Guard(path, driver)
        try:
            with self._told():
                self._writer = self._open(pages_max)
        except BaseException:
            self._guard.release()
            raise

    def write(self, work: Callable[[Cursor], T]) -> T:
        """Run work as one durable transaction; when it raises, nothing of it was kept."""
        with self._own_turn(), self._told():
            raw = _raw(self._writer)
            cursor = raw.cursor()
            try:
                cursor.execute("BEGIN IMMEDIATE")
                result = work(cursor)
                cursor.execute("COMMIT")
            except BaseException:
                if raw.in_transaction:
                    raw.rollback()
                raise
            return result

    def define(self, work: Callable[[Connection], T]) -> T:
        """Run work that changes the tables with SQLAlchemy Core, as one durable transaction."""
        with self._own_turn(), self._told():
            _raw(self._writer).execute("BEGIN IMMEDIATE")
            with self._writer.begin():  # ends what was just begun
                return work(self._writer)

    def read(self, work: Callable[[Cursor], T]) -> T:
        """Run work that only reads. Each statement sees one state of the database."""
        with self._told(), self._reader() as reader:
            return work(_raw(reader).cursor())

    def query(self, work: Callable[[Connection], T]) -> T:
        """Run work that only reads, with SQLAlchemy Core."""
        with self._told(), self._reader() as reader, reader.begin():
            return work(reader)

    def close(self) -> None:
        """Close every connection, each as its work ends; closing twice changes nothing."""
        with self._turn:
            if self._closed.is_set():
                return
            self._closed.set()
            self._close_idle()
            self._writer.close()
            self._guard.release()

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=WRITER_WAIT_SECONDS):
            raise too_busy(self._path, WRITER_WAIT_SECONDS)
        try:
            if self._closed.is_set():
                raise closed(self._path)
            yield
        finally:
            self._turn.release()

    @contextmanager
    def _reader(self) -> Iterator[Connection]:
        if not self._driver.shares_files:
            with self._own_turn():
                yield self._writer
            return
        if self._closed.is_set():
            raise closed(self._path)
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = self._open()
        try:
            yield reader
        finally:
            self._idle.append(reader)
            if self._closed.is_set():  # meanwhile
                self._close_idle()

    def _close_idle(self) -> None:
        with suppress(IndexError):  # whoever takes a connection out is the one to close it
            while True:
                self._idle.pop().close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what the driver raises into a fault."""
        try:
            yield
        except self._errors as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise driver_fault(cause or error, self._path) from error

    def _open(self, pages_max: int | None = None) -> Connection:
        connection = self._engine.connect()
        if pages_max is not None:
            _raw(connection).execute(f"PRAGMA max_page_count = {pages_max:d}")
        return connection

    def _connect(self) -> DriverConnection:
        raw: DriverConnection = self._driver.module.connect(
            str(self._path),
            timeout=BUSY_TIMEOUT_MS / 1_000,
            isolation_level=None,  # the driver begins nothing by itself
            check_same_thread=False,  # one thread at a time has it, not always the same
            cached_statements=STATEMENTS_CACHED_MAX,
        )
        try:
            self._set_up(raw)
        except BaseException:
            raw.close()
            raise
        return raw

    def _set_up(self, raw: DriverConnection) -> None:
        found = raw.execute("PRAGMA journal_mode = WAL").fetchone()
        if found is None or found[0] != "wal":
            raise not_lasting(self._path, str(found))
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_MAX}")


def _raw(connection: Connection) -> DriverConnection:
    raw: DriverConnection | None = connection.connection.driver_connection
    assert raw is not None
    return raw

"""The store in an SQLite file.

Laws.
1. A write that returned is on the disk: WAL with `synchronous=FULL`, one BEGIN IMMEDIATE for it, or
   for the writes that came at once (`group_commit.py`).
2. A write that raised left nothing behind.
3. Several processes may have the file open, where their SQLite bears it (see `drivers.py`); they
   queue for the write lock, each at most BUSY_TIMEOUT_MS milliseconds.

Theory of operation. One connection writes, behind a queue. Reads take an idle connection or open
another, so they never wait for a write. An SQLite that must be alone reads through the writing one.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from headway.adapters.storage.custody import SqlCustody
from headway.adapters.storage.database import Cursor
from headway.adapters.storage.drivers import Driver, DriverConnection, best_driver
from headway.adapters.storage.group_commit import (
    WAIT_SECONDS,
    Abandoned,
    Closed,
    GroupCommit,
    Job,
    Overloaded,
)
from headway.adapters.storage.keyring import SqlKeyring
from headway.adapters.storage.ledger import SqlLedger
from headway.adapters.storage.queue import SqlQueue
from headway.adapters.storage.records import SqlRecords
from headway.adapters.storage.schema import Place, known_ledger, make_ledger
from headway.adapters.storage.search import Search
from headway.adapters.storage.search_sqlite import FtsIndex
from headway.adapters.storage.sessions import SqlSessions
from headway.adapters.storage.sources import SqlSources
from headway.adapters.storage.sqlite_faults import driver_fault, is_busy, not_a_store, not_lasting
from headway.adapters.storage.sqlite_file import Guard
from headway.adapters.storage.store import Store
from headway.adapters.storage.store_faults import closed, cut_off, too_busy
from headway.ports.clock import Clock, Entropy

T = TypeVar("T")

BUSY_TIMEOUT_MS: Final = 10_000
MODE_RETRY_MS: Final = 10
WAL_BYTES_MAX: Final = 64 << 20  # kept of the log after a checkpoint
STATEMENTS_CACHED_MAX: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteOptions:
    """How a file is opened; `pages_max` limits how large it may grow."""

    driver: Driver = field(default_factory=best_driver)
    pages_max: int | None = None
    busy_timeout_ms: int = BUSY_TIMEOUT_MS


def open_sqlite(
    path: Path,
    clock: Clock,
    entropy: Entropy,
    options: SqliteOptions | None = None,
) -> Store:
    """Open the store in a file, made if it is not there.

    Raises StoreUnavailable when it cannot be opened, or is not of a version this program knows.
    """
    database = SqliteDatabase(path, options or SqliteOptions())
    try:
        place = Place(str(path), not_a_store(path))
        search = Search(database, FtsIndex())
        ledger_id = database.query(lambda core: known_ledger(core, place))
        if ledger_id is None:
            ledger_id = database.define(lambda core: make_ledger(core, place, entropy))
            search.fold()  # what a migration left waiting
    except BaseException:
        database.close()
        raise
    return Store(
        ledger_id=ledger_id,
        ledger=SqlLedger(database, clock, search),
        sessions=SqlSessions(database, search),
        keyring=SqlKeyring(database, entropy),
        sources=SqlSources(database),
        records=SqlRecords(database, search),
        custody=SqlCustody(database, search),
        queue=SqlQueue(database, clock),
        close=database.close,
    )


class _Undone(Exception):
    """One of several writes raised, so all of them are undone and begun anew."""


class SqliteDatabase:
    """Implements `database.Database` on one file; threads may share it."""

    def __init__(self, path: Path, options: SqliteOptions) -> None:
        driver = options.driver
        self._path = path
        self._options = options
        # A damaged file makes the driver stumble over its own message.
        self._errors = (driver.error, DBAPIError, UnicodeDecodeError)
        self._engine = create_engine(
            "sqlite://", module=driver.module, creator=self._connect, poolclass=NullPool
        )
        self._turn = threading.Lock()
        self._queue = GroupCommit(self._together)
        self._idle: list[Connection] = []
        self._closed = threading.Event()
        self._guard = Guard(path, driver)
        try:
            with self._told():
                self._writer = self._engine.connect()
        except BaseException:
            self._guard.release()
            raise

    def write(self, work: Callable[[Cursor], T]) -> T:
        """Run work as one durable write; when it raises, nothing of it was kept."""
        try:
            with self._told():
                return self._queue.write(self._alone, work)
        except Closed as error:
            raise closed(self._path) from error
        except Overloaded as error:
            raise too_busy(self._path, WAIT_SECONDS) from error
        except Abandoned as error:
            raise cut_off(self._path) from error

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
        self._queue.close()
        with self._turn:
            if self._closed.is_set():
                return
            self._closed.set()
            self._close_idle()
            self._writer.close()
            self._guard.release()

    def _alone(self, work: Callable[[Cursor], T]) -> T:
        with self._transaction() as cursor:
            return work(cursor)

    def _together(self, jobs: Sequence[Job[object]]) -> None:
        """Run several writes in one transaction; one that raises is undone by itself."""
        if not self._all_kept(jobs):
            self._each_kept(jobs)

    def _all_kept(self, jobs: Sequence[Job[object]]) -> bool:
        """Run them without savepoints, which would cost a third; keep all of them or none."""
        with suppress(_Undone), self._transaction() as cursor:
            if not all(job.run(cursor) for job in jobs):
                raise _Undone
            return True
        return False

    def _each_kept(self, jobs: Sequence[Job[object]]) -> None:
        with self._transaction() as cursor:
            for job in jobs:
                cursor.execute("SAVEPOINT one")
                if not job.run(cursor):
                    if not _raw(self._writer).in_transaction:
                        job.result()  # raises: out of space and the like, SQLite undoes everything
                    cursor.execute("ROLLBACK TO one")
                cursor.execute("RELEASE one")

    @contextmanager
    def _transaction(self) -> Iterator[Cursor]:
        with self._own_turn():
            raw = _raw(self._writer)
            cursor = raw.cursor()
            try:
                cursor.execute("BEGIN IMMEDIATE")
                yield cursor
                self._guard.check()
                cursor.execute("COMMIT")
            except BaseException:
                if raw.in_transaction:
                    raw.rollback()
                raise

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=WAIT_SECONDS):
            raise too_busy(self._path, WAIT_SECONDS)
        try:
            if self._closed.is_set():
                raise closed(self._path)
            yield
        finally:
            self._turn.release()

    @contextmanager
    def _reader(self) -> Iterator[Connection]:
        if not self._options.driver.shares_files:
            with self._own_turn():
                yield self._writer
            return
        if self._closed.is_set():
            raise closed(self._path)
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = self._engine.connect()
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

    def _connect(self) -> DriverConnection:
        self._guard.check()
        raw: DriverConnection = self._options.driver.module.connect(
            str(self._path),
            timeout=self._options.busy_timeout_ms / 1_000,
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
        mode = self._log_ahead(raw)
        if mode != "wal":
            raise not_lasting(self._path, mode)
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_MAX}")
        if self._options.pages_max is not None:
            raw.execute(f"PRAGMA max_page_count = {self._options.pages_max:d}")

    def _log_ahead(self, raw: DriverConnection) -> str:
        """Have the file keep a write-ahead log and return the mode it is in.

        SQLite waits for nobody here, though another process may be making the same file.
        """
        for left in reversed(range(self._options.busy_timeout_ms // MODE_RETRY_MS + 1)):
            try:
                found = raw.execute("PRAGMA journal_mode = WAL").fetchone()
            except self._options.driver.error as error:
                if not left or not is_busy(error):
                    raise
                time.sleep(MODE_RETRY_MS / 1_000)
            else:
                return str(found[0]) if found else ""
        return ""


def _raw(connection: Connection) -> DriverConnection:
    raw: DriverConnection | None = connection.connection.driver_connection
    assert raw is not None
    return raw

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
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from headway.adapters.storage.bells import FileBell
from headway.adapters.storage.custody import SqlCustody
from headway.adapters.storage.database import Cursor
from headway.adapters.storage.drivers import (
    Driver,
    DriverConnection,
    best_driver,
    text_or_bytes,
)
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
from headway.adapters.storage.opening import ledger_in
from headway.adapters.storage.queue import SqlQueue
from headway.adapters.storage.records import SqlRecords
from headway.adapters.storage.schema import SQLITE_TABLES, Place
from headway.adapters.storage.search import Search
from headway.adapters.storage.search_sqlite import FtsIndex
from headway.adapters.storage.sessions import SqlSessions
from headway.adapters.storage.sources import SqlSources
from headway.adapters.storage.sqlite_faults import driver_fault, is_busy, not_a_store, not_lasting
from headway.adapters.storage.sqlite_file import Guard
from headway.adapters.storage.store import Store
from headway.adapters.storage.store_faults import closed, cut_off, too_busy
from headway.ports.clock import Clock, Entropy

if TYPE_CHECKING:  # imported by what makes tables alone
    from sqlalchemy import Connection

T = TypeVar("T")

BUSY_TIMEOUT_MS: Final = 10_000
MODE_RETRY_MS: Final = 10
WAL_BYTES_MAX: Final = 64 << 20  # kept of the log after a checkpoint
# The commit that fills so many pages of the log moves them into the file: one advance in some 300.
WAL_PAGES: Final = 4_000
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
        place = Place(str(path), SQLITE_TABLES, not_a_store(path))
        search = Search(database, FtsIndex())
        ledger_id = ledger_in(database, place, search, entropy)
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
        bell=lambda: FileBell(path),
        close=database.close,
        together=database.together,
    )


class _Undone(Exception):
    """One of several writes raised, so all of them are undone and begun anew."""


class SqliteDatabase:
    """Implements `database.Database` on one file; threads may share it."""

    def __init__(self, path: Path, options: SqliteOptions) -> None:
        driver = options.driver
        self._path = path
        self._options = options
        self._told = _Told(path, driver)
        self._turn = threading.Lock()
        self._closed = threading.Event()
        self._queue = GroupCommit(self._as_one)
        self._idle: list[DriverConnection] = []
        self._guard = Guard(path, driver)
        try:
            with self._told:
                self._writer = self._connect()
        except BaseException:
            self._guard.release()
            raise

    def write(self, work: Callable[[Cursor], T]) -> T:
        """Run work as one durable write; when it raises, nothing of it was kept."""
        try:
            with self._told:
                return self._queue.write(self._in_transaction, work)
        except Closed as error:
            raise closed(self._path) from error
        except Overloaded as error:
            raise too_busy(self._path, WAIT_SECONDS) from error
        except Abandoned as error:
            raise cut_off(self._path) from error

    def together(self, calls: Sequence[Callable[[], None]]) -> None:
        """Make calls in this thread whose writes share commits; see `ports.together`."""
        self._queue.together(calls)

    def define(self, work: "Callable[[Connection], T]") -> T:
        """Run work that changes the tables with SQLAlchemy Core, as one durable transaction."""
        from headway.adapters.storage.making import core_over

        raw, module = self._writer, self._options.driver.module
        with self._own_turn(), self._told, core_over(raw, "sqlite://", module=module) as core:
            raw.execute("BEGIN IMMEDIATE")
            with core.begin():  # ends what was just begun
                return work(core)

    def read(self, work: Callable[[Cursor], T]) -> T:
        """Run work that only reads. Each statement sees one state of the database."""
        with self._told, self._reader() as reader, closing(reader.cursor()) as cursor:
            return work(cursor)

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

    def _as_one(self, jobs: Sequence[Job[object]]) -> None:
        """Run several writes in one transaction; one that raises is undone by itself."""
        if not self._all_kept(jobs):
            self._each_kept(jobs)

    def _all_kept(self, jobs: Sequence[Job[object]]) -> bool:
        """Run them without savepoints, which would cost a third; keep all of them or none."""

        def work(cursor: Cursor) -> None:
            if not all(job.run(cursor) for job in jobs):
                raise _Undone

        try:
            self._in_transaction(work)
        except _Undone:
            return False
        return True

    def _each_kept(self, jobs: Sequence[Job[object]]) -> None:
        def work(cursor: Cursor) -> None:
            for job in jobs:
                cursor.execute("SAVEPOINT one")
                if not job.run(cursor):
                    if not self._writer.in_transaction:
                        job.result()  # raises: out of space and the like, SQLite undoes everything
                    cursor.execute("ROLLBACK TO one")
                cursor.execute("RELEASE one")

        self._in_transaction(work)

    def _in_transaction(self, work: Callable[[Cursor], T]) -> T:
        self._take_turn()
        try:
            raw = self._writer
            cursor = raw.cursor()
            try:
                cursor.execute("BEGIN IMMEDIATE")
                result = work(cursor)
                self._guard.check()
                cursor.execute("COMMIT")
            except BaseException:
                if raw.in_transaction:
                    raw.rollback()
                raise
            finally:
                # An error keeps it alive in its traceback. Freed later, in whatever thread, it
                # would reset a statement that another cursor of this connection uses by then.
                cursor.close()
        finally:
            self._turn.release()
        return result

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        self._take_turn()
        try:
            yield
        finally:
            self._turn.release()

    def _take_turn(self) -> None:
        if not self._turn.acquire(timeout=WAIT_SECONDS):
            raise too_busy(self._path, WAIT_SECONDS)
        if self._closed.is_set():
            self._turn.release()
            raise closed(self._path)

    @contextmanager
    def _reader(self) -> Iterator[DriverConnection]:
        if not self._options.driver.shares_files:
            with self._own_turn():
                yield self._writer
            return
        if self._closed.is_set():
            raise closed(self._path)
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = self._connect()
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
        raw.text_factory = text_or_bytes
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_MAX}")
        raw.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
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


class _Told:
    """A stretch of work in which what the driver raises becomes a fault; there is one for all."""

    def __init__(self, path: Path, driver: Driver) -> None:
        self._path = path
        # A damaged file makes the driver stumble over its own message.
        self._errors = (driver.error, UnicodeDecodeError)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, self._errors):
            raise driver_fault(error, self._path) from error

"""The store in a PostgreSQL database.

Laws.
1. A write that returned is committed, and the commit is on the server's disk. The server groups the
   commits of its clients itself, so each write has a connection and a transaction of its own.
2. A write that raised left nothing behind.
3. A connection lost before the commit was sent costs nothing: the write begins anew. One lost in
   mid-commit is followed up: when the server has ended that transaction, what it kept is read
   back. Only a server that stays away leaves the outcome open, and the fault says so.
4. A server that says nothing any more counts as one that is lost (`postgres_driver.py`).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from headway.adapters.storage import custody_statements
from headway.adapters.storage.custody import SqlCustody
from headway.adapters.storage.database import Checked, Cursor
from headway.adapters.storage.keyring import SqlKeyring
from headway.adapters.storage.ledger import SqlLedger
from headway.adapters.storage.opening import ledger_in
from headway.adapters.storage.postgres_bell import PostgresBell
from headway.adapters.storage.postgres_driver import PlainCursor, Raw, connect
from headway.adapters.storage.postgres_faults import (
    not_an_address,
    not_unicode,
    other_tables,
    outcome_unknown,
    server_fault,
)
from headway.adapters.storage.queue import SqlQueue
from headway.adapters.storage.queue_statements import MANY_WRITERS
from headway.adapters.storage.records import SqlRecords
from headway.adapters.storage.schema import POSTGRES_TABLES, Place
from headway.adapters.storage.search import Search
from headway.adapters.storage.search_postgres import TsvectorIndex
from headway.adapters.storage.sessions import SqlSessions
from headway.adapters.storage.sources import SqlSources
from headway.adapters.storage.store import Store
from headway.adapters.storage.store_faults import closed, too_busy
from headway.domain.errors import Fault
from headway.ports.clock import Clock, Entropy

if TYPE_CHECKING:  # imported by what makes tables alone
    from sqlalchemy import Connection

T = TypeVar("T")

CONNECTIONS_MAX: Final = 16
WAIT_SECONDS: Final = 30
TRIES_MAX: Final = 4
RETURN_SECONDS_MAX: Final = 10  # how long a server that went away is waited for
RETURN_LOOK_SECONDS: Final = 0.05
HOLD_SCHEMA: Final = "SELECT pg_advisory_xact_lock(7238110, hashtext(current_schema()))"
WHO_AM_I: Final = (
    "SELECT pid, backend_start::text, current_setting('server_encoding')"
    " FROM pg_stat_activity WHERE pid = pg_backend_pid()"
)
END_BACKEND: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid = ? AND backend_start = ?::timestamptz"
)


def open_postgres(url: str, clock: Clock, entropy: Entropy) -> Store:
    """Open the store at an address; its tables are made if they are not there.

    Raises StoreUnavailable when it cannot be opened, or is not of a version this program knows.
    """
    database = PostgresDatabase(url)
    try:
        place = Place(database.place, POSTGRES_TABLES, other_tables(database.place))
        search = Search(database, TsvectorIndex())
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
        custody=SqlCustody(database, search, custody_statements.HOLD_BLOBS),
        queue=SqlQueue(database, clock, MANY_WRITERS),
        bell=lambda: PostgresBell(url),
        close=database.close,
    )


class _Lost(Exception):
    """A transaction ended before its commit; nothing of it was kept and it may begin anew."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A connection, and the process that serves it."""

    raw: Raw
    pid: int
    since: str


class PostgresDatabase:
    """Implements `database.Database` on one address; threads may share it."""

    def __init__(self, url: str) -> None:
        """Take the address; nothing is connected yet. Raises StoreUnavailable."""
        try:
            parts = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise not_an_address() from None  # its message repeats the address
        host = parts.get("host") or parts.get("hostaddr") or "the local server"
        self.place: Final = f"{parts.get('dbname') or parts.get('user') or 'database'} on {host}"
        self._url = url
        self._secret = str(parts.get("password") or "")
        self._free = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._idle: list[_Line] = []
        self._closed = threading.Event()

    def write(self, work: Callable[[Cursor], T]) -> T:
        """Run work as one durable transaction; when it raises, nothing of it was kept."""
        for left in reversed(range(TRIES_MAX)):
            try:
                return self._write_once(work)
            except _Lost as lost:
                if not left:
                    raise self._fault(lost.__cause__ or lost) from lost
        raise AssertionError

    def define(self, work: "Callable[[Connection], T]") -> T:
        """Run work that changes the tables with SQLAlchemy Core, one process at a time."""
        from headway.adapters.storage.making import core_over

        url, plain = "postgresql+psycopg://", {"use_native_hstore": False}
        with (
            self._told(),
            self._line() as line,
            line.raw.patient(),
            core_over(line.raw, url, isolation_level="AUTOCOMMIT", **plain) as core,
        ):
            line.raw.execute("BEGIN")
            line.raw.execute(HOLD_SCHEMA)
            with core.begin():  # ends what was just begun
                return work(core)

    def read(self, work: Callable[[Cursor], T]) -> T:
        """Run work that only reads. Each statement sees one state of the database."""

        def reading(line: _Line) -> T:
            cursor = PlainCursor(line.raw)
            try:
                return work(cursor)
            finally:
                cursor.settle()  # what was set for a statement is set back, also after a failure

        return self._reading(reading)

    def close(self) -> None:
        """Close every connection, each as its work ends; closing twice changes nothing."""
        self._closed.set()
        self._close_idle()

    def _reading(self, work: Callable[[_Line], T]) -> T:
        """Read; a connection that turns out to be dead is replaced by a fresh one."""
        for left in reversed(range(TRIES_MAX)):
            with self._told():
                try:
                    with self._line() as line:
                        return work(line)
                except psycopg.OperationalError as error:
                    if not left or not _is_lost(error):
                        raise
        raise AssertionError

    def _write_once(self, work: Callable[[Cursor], T]) -> T:
        with self._told(), self._line() as line:
            try:
                cursor = PlainCursor(line.raw)
                cursor.execute("BEGIN")
                result = work(cursor)
            except BaseException as error:
                with suppress(psycopg.Error):
                    line.raw.rollback()
                if _is_lost(error) or isinstance(error, psycopg.errors.TransactionRollback):
                    raise _Lost from error
                raise
            try:
                cursor.execute("COMMIT")
                cursor.settle()  # with all that still waits
            except psycopg.Error as error:
                if not line.raw.closed:  # refused by the server
                    with suppress(psycopg.Error):
                        line.raw.rollback()
                    if isinstance(error, psycopg.errors.TransactionRollback):
                        raise _Lost from error
                    raise
                if self._was_kept(line, work, result):
                    return result
                raise _Lost from error
            assert cursor.told == "COMMIT", "a statement failed and its error was swallowed"
            return result

    def _was_kept(self, lost: _Line, work: Callable[[Cursor], T], result: T) -> bool:
        """Find out what became of a transaction whose connection was lost in mid-commit."""
        deadline = time.monotonic() + RETURN_SECONDS_MAX
        while time.monotonic() < deadline:
            # Beside the others: all of them may be waiting here, and hold every line there may be.
            with suppress(psycopg.OperationalError), connect(self._url) as raw:
                cursor = PlainCursor(raw)
                cursor.execute(END_BACKEND, (lost.pid, lost.since))
                if cursor.fetchone() is None:  # its process is gone, so its fate is sealed
                    return isinstance(work, Checked) and work.kept(cursor, result)
            time.sleep(RETURN_LOOK_SECONDS)
        raise outcome_unknown(self.place)

    @contextmanager
    def _line(self) -> Iterator[_Line]:
        if self._closed.is_set():
            raise closed(self.place)
        if not self._free.acquire(timeout=WAIT_SECONDS):
            raise too_busy(self.place, WAIT_SECONDS)
        try:
            line = self._take()
            try:
                yield line
            except BaseException:
                if line.raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    line.raw.close()
                raise
            finally:
                self._give_back(line)
        finally:
            self._free.release()

    def _take(self) -> _Line:
        with suppress(IndexError):
            while True:
                line = self._idle.pop()
                if not line.raw.closed:
                    return line
        raw = connect(self._url)
        row = raw.execute(WHO_AM_I).fetchone()
        assert row is not None
        pid, since, encoding = row
        if encoding != "UTF8":
            raw.close()
            raise not_unicode(self.place, str(encoding))
        return _Line(raw, int(str(pid)), str(since))

    def _give_back(self, line: _Line) -> None:
        if line.raw.closed:  # a server that cut one line has as a rule cut all of them
            self._close_idle()
            return
        self._idle.append(line)
        if self._closed.is_set():  # meanwhile
            self._close_idle()

    def _close_idle(self) -> None:
        with suppress(IndexError):  # whoever takes a connection out is the one to close it
            while True:
                self._idle.pop().raw.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what the driver raises into a fault."""
        try:
            yield
        except psycopg.Error as error:
            raise self._fault(error) from error

    def _fault(self, error: BaseException) -> Fault:
        return server_fault(error, self.place, self._secret)


def _is_lost(error: BaseException) -> bool:
    """Tell whether the line to the server is down: there is no code, or one of its going away."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith("57P")

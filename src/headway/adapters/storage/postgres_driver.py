"""PostgreSQL's driver: how a connection is made, and how our plain SQL and texts pass through it.

PostgreSQL keeps no NUL in a text. What a person or an agent sent may hold one, so it is escaped on
the way in and put back on the way out; two texts that differ still differ when escaped.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format
from psycopg.types.string import StrDumper

from headway.adapters.storage.database import Row, SqlValue

T = TypeVar("T")

CONNECT_SECONDS: Final = 10
LOOK_SECONDS: Final = 0.1  # between looks, while an answer is awaited, for a Ctrl-C
# Longer than the server waits for a lock, and than any statement of ours but those that make tables
# takes. A server that is stopped, or whose disk hangs, keeps its line alive and says nothing.
ANSWER_SECONDS_MAX: Final = 120.0
ESCAPE: Final = "\x1a"
_ESCAPED: Final = (("\x1a", "\x1a1"), ("\0", "\x1a0"))

# What a connection is made with unless the address says otherwise: a dead line is found out.
_DEFAULTS: Final = {
    "application_name": "headway",
    "connect_timeout": str(CONNECT_SECONDS),
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}

# A commit is on the disk when it returns, and nobody waits for a lock for ever. No statement of
# ours is long enough to be worth compiling, which takes PostgreSQL a fifth of a second.
_SET_UP: Final = (
    "SET jit = off;"
    "SET client_encoding = 'UTF8';"
    "SET default_transaction_isolation = 'read committed';"
    "SET lock_timeout = '30s';"
    "SET idle_in_transaction_session_timeout = '60s';"
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') = 'off'"
)


class Raw(psycopg.Connection[tuple[object, ...]]):
    """A connection that hangs up on a server from which no answer comes."""

    _is_patient = False

    def wait(
        self, gen: PQGen[T], interval: float = LOOK_SECONDS, timeout: float | None = None
    ) -> T:
        """Wait for an answer. Raises OperationalError, without a code, when none came in time."""
        if timeout is None and not self._is_patient:
            timeout = ANSWER_SECONDS_MAX
        began = time.monotonic()
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.OperationalError as error:
            if timeout is None or error.sqlstate or time.monotonic() - began < timeout:
                raise
            self.pgconn.finish()  # the server's answer, if it ever came, would be taken for another
            raise psycopg.OperationalError(
                f"the server did not answer within {timeout:g} seconds"
            ) from error

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Wait for as long as it takes, in here."""
        self._is_patient = True
        try:
            yield
        finally:
            self._is_patient = False


class PlainCursor:
    """Implements `database.Cursor` on a cursor of the driver.

    Statements wait until something is asked of the last of them, or until `settle`; then all that
    wait go to the server together and cost one journey there and back. So what the server has
    against a statement is raised when it is settled, no later than at the commit.
    """

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self._own = raw.cursor(binary=True)
        self._waiting: list[tuple[bytes, Sequence[SqlValue] | None]] = []

    @property
    def rowcount(self) -> int:
        """Return the number of rows the last statement changed."""
        self.settle()
        return self._own.rowcount

    @property
    def told(self) -> str | None:
        """Return what the server says it did."""
        self.settle()
        return self._own.statusmessage

    def execute(self, sql: str, values: Sequence[SqlValue] = (), /) -> object:
        """Run one statement."""
        # Without values the driver would not undo the doubling of per cent signs.
        self._waiting.append((translated(sql) if values else sql.encode(), values or None))
        return self

    def executemany(self, sql: str, rows: Iterable[Sequence[SqlValue]], /) -> object:
        """Run one statement for each row of values."""
        self._waiting += [(translated(sql), values) for values in rows]
        return self

    def fetchone(self) -> Row | None:
        """Return the next row."""
        self.settle()
        return self._own.fetchone()

    def fetchall(self) -> list[Row]:
        """Return the rows that are left."""
        self.settle()
        return self._own.fetchall()

    def settle(self) -> None:
        """Have the server run every statement that waits."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        *first, (last, values) = waiting
        if not first:
            self._own.execute(last, values)
            return
        with self._raw.pipeline():
            for sql, each in first:
                self._raw.execute(sql, each)
            self._own.execute(last, values)


@lru_cache(maxsize=512)
def translated(sql: str) -> bytes:
    """Return a statement of ours, which quotes no question mark, with the driver's marks."""
    return sql.replace("%", "%%").replace("?", "%s").encode()


def connect(url: str) -> Raw:
    """Return a connection that commits each statement by itself unless told to begin."""
    given = conninfo_to_dict(url)
    defaults = {name: text for name, text in _DEFAULTS.items() if name not in given}
    raw = Raw.connect(make_conninfo(url, **defaults), autocommit=True)
    try:
        raw.adapters.register_dumper(str, _EscapingDumper)
        raw.adapters.register_loader("text", _RestoringLoader)
        raw.adapters.register_loader("text", _RestoringBinaryLoader)
        raw.execute(_SET_UP)
    except BaseException:
        raw.close()
        raise
    return raw


class _EscapingDumper(StrDumper):
    def dump(self, obj: str) -> bytes:
        if ESCAPE in obj or "\0" in obj:
            for plain, escaped in _ESCAPED:
                obj = obj.replace(plain, escaped)
        return obj.encode()


class _RestoringLoader(Loader):
    def load(self, data: bytes | bytearray | memoryview) -> str:
        text = bytes(data).decode()
        if ESCAPE in text:
            for plain, escaped in reversed(_ESCAPED):
                text = text.replace(escaped, plain)
        return text


class _RestoringBinaryLoader(_RestoringLoader):
    format = Format.BINARY

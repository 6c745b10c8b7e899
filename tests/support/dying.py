"""The moment at which a process is to die or to stop, and the ways to notice that it has come.

A moment is told as `KIND:NUMBER`, or `never`. Kinds: `event` (once so many events are recorded),
`before` and `after` (around the so-many-th effect on the world), `uncommitted` and `committed`
(around the so-many-th COMMIT of this process), `git` and `gitcut` (as the so-many-th git command of
this process has begun; git goes on without it, or dies with it), `check` and `checked` (in the
middle and at the end of the so-many-th check's command). `stop-event` stops the process
instead, as a debugger or a suspended machine would.
"""

import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from psycopg.pq import TransactionStatus

from headway.adapters.storage import postgres
from headway.adapters.storage.database import SqlValue
from headway.adapters.storage.drivers import DriverConnection, best_driver
from headway.adapters.storage.postgres_driver import PlainCursor, Raw
from headway.adapters.storage.queue_statements import RENEW

OPEN = {TransactionStatus.ACTIVE, TransactionStatus.INTRANS, TransactionStatus.INERROR}
COMMIT = "COMMIT"
BEGIN = "BEGIN"


class Moment:
    """The moment of this process. What it counts is written to FOLDER/counts as it is counted."""

    def __init__(self, folder: Path, told: str) -> None:
        self._counts = folder / "counts"
        self._kind, _, number = told.partition(":")
        self._number = int(number or 0)
        self._commits = 0
        self._effects = 0
        self.transactions: list[Callable[[], bool]] = []

    def event(self, recorded: int) -> None:
        if self._kind in {"event", "stop-event"} and recorded >= self._number:
            self._meet()

    def before(self) -> None:
        self._effects += 1
        self._at("before", self._effects)

    def after(self) -> None:
        self._at("after", self._effects)

    def commits(self) -> None:
        """A commit other than a heartbeat's is about to be made."""
        self._commits += 1
        self._counts.write_text(str(self._commits))
        self._at("uncommitted", self._commits)

    def committed(self) -> None:
        self._at("committed", self._commits)

    def _at(self, kind: str, number: int) -> None:
        if self._kind == kind and number == self._number:
            self._meet()

    def _meet(self) -> None:
        if self._kind.startswith("stop-"):
            self._kind = "never"
            # One that is stopped within a transaction holds the database's locks, whoever waits.
            while any(is_open() for is_open in self.transactions):
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        os.kill(os.getpid(), signal.SIGKILL)


def watch_commits(moment: Moment) -> None:
    """Have every commit of this process, on either database, tell the moment of itself."""
    module: Any = best_driver().module
    connect = module.connect

    class Cursor(module.Cursor):  # type: ignore[misc]  # the module is chosen at run time
        beats = True

        def execute(self, sql: str, *values: object) -> object:
            if sql.startswith(BEGIN):
                Cursor.beats = True
            elif sql != COMMIT:
                Cursor.beats &= sql == RENEW
            elif not Cursor.beats:
                moment.commits()
                done = super().execute(sql, *values)
                moment.committed()
                return done
            return super().execute(sql, *values)

    class Connection(module.Connection):  # type: ignore[misc]  # as above
        def cursor(self, *_: object) -> object:
            return super().cursor(Cursor)

    def watched(*words: object, **named: object) -> object:
        made = connect(*words, factory=Connection, **named)
        moment.transactions.append(lambda: _is_open(made, module.Error))
        return made

    module.connect = watched
    opened: Any = postgres
    opened.PlainCursor = _watched_cursor(moment)


def _is_open(made: DriverConnection, error: type[Exception]) -> bool:
    try:
        return made.in_transaction
    except error:  # it was closed
        return False


def _watched_cursor(moment: Moment) -> type[PlainCursor]:
    class Watched(PlainCursor):
        beats = True

        def __init__(self, raw: Raw) -> None:
            super().__init__(raw)
            moment.transactions.append(lambda: raw.pgconn.transaction_status in OPEN)

        def execute(self, sql: str, values: Sequence[SqlValue] = (), /) -> object:
            if sql == BEGIN:
                self.beats = True
            elif sql == COMMIT and not self.beats:
                self.settle()  # all but the commit is with the server
                moment.commits()
                super().execute(sql, values)
                self.settle()
                moment.committed()
                return self
            elif sql != COMMIT:
                self.beats = self.beats and sql == RENEW
            return super().execute(sql, values)

    return Watched

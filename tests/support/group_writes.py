"""Writes to a small table, to see what becomes of those that come at once."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeAlias

import pytest

from headway.adapters.storage import group_commit
from headway.adapters.storage.database import Cursor
from headway.adapters.storage.group_commit import Job
from headway.adapters.storage.sqlite import SqliteDatabase, SqliteOptions

Work: TypeAlias = Callable[[Cursor], int]


@contextmanager
def small_store(folder: Path) -> Iterator[SqliteDatabase]:
    """Open a store with room for little."""
    opened = SqliteDatabase(folder / "some.db", SqliteOptions(pages_max=40))
    opened.write(lambda cursor: cursor.execute("CREATE TABLE kept (n INTEGER UNIQUE, data BLOB)"))
    yield opened
    opened.close()


def keeping(number: int, size: int = 1) -> Work:
    """Return work that keeps a row, which there may be but once."""

    def work(cursor: Cursor) -> int:
        cursor.execute("INSERT INTO kept VALUES (?, ?)", (number, bytes(size)))
        return number

    return work


def kept(database: SqliteDatabase) -> list[int]:
    """Return the rows that are kept."""

    def work(cursor: Cursor) -> list[int]:
        cursor.execute("SELECT n FROM kept ORDER BY n")
        return [row[0] for row in cursor.fetchall()]

    return database.read(work)


def commits_of(database: SqliteDatabase) -> list[str]:
    """Return the list into which every commit from now on goes."""
    commits: list[str] = []

    def note(statement: str) -> None:
        if statement == "COMMIT":
            commits.append(statement)

    database._writer.set_trace_callback(note)  # type: ignore[attr-defined]  # noqa: SLF001
    return commits


def until_waiting(database: SqliteDatabase, number: int) -> None:
    """Wait until so many writes wait for their turn."""
    while waiting(database) != number:
        threading.Event().wait(0.001)


def waiting(database: SqliteDatabase) -> int:
    """Return how many writes wait for their turn."""
    return len(database._queue._waiting)  # noqa: SLF001  to see that they have come


class Holding:
    """Work that keeps its turn until it is let go, so that others come meanwhile."""

    def __init__(self, work: Work = lambda _: -1) -> None:
        self.go = threading.Event()
        self._begun = threading.Event()
        self._work = work

    def __call__(self, cursor: Cursor) -> int:
        self._begun.set()
        self.go.wait()
        return self._work(cursor)

    def take_turn(self, database: SqliteDatabase, pool: ThreadPoolExecutor) -> Future[int]:
        """Have it written, and wait until it has its turn."""
        written = pool.submit(database.write, self)
        self._begun.wait()
        return written


class Interruption:
    """Strikes the main thread, which runs the test, as Ctrl-C would."""

    def __init__(self) -> None:
        self.told = threading.Event()

    def strike(self) -> None:
        """Strike, and again while it goes unnoticed: a wait that just begins does not notice."""
        self.told.clear()
        while not self.told.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            self.told.wait(0.05)

    def strike_twice(self, waits_again: threading.Event) -> None:
        """Strike, and once more while the thread waits for what was begun for it."""
        self.strike()
        waits_again.wait()
        self.strike()

    def raise_it(self, _number: int, _frame: object) -> None:
        if not self.told.is_set():
            self.told.set()
            raise KeyboardInterrupt


def waits_again(interruption: Interruption, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Return what is set when the main thread waits again though it was struck."""
    again, wait = threading.Event(), Job.wait

    def wait_and_tell(job: Job[int], seconds: float = -1) -> bool:
        if threading.current_thread() is threading.main_thread() and interruption.told.is_set():
            again.set()
        return wait(job, seconds)

    monkeypatch.setattr(Job, "wait", wait_and_tell)
    return again


class Strike:
    """Interrupts a thread in one of the moments at which Python does: as a call begins or is over.

    Those of the group commit are counted, from 1 on; `came` tells that there were so many.
    """

    def __init__(self, moment: int) -> None:
        self._left = moment

    @property
    def came(self) -> bool:
        return self._left <= 0

    def during(self, work: Callable[[], int]) -> int:
        """Work, in the thread that is to be interrupted."""
        sys.setprofile(self._see)
        try:
            return work()
        finally:
            sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        if event in {"call", "c_return"} and frame.f_code.co_filename == group_commit.__file__:
            self._left -= 1
            if self.came:
                raise KeyboardInterrupt


@contextmanager
def interruptions() -> Iterator[Interruption]:
    """Have a strike be heeded."""
    interruption = Interruption()
    before = signal.signal(signal.SIGUSR1, interruption.raise_it)
    yield interruption
    signal.signal(signal.SIGUSR1, before)

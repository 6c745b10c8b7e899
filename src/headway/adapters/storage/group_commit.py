"""Group commit: writes that come at once share one transaction, and with it one wait for the disk.

Laws.
1. A caller returns after the commit that holds its write, or raises, and then nothing of it was
   kept. What one write raises undoes that write alone; a commit that fails fails all it held.
2. One write leads at a time. A caller that finds nobody leading leads at once and alone, without a
   thread hop; those who come meanwhile wait, and the first of them leads all of them next.
3. At most WAITING_MAX callers wait, each at most WAIT_SECONDS until its write is begun.
4. A caller that is interrupted while it waits leaves the queue as it would be without it: its write
   is not begun, or else seen to its end.

When a commit is done, a few of those it held are woken, and each wakes one more. All at once they
would only wake to wait again, for the interpreter, and be switched twice as often.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from headway.adapters.storage.database import Cursor

T = TypeVar("T")

WAITING_MAX: Final = 1_024
BATCH_MAX: Final = 64
WAIT_SECONDS: Final = 30
WOKEN_AT_ONCE: Final = 4


class Overloaded(Exception):
    """A write was not begun: too many waited already, or its turn did not come in time."""


class Closed(Exception):
    """A write was not begun: no more are taken."""


class Abandoned(Exception):
    """A write's outcome is not known: the caller that led it was interrupted."""


class Job(Generic[T]):
    """One write: its work, and what came of it; `following` is the one woken after it."""

    __slots__ = ("_awake", "_error", "_result", "_turn", "_work", "following", "leads")

    def __init__(self, work: Callable[[Cursor], T]) -> None:
        self._work = work
        self._result: list[T] = []
        self._error: Exception | None = None
        self._turn = threading.Lock()
        self._turn.acquire()
        self._awake = False
        self.following: Job[object] | None = None
        self.leads = False

    def run(self, cursor: Cursor) -> bool:
        """Do the work and keep what it returns or raises; tell whether it returned.

        Run again, it forgets what came of it before.
        """
        self._result.clear()
        self._error = None
        try:
            self._result.append(self._work(cursor))
        except BaseException as error:
            if not isinstance(error, Exception):  # meant for the thread that leads, as Ctrl-C is
                raise
            self._error = error  # raised again in its own caller
            return False
        return True

    def fail(self, error: Exception) -> None:
        """Have the caller raise this, unless its own work has raised already."""
        if self._error is None:
            self._error = error

    def wake(self) -> None:
        """Let the caller go on, to lead or to take its result."""
        if not self._awake:
            self._awake = True
            self._turn.release()

    def wait(self, seconds: float = -1) -> bool:
        """Wait to be woken, and wake the one that follows; tell whether that came in time."""
        if not self._awake and not self._turn.acquire(timeout=seconds):
            return False
        if self.following is not None:
            self.following.wake()
        return True

    def result(self) -> T:
        """Return what the work returned, or raise what it raised."""
        if self._error is not None:
            raise self._error
        return self._result[0]


class GroupCommit:
    """The queue before one writing connection; threads share it.

    `together` runs the jobs handed to it as one transaction, in which what one of them raises
    undoes that one alone; what it raises itself, all of them raise. It may run a job twice.
    """

    def __init__(self, together: Callable[[Sequence[Job[object]]], None]) -> None:
        self._together = together
        self._state = threading.Lock()
        self._done = threading.Condition(self._state)
        self._waiting: deque[Job[object]] = deque()
        self._led = False
        self._closed = False

    def write(self, alone: Callable[[Callable[[Cursor], T]], T], work: Callable[[Cursor], T]) -> T:
        """Run work in a transaction, its own or one shared with others.

        Raises Closed and Overloaded before anything was begun.
        """
        job = self._enter(work)
        if job is None:
            try:
                return alone(work)
            finally:
                self._hand_on()
        self._await(job)
        if job.leads:
            try:
                self._lead(job)
            finally:
                self._hand_on()
        return job.result()

    def close(self) -> None:
        """Take no more writes, and wait until those that are there are done."""
        with self._done:
            self._closed = True
            self._done.wait_for(lambda: not self._led)

    def _enter(self, work: Callable[[Cursor], T]) -> Job[T] | None:
        """Return the place of a work in the queue, None when it may lead alone at once."""
        with self._state:
            if self._closed:
                raise Closed
            if not self._led:
                self._led = True
                return None
            if len(self._waiting) >= WAITING_MAX:
                raise Overloaded
            job = Job(work)
            self._waiting.append(job)  # type: ignore[arg-type]  # a queue of every kind of result
            return job

    def _await(self, job: Job[T]) -> None:
        try:
            if job.wait(WAIT_SECONDS):
                return
        except BaseException:  # meant for this thread, as Ctrl-C is
            if not self._left(job):
                job.wait()
                if job.leads:
                    self._hand_on()
            raise
        if self._left(job):
            raise Overloaded
        job.wait()  # it was begun just now and will end

    def _left(self, job: Job[T]) -> bool:
        """Take a job out of the queue; tell whether it was still there, and so not begun."""
        with self._state:
            if job not in self._waiting:
                return False
            self._waiting.remove(job)  # type: ignore[arg-type]  # as above
            return True

    def _lead(self, job: Job[T]) -> None:
        batch: list[Job[object]] = [job]  # type: ignore[list-item]  # as above
        try:
            with self._state:
                while self._waiting and len(batch) < BATCH_MAX:
                    batch.append(self._waiting.popleft())
            self._together(batch)
        except BaseException as error:
            told = error if isinstance(error, Exception) else Abandoned()
            for each in batch[1:]:
                each.fail(told)
            raise
        finally:
            done = batch[1:]
            for each, following in zip(done, done[WOKEN_AT_ONCE:], strict=False):
                each.following = following
            for each in done[:WOKEN_AT_ONCE]:
                each.wake()

    def _hand_on(self) -> None:
        with self._state:
            if not self._waiting:
                self._led = False
                if self._closed:
                    self._done.notify_all()
                return
            leader = self._waiting.popleft()
            leader.leads = True
        leader.wake()

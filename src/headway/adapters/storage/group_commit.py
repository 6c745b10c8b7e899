"""Group commit: writes that come at once share one transaction, and with it one wait for the disk.

Laws.
1. A caller returns after the commit that holds its write, or raises, and then nothing of it was
   kept. What one write raises undoes that write alone; a commit that fails fails all it held.
2. One write leads at a time. A caller that finds nobody leading leads at once and alone, without a
   thread hop; those who come meanwhile wait, and the first of them leads all of them next.
3. At most WAITING_MAX callers wait, each at most WAIT_SECONDS until its write is begun.
4. A caller that is interrupted while it waits leaves the queue as it would be without it: its write
   is not begun, or else seen to its end.
5. Calls made `together`, in one thread, wait together: what all of them write is one commit.

When a commit is done, the first of those it held is woken, who wakes the next, and so on; the last
hands on the lead. All at once they would only wake to wait again, for the interpreter, and be
switched twice as often. And a leader that began before them would contend with them at every
statement, and find fewer waiting: those who write again at once are in the next commit this way.

Whoever is woken hands on, so a caller that is interrupted does that first, however often it is
interrupted. Each step of it may be done twice. Python interrupts as a call begins or is over: what
must not be torn apart is done without one. A write counts as kept only once it is told to be.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Generic, TypeVar

from headway.adapters.storage.database import Cursor
from headway.adapters.storage.giving_way import Call, call_of, make_all

T = TypeVar("T")

WAITING_MAX: Final = 1_024
BATCH_MAX: Final = 64
WAIT_SECONDS: Final = 30


class Overloaded(Exception):
    """A write was not begun: too many waited already, or its turn did not come in time."""


class Closed(Exception):
    """A write was not begun: no more are taken."""


class Abandoned(Exception):
    """A write's outcome is not known: the caller that led it was interrupted."""


class Job(Generic[T]):
    """One write: its work, and what came of it.

    `begun` tells that another leads it, `kept` that it was committed; `after` is what its caller
    does before it goes on.
    """

    __slots__ = ("_awake", "_error", "_result", "_turn", "_work", "after", "begun", "kept")

    def __init__(self, work: Callable[[Cursor], T]) -> None:
        self._work = work
        self._result: list[T] = []
        self._error: Exception | None = None
        self._turn = threading.Lock()
        self._turn.acquire()
        self._awake = False
        self.after: Callable[[], None] | None = None
        self.begun = False
        self.kept = False

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
        """Wait to be woken, and go on; tell whether that came in time."""
        if not self._awake and not self._turn.acquire(timeout=seconds):
            return False
        self.go_on()
        return True

    def go_on(self) -> None:
        """Do what is to be done after."""
        if self.after is not None:
            self.after()
            self.after = None  # which leads to the others

    def result(self) -> T:
        """Return what the work returned, or raise what it raised.

        Raises Abandoned when it is not known to be kept.
        """
        if self._error is not None:
            raise self._error
        if not self.kept:
            raise Abandoned
        return self._result[0]


class GroupCommit:
    """The queue before one writing connection; threads share it.

    `as_one` runs the jobs handed to it as one transaction, in which what one of them raises
    undoes that one alone; what it raises itself, all of them raise. It may run a job twice.
    """

    def __init__(self, as_one: Callable[[Sequence[Job[object]]], None]) -> None:
        self._as_one = as_one
        self._state = threading.Lock()
        self._done = threading.Condition(self._state)
        self._waiting: deque[Job[object]] = deque()
        self._leader: Job[object] | None = None
        self._closed = False

    def write(self, alone: Callable[[Callable[[Cursor], T]], T], work: Callable[[Cursor], T]) -> T:
        """Run work in a transaction, its own or one shared with others.

        Raises Closed and Overloaded before anything was begun.
        """
        call: Call[Job[T]] | None = call_of(self)
        if call is not None:
            job = Job(work)
            call.wait_for(job)
            return job.result()
        job = Job(work)
        try:
            if self._enter([job]):
                try:
                    return alone(work)
                finally:
                    self._hand_on(job)
            self._see_through(job, WAIT_SECONDS)
        except BaseException:
            self._leave([job])
            raise
        return job.result()

    def together(self, calls: Sequence[Callable[[], None]]) -> None:
        """Make calls in this thread, each giving way to others while it waits for its write.

        What interrupts the thread is raised when all calls have ended, each told of its own write.
        """
        interrupted: list[BaseException] = []

        def settle(jobs: Sequence[Job[object]]) -> None:
            try:
                self._write_all(jobs)
            except BaseException as error:  # noqa: BLE001 - raised below
                interrupted.append(error)

        make_all(calls, self, settle)
        if interrupted:
            raise interrupted[0]

    def close(self) -> None:
        """Take no more writes, and wait until those that are there are done."""
        with self._done:
            self._closed = True
            self._done.wait_for(lambda: self._leader is None)

    def _write_all(self, jobs: Sequence[Job[object]]) -> None:
        """Do the work of jobs that wait in one thread; what came of it, each of them keeps."""
        if not jobs:
            return
        try:
            self._see_all_through(jobs)
        except (Closed, Overloaded) as error:
            for job in jobs:
                job.fail(error)
        except BaseException:  # meant for this thread, as Ctrl-C is
            self._leave(jobs)
            raise

    def _see_all_through(self, jobs: Sequence[Job[object]]) -> None:
        if self._enter(jobs):
            self._lead(jobs)
            return
        until = time.monotonic() + WAIT_SECONDS
        for job in jobs:
            try:
                self._see_through(job, max(0.0, until - time.monotonic()))
            except Overloaded as error:
                job.fail(error)

    def _enter(self, jobs: Sequence[Job[T]]) -> bool:
        """Have jobs wait in the queue; tell whether they need not, and may lead at once."""
        with self._state:
            if self._closed:
                raise Closed
            if self._leader is None:
                self._leader = jobs[0]  # type: ignore[assignment]  # whatever its result
                return True
            if len(self._waiting) + len(jobs) > WAITING_MAX:
                raise Overloaded
            self._waiting.extend(jobs)  # type: ignore[arg-type]  # as above
            return False

    def _see_through(self, job: Job[T], seconds: float) -> None:
        """Wait until a job that waits in the queue is done, leading others where it falls to it.

        Raises Overloaded when it was not begun in so many seconds.
        """
        if not job.wait(seconds):
            if self._left(job):
                raise Overloaded
            job.wait()  # it was begun just now and will end
        if self._leader is job:
            self._lead([job])  # type: ignore[list-item]  # as above

    def _leave(self, jobs: Sequence[Job[T]]) -> None:
        """Leave nothing for a caller to do: its jobs are not begun, or else seen to their end.

        It begins again whenever it is interrupted.
        """
        try:
            for job in jobs:
                if self._left(job):
                    continue
                if job.begun:
                    job.wait()
                job.go_on()
                self._hand_on(job)
        except BaseException:
            self._leave(jobs)
            raise

    def _left(self, job: Job[T]) -> bool:
        """Take a job out of the queue; tell whether it was still there, and so not begun."""
        with self._state:
            if job not in self._waiting:
                return False
            self._waiting.remove(job)  # type: ignore[arg-type]  # as above
            return True

    def _lead(self, own: Sequence[Job[object]]) -> None:
        """Do the work of own jobs and of those who wait, as one commit, and hand on."""
        others: list[Job[object]] = []
        own[0].after = partial(self._wake_in_turn, others, own[0])
        try:
            with self._state:
                while self._waiting and len(own) + len(others) < BATCH_MAX:
                    first = self._waiting[0]
                    first.begun = True
                    others += [first]
                    del self._waiting[0]  # no call, after which an interruption would lose it
            self._as_one([*own, *others])
            for each in (*own, *others):
                each.kept = True
        except Exception as error:  # noqa: BLE001 - raised again in every caller
            for each in (*own, *others):
                each.fail(error)
        finally:
            own[0].go_on()

    def _wake_in_turn(self, jobs: Sequence[Job[object]], leader: Job[object]) -> None:
        """Have each caller wake the next, and the last hand on the lead."""
        after: Callable[[], None] = partial(self._hand_on, leader)
        for each in reversed(jobs):
            each.after, after = after, each.wake
        after()

    def _hand_on(self, leader: Job[T]) -> None:
        """Have the first of those who wait lead after this one, unless that was done."""
        with self._state:
            if self._leader is leader:
                if self._waiting:
                    self._leader = self._waiting[0]
                    del self._waiting[0]  # as above
                else:
                    self._leader = None
            if self._leader is not None:
                self._leader.wake()
            elif self._closed:
                self._done.notify_all()

"""Threads for calls: from the event loop to a thread and back, one hop, so many at once.

`Threads` gives each call a thread. `Batches` makes all that wait in one, together, where the store
gains by it: many short calls cost less so than by the switches between as many threads.

They are daemons: a call that never ends cannot keep a process from ending, and leaves behind what
any crash would, which is nothing half done.
"""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

Answer = TypeVar("Answer")

# Makes calls in the thread that asks for it and returns when all have ended; none of them raises.
Together: TypeAlias = Callable[[Sequence[Callable[[], None]]], None]

BATCH_MAX: Final = 64
LATE_SECONDS: Final = 0.25  # a batch that takes longer is left behind by the calls that wait

logger = logging.getLogger(__name__)


class _Call(Generic[Answer]):
    """A call, and the future that waits for it."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self._ask: Final = ask
        self.future: Final[asyncio.Future[Answer]] = self._loop.create_future()

    def make(self) -> None:
        """Call, in the thread this runs in, and pass the outcome to the event loop."""
        try:
            answer = self._ask()
        except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
            self._pass_on(self._fail, error)
        else:
            self._pass_on(self._succeed, answer)

    def _pass_on(self, settle: Callable[..., None], outcome: Answer | BaseException) -> None:
        try:
            self._loop.call_soon_threadsafe(settle, outcome)
        except RuntimeError:
            if not self._loop.is_closed():  # a closed loop has nobody left who waits
                raise

    def _succeed(self, answer: Answer) -> None:
        if not self.future.done():  # nobody waits for a call that was cancelled
            self.future.set_result(answer)

    def _fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class Threads:
    """At most `most` threads, started as they are needed; further calls wait for a free one."""

    def __init__(self, most: int) -> None:
        self._most: Final = most
        self._started = 0
        self._free = threading.Semaphore(0)
        self._waiting: queue.SimpleQueue[_Call[object]] = queue.SimpleQueue()

    async def run(self, ask: Callable[[], Answer]) -> Answer:
        """Return what a call returns or raise what it raises; it is made even if cancelled."""
        call = _Call(ask)
        if self._started < self._most and not self._free.acquire(blocking=False):
            self._started += 1
            name = f"call-{self._started}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        self._waiting.put(call)  # type: ignore[arg-type]  # a thread does not look at the answer
        return await call.future

    def _work(self) -> None:
        while True:
            self._waiting.get().make()
            if self._started < self._most:  # else nobody asks any more who is free
                self._free.release()


class Batches:
    """One thread, which makes all calls that wait; `together` makes them. At most `most` threads.

    A call that hangs holds up its batch, so what may hang is not for here. Those who come later are
    not held up: when they have waited for LATE_SECONDS and no batch was begun, another thread takes
    them, and goes on in the place of the one that is late.
    """

    def __init__(self, together: Together, most: int) -> None:
        self._together: Final = together
        self._spare = threading.Semaphore(most)
        self._newest = 0
        self._taken = 0
        self._watched_by: asyncio.AbstractEventLoop | None = None
        self._waiting: queue.SimpleQueue[_Call[object]] = queue.SimpleQueue()

    async def run(self, ask: Callable[[], Answer]) -> Answer:
        """Return what a call returns or raise what it raises; it is made even if cancelled."""
        call = _Call(ask)
        self._waiting.put(call)  # type: ignore[arg-type]  # a thread does not look at the answer
        loop = asyncio.get_running_loop()
        if self._watched_by is not loop:
            self._watch(loop)
        if self._newest == 0:
            self._start()
        return await call.future

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        self._watched_by = loop
        loop.call_later(LATE_SECONDS, self._look, loop, self._taken)

    def _look(self, loop: asyncio.AbstractEventLoop, taken: int) -> None:
        self._watched_by = None
        if self._waiting.empty():
            return
        self._watch(loop)
        if taken == self._taken:
            self._start()

    def _start(self) -> None:
        if not self._spare.acquire(blocking=False):
            return
        number = self._newest + 1
        thread = threading.Thread(
            target=self._work, args=(number,), name=f"calls-{number}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # there are too many in the system: the next look tries again
            self._spare.release()
            logger.exception("no thread could be started for the calls that wait")
            return
        self._newest = number

    def _work(self, number: int) -> None:
        try:
            while number >= self._newest:
                calls = [self._waiting.get()]
                try:
                    while len(calls) < BATCH_MAX:
                        calls.append(self._waiting.get_nowait())
                except queue.Empty:
                    pass
                self._taken += 1
                if len(calls) == 1:
                    calls[0].make()
                else:
                    self._together([call.make for call in calls])
        finally:
            self._spare.release()

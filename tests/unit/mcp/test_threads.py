"""Calls in threads: side by side up to a number, or in batches, and never lost."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from headway.mcp.threads import Batches, Threads
from tests.support.patience import SECONDS_MAX


@pytest.mark.anyio
async def test_as_many_calls_as_there_are_threads_run_side_by_side() -> None:
    together = threading.Barrier(3)

    def meet() -> int:
        return together.wait(SECONDS_MAX)

    threads = Threads(3)
    assert sorted(await asyncio.gather(*(threads.run(meet) for _ in range(3)))) == [0, 1, 2]


@pytest.mark.anyio
async def test_more_calls_wait_for_a_free_thread() -> None:
    at_once: list[int] = []
    inside = threading.Semaphore(2)

    def enter() -> None:
        assert inside.acquire(blocking=False)
        at_once.append(1)
        inside.release()

    threads = Threads(2)
    await asyncio.gather(*(threads.run(enter) for _ in range(50)))
    assert len(at_once) == 50


@pytest.mark.anyio
async def test_what_a_call_raises_is_raised_where_it_is_awaited() -> None:
    def fail() -> None:
        raise KeyError("gone")

    threads = Threads(1)
    with pytest.raises(KeyError, match="gone"):
        await threads.run(fail)
    assert await threads.run(lambda: "the thread goes on") == "the thread goes on"


@pytest.mark.anyio
async def test_a_cancelled_call_is_made_all_the_same() -> None:
    begun, go, made = threading.Event(), threading.Event(), threading.Event()

    def record() -> None:
        begun.set()
        assert go.wait(SECONDS_MAX)
        made.set()

    threads = Threads(1)
    call = asyncio.ensure_future(threads.run(record))
    await asyncio.to_thread(begun.wait, SECONDS_MAX)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    go.set()
    assert await asyncio.to_thread(made.wait, SECONDS_MAX)


class Batched:
    """Makes calls one after the other, and knows how many came at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, calls: Sequence[Callable[[], None]]) -> None:
        self.sizes.append(len(calls))
        for call in calls:
            call()


class Hanging:
    """A call that goes on when it is let."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.go.wait(SECONDS_MAX)
        return "at last"


async def begun(batches: Batches, call: Hanging) -> "asyncio.Future[str]":
    """Hand a call in and wait until it is being made."""
    made = asyncio.ensure_future(batches.run(call))
    await asyncio.to_thread(call.begun.wait, SECONDS_MAX)
    return made


@pytest.mark.anyio
async def test_calls_that_wait_are_made_together() -> None:
    batched, first = Batched(), Hanging()
    batches = Batches(batched, 1)
    hanging = await begun(batches, first)
    others = [asyncio.ensure_future(batches.run(partial(int, str(n)))) for n in range(5)]
    await asyncio.sleep(0)  # so that they are in the queue
    first.go.set()
    assert await hanging == "at last"
    assert await asyncio.gather(*others) == [0, 1, 2, 3, 4]
    assert batched.sizes == [5]


@pytest.mark.anyio
async def test_what_a_call_of_a_batch_raises_is_raised_where_it_is_awaited() -> None:
    def fail() -> None:
        raise KeyError("gone")

    batches, first = Batches(Batched(), 1), Hanging()
    hanging = await begun(batches, first)
    failing, fine = (
        asyncio.ensure_future(batches.run(fail)),
        asyncio.ensure_future(batches.run(lambda: "the others go on")),
    )
    await asyncio.sleep(0)
    first.go.set()
    with pytest.raises(KeyError, match="gone"):
        await failing
    assert await fine == "the others go on"
    await hanging


@pytest.mark.anyio
async def test_a_call_that_hangs_does_not_hold_up_those_that_come_after_it() -> None:
    batches, stuck = Batches(Batched(), 3), [Hanging(), Hanging()]
    hanging = [await begun(batches, each) for each in stuck]
    assert await asyncio.wait_for(batches.run(lambda: "made"), SECONDS_MAX) == "made"
    for each in stuck:
        each.go.set()
    assert await asyncio.gather(*hanging) == ["at last", "at last"]
    assert await batches.run(lambda: "made again") == "made again"


@pytest.mark.anyio
async def test_when_as_many_hang_as_there_may_be_calls_wait_for_one_to_end() -> None:
    batches, stuck = Batches(Batched(), 2), [Hanging(), Hanging()]
    hanging = [await begun(batches, each) for each in stuck]
    waiting = asyncio.ensure_future(batches.run(lambda: "made"))
    stuck[0].go.set()
    assert await asyncio.wait_for(waiting, SECONDS_MAX) == "made"
    assert not hanging[1].done()
    stuck[1].go.set()
    await asyncio.gather(*hanging)


@pytest.mark.anyio
async def test_calls_wait_for_a_thread_that_cannot_be_started_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures = iter(range(3))

    def start(thread: threading.Thread) -> None:
        if thread.name.startswith("calls-") and next(failures, None) is not None:
            raise RuntimeError("can't start new thread")
        begin(thread)

    begin = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", start)
    batches = Batches(Batched(), 2)
    assert await asyncio.wait_for(batches.run(lambda: "made"), SECONDS_MAX) == "made"
    assert next(failures, None) is None


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_batch_that_fails_as_a_whole_leaves_its_place_to_another_thread() -> None:
    failing = threading.Event()

    def fail(_calls: Sequence[Callable[[], None]]) -> None:
        failing.set()
        raise MemoryError

    batches = Batches(fail, 1)
    for _ in range(2):
        first = Hanging()
        hanging = await begun(batches, first)
        lost = [asyncio.ensure_future(batches.run(lambda: "never")) for _ in range(2)]
        await asyncio.sleep(0)
        first.go.set()
        assert await hanging == "at last"
        await asyncio.to_thread(failing.wait, SECONDS_MAX)
        failing.clear()
        for each in lost:
            each.cancel()
    assert await asyncio.wait_for(batches.run(lambda: "made"), SECONDS_MAX) == "made"

"""Calls in threads: side by side up to a number, and never lost."""

import asyncio
import threading

import pytest

from headway.mcp.threads import Threads
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

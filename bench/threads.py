"""Many threads, each on a session of its own, against one: what group commit is for.

An append waits for the disk most of its time, so many at once may share that wait. A whole advance
is mostly computing, and one interpreter computes one thing at a time: nothing is promised of it.
"""

import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.advances import begin
from bench.figures import Figure
from bench.sizes import Sizes
from bench.timing import Call
from headway.application.engine import Engine
from headway.domain.events import Gap, GapRecorded
from headway.domain.ids import StreamId
from headway.ports.ledger import Write

THREADS = 32
SHARED_MAX = 1 / 3  # the most an append of many threads may cost of one thread's
NOTE_CHARS = 600
ALONE_ROUNDS = 8  # one thread does fewer calls, and so more rounds
MICROSECONDS = 1e6


class Appender:
    """Appends one event after the other to a stream of its own."""

    def __init__(self, engine: Engine, number: int) -> None:
        self._engine = engine
        self._stream = StreamId(f"bench:{number}")
        self._version = 0

    def __call__(self) -> None:
        gap = Gap(code="BENCH", severity="warning", category="none", summary="." * NOTE_CHARS)
        events = (GapRecorded(gaps=(gap,)),)
        write = Write(stream=self._stream, expected_version=self._version, events=events)
        self._version = self._engine.ledger.append(write)[-1].version


def measure_threads(engine: Engine, workspace: Path, sizes: Sizes) -> Iterator[Figure]:
    """Yield how long an append and an advance take, with one caller and with many at once."""
    sessions = [begin(engine, workspace).advance for _ in range(THREADS + 1)]
    yield from measure_appends(engine, sizes, "an append", SHARED_MAX)
    yield from _figures("an advance", sessions, sizes, None)


def measure_appends(
    engine: Engine, sizes: Sizes, what: str, target: float | None
) -> Iterator[Figure]:
    """Yield how long an append takes, with one caller and with many at once."""
    appenders = [Appender(engine, number) for number in range(THREADS + 1)]
    yield from _figures(what, appenders, sizes, target)


def _figures(
    what: str, calls: Sequence[Call], sizes: Sizes, target: float | None
) -> Iterator[Figure]:
    group = f"{what}, {THREADS} threads on {THREADS} sessions"
    alone, crowd = calls[:1], calls[1:]
    times: list[tuple[float, float]] = []
    for _ in range(sizes.blocks + 1):  # the first does not count
        many = _each(crowd, sizes.rounds)
        times.append((_each(alone, sizes.rounds * ALONE_ROUNDS), many))
    times = times[1:]
    ratios = [many / one for one, many in times]
    for name, column in (("one thread", 0), (f"{THREADS} threads, each", 1)):
        took = statistics.median(pair[column] for pair in times)
        yield Figure(group=group, name=name, value=took * MICROSECONDS, unit="us")
    yield Figure(
        group=group,
        name=f"{THREADS} threads / one thread",
        value=statistics.median(ratios),
        unit="times",
        target=target,
        note=f"{1 / statistics.median(ratios):.1f} times as many a second",
    )


def _each(calls: Sequence[Call], rounds: int) -> float:
    """Return the seconds a call takes on the whole when each has a thread of its own."""
    together = threading.Barrier(len(calls) + 1)

    def run(call: Call) -> None:
        together.wait()
        for _ in range(rounds):
            call()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    together.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    return (time.perf_counter() - began) / (len(calls) * rounds)

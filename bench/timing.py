"""Timing: single calls in turn, medians, and ratios of medians a block.

Machines are noisy and drift. So what is compared is called alternately, round after round; each
block of rounds gives one ratio of medians, and the median of the blocks' ratios is the figure.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Call = Callable[[], object]
NANOSECONDS_A_MILLISECOND = 1e6
MILLISECONDS = 1e3  # of a second


@dataclass(frozen=True, slots=True)
class Blocks:
    """Milliseconds of each call, by name: for each block its rounds."""

    times: Mapping[str, Sequence[Sequence[float]]]

    def median(self, name: str) -> float:
        return statistics.median(ms for block in self.times[name] for ms in block)

    def p95(self, name: str) -> float:
        every = sorted(ms for block in self.times[name] for ms in block)
        return every[min(len(every) - 1, int(len(every) * 0.95))]

    def ratios(self, name: str, floor: str) -> list[float]:
        """Return the ratio of medians in each block."""
        return [
            statistics.median(mine) / statistics.median(theirs)
            for mine, theirs in zip(self.times[name], self.times[floor], strict=True)
        ]

    def ratio(self, name: str, floor: str) -> float:
        return statistics.median(self.ratios(name, floor))


def once(call: Call) -> float:
    """Return how long one call took, in milliseconds."""
    began = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - began) / NANOSECONDS_A_MILLISECOND


def interleaved(calls: Mapping[str, Call], *, blocks: int, rounds: int) -> Blocks:
    """Call everything in turn, a different one first in each round."""
    names = list(calls)
    times: dict[str, list[list[float]]] = {name: [] for name in names}
    for _ in range(blocks):
        for name in names:
            times[name].append([])
        for number in range(rounds):
            first = number % len(names)
            for name in (*names[first:], *names[:first]):
                times[name][-1].append(once(calls[name]))
    return Blocks(times)


def repeated(call: Call, times: int) -> float:
    """Return the median of several calls, after one that does not count."""
    call()
    return statistics.median(once(call) for _ in range(times))

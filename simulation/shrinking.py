"""Shrinking: the shortest list of choices that still breaks the same promise.

Stretches of steps are cut out, long ones first, then single spans (calls that cut in, parts of a
workflow), then runs of choices; what is left is set to 0 or lowered. A candidate counts when it
breaks the same way and is shorter, or as long and smaller. It ends when a round finds nothing, or
when its tries are spent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

TRIES_MAX: Final = 4_000
_RUNS: Final = (16, 4, 2, 1)


@dataclass(frozen=True, slots=True)
class Broken:
    """A failing list of choices: what broke, what was really drawn, and its spans."""

    problem: str
    taken: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    def key(self) -> tuple[int, tuple[int, ...]]:
        return (len(self.taken), self.taken)


Play = Callable[[Sequence[int]], Broken | None]


def shrink(found: Broken, play: Play, tries_max: int = TRIES_MAX) -> Broken:
    """Return the smallest failure that can be made of this one."""
    shrinking = _Shrinking(found, play, tries_max)
    size = None
    while size != shrinking.best.key() and shrinking.tries < tries_max:
        size = shrinking.best.key()
        shrinking.coarsely()
        for run in _RUNS:
            shrinking.cut_runs(run)
        shrinking.lower()
    return shrinking.best


class _Shrinking:
    """The best failure so far. A pass goes on from where it last succeeded."""

    def __init__(self, found: Broken, play: Play, tries_max: int) -> None:
        self.best = found
        self.tries = 0
        self._play = play
        self._tries_max = tries_max

    def coarsely(self) -> None:
        size = None
        while size != self.best.key() and self.tries < self._tries_max:
            size = self.best.key()
            self.cut_tail()
            self.cut_steps()
            self.cut_spans()
            self.zero()

    def cut_tail(self) -> None:
        for part in (2, 2, 2, 4, 8, 16, 32):
            keep = len(self.best.taken) - len(self.best.taken) // part
            self._try(self.best.taken[:keep])

    def cut_steps(self) -> None:
        """Cut out stretches of whole steps, long ones first, from the end."""
        size = len(self._steps()) // 2
        while size:
            at = len(self._steps()) - size
            while at >= 0:
                steps = self._steps()
                if at + size <= len(steps):
                    self._cut(steps[at][0], steps[at + size - 1][1])
                at -= size
            size //= 2

    def cut_spans(self) -> None:
        """Cut out single spans, inner ones too, from the end."""
        at = len(self.best.spans) - 1
        while at >= 0:
            if at < len(self.best.spans):
                self._cut(*self.best.spans[at])
            at -= 1

    def cut_runs(self, run: int) -> None:
        begin = len(self.best.taken) - run
        while begin >= 0:
            self._cut(begin, begin + run)
            begin -= run

    def zero(self) -> None:
        at = 0
        while at < len(self.best.taken):
            if self.best.taken[at]:
                self._try((*self.best.taken[:at], 0, *self.best.taken[at + 1 :]))
            at += 1

    def lower(self) -> None:
        for at in range(len(self.best.taken)):
            for smaller in (1, 2):
                taken = self.best.taken
                if at < len(taken) and smaller < taken[at]:
                    value = taken[at] // 2 if smaller == 1 else taken[at] - 1
                    if self._try((*taken[:at], value, *taken[at + 1 :])):
                        break

    def _steps(self) -> list[tuple[int, int]]:
        """Return the outermost spans, in order."""
        outer: list[tuple[int, int]] = []
        for span in sorted(set(self.best.spans), key=lambda each: (each[0], -each[1])):
            if span[0] < span[1] and (not outer or span[0] >= outer[-1][1]):
                outer.append(span)
        return outer

    def _cut(self, begin: int, end: int) -> bool:
        taken = self.best.taken
        return self._try(taken[:begin] + taken[end:])

    def _try(self, candidate: tuple[int, ...]) -> bool:
        if self.tries >= self._tries_max:
            return False
        self.tries += 1
        broken = self._play(candidate)
        if broken is None or broken.problem != self.best.problem:
            return False
        if broken.key() >= self.best.key():
            return False
        self.best = broken
        return True

"""Shrinking: the shortest list of choices that still breaks the same promise.

Steps are cut out here and there, then stretches of them, long ones first, then single spans (calls
that cut in, parts of a workflow), then runs of choices; what is left is set to 0 or lowered. A
candidate counts when it breaks the same way and is shorter, or as long and smaller. It ends when a
round finds nothing, or when its tries are spent.

Some bugs strike by count: at every third write, say. Then no cut of one stretch may help, however
far the steps that matter are from it, since it moves the count. So steps are also cut by chance,
many at a time (one cut in three leaves such a count where it was), and at the end in pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Final

from simulation.choices import ITEM, STEP, spans_of

TRIES_MAX: Final = 4_000
_SCATTERED: Final = ((2, 40), (4, 40), (8, 40))  # one in so many steps is cut; tries in vain
_PAIRS_FROM_MAX: Final = 24  # steps left when pairs of them are tried
_RUNS: Final = (16, 4, 2, 1)


@dataclass(frozen=True, slots=True)
class Broken:
    """A failing list of choices: what broke, and what was really drawn."""

    problem: str
    taken: tuple[int, ...]

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
        self._chance = Random("shrinking")

    def coarsely(self) -> None:
        size = None
        while size != self.best.key() and self.tries < self._tries_max:
            size = self.best.key()
            self.cut_tail()
            self.cut_scattered()
            self.cut_steps()
            self.cut_pairs()
            self.cut_spans()
            self.zero()

    def cut_tail(self) -> None:
        """Cut out the last steps, many at first."""
        for part in (2, 2, 2, 4, 8, 16, 32):
            steps = self._steps()
            if len(steps) >= part:
                self._cut(steps[len(steps) - len(steps) // part][0], steps[-1][1])

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

    def cut_scattered(self) -> None:
        """Cut out steps and items by chance, many at first, while that now and then succeeds."""
        for share, patience in _SCATTERED:
            vain = 0
            while vain < patience and self.tries < self._tries_max:
                chosen = [
                    span for span in self._spans(STEP, ITEM) if not self._chance.randrange(share)
                ]
                vain = 0 if self._cut_all(chosen) else vain + 1

    def cut_pairs(self) -> None:
        """Cut out two steps at once, whichever they are, when few are left."""
        size = None
        while size != len(self.best.taken) and len(self._steps()) <= _PAIRS_FROM_MAX:
            size = len(self.best.taken)
            for pair in combinations(reversed(self._spans(STEP, ITEM)), 2):
                if self._cut_all(pair[::-1]):
                    break

    def cut_spans(self) -> None:
        """Cut out single spans, inner ones too, from the end."""
        at = len(spans_of(self.best.taken)) - 1
        while at >= 0:
            spans = spans_of(self.best.taken)
            if at < len(spans):
                self._cut(*spans[at])
            at -= 1

    def cut_runs(self, run: int) -> None:
        """Cut out runs of numbers within a span."""
        begin = len(self.best.taken) - run
        while begin >= 0:
            if min(self.best.taken[begin : begin + run], default=-1) >= 0:
                self._cut(begin, begin + run)
            begin -= run

    def zero(self) -> None:
        at = 0
        while at < len(self.best.taken):
            if self.best.taken[at] > 0:
                self._try((*self.best.taken[:at], 0, *self.best.taken[at + 1 :]))
            at += 1

    def lower(self) -> None:
        for at in range(len(self.best.taken)):
            for smaller in (1, 2):
                taken = self.best.taken
                if at < len(taken) and 0 < smaller < taken[at]:
                    value = taken[at] // 2 if smaller == 1 else taken[at] - 1
                    if self._try((*taken[:at], value, *taken[at + 1 :])):
                        break

    def _steps(self) -> list[tuple[int, int]]:
        return self._spans(STEP)

    def _spans(self, *kinds: int) -> list[tuple[int, int]]:
        """Return the outermost spans of these kinds, in order."""
        outer: list[tuple[int, int]] = []
        for span in sorted(spans_of(self.best.taken)):
            if self.best.taken[span[0]] in kinds and (not outer or span[0] >= outer[-1][1]):
                outer.append(span)
        return outer

    def _cut_all(self, spans: Sequence[tuple[int, int]]) -> bool:
        """Cut out spans that do not touch each other, in order."""
        kept: list[int] = []
        at = 0
        for begin, end in spans:
            kept += self.best.taken[at:begin]
            at = end
        return bool(spans) and self._try((*kept, *self.best.taken[at:]))

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

"""Choices: the one source of chance of a simulated world, kept so that it can be played again.

Law. Everything that varies in a world is a number drawn here, and 0 is always the plainest answer:
no fault, good work, the newest token, the end. So a world is a list of numbers; a list with parts
cut out or set to 0 is a world too, a smaller one, and beyond its end every answer is 0.

Numbers that belong together, those of a step or of a fault, stand between marks (a span). When they
are played again a span is met by the next one of its kind: a step that draws more or less than it
did, or that is gone, leaves every other step with the numbers it had.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")

# The kinds of spans, by the mark each begins with; all end with the same.
END: Final = -1
WORKFLOW: Final = -2
ITEM: Final = -3
STEP: Final = -4
CUT: Final = -5
TROUBLE: Final = -6
SENT: Final = -7


class Choices:
    """Draws numbers, from chance or from a list, and keeps what was drawn, marks included."""

    def __init__(self, chance: Random | None = None, given: Sequence[int] = ()) -> None:
        self._random = chance.random if chance else None
        self._given = given
        self._at: int | None = 0  # the next number; None in a span that was not given
        self.taken: list[int] = []

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1."""
        if self._random is not None:
            value = int(self._random() * count)
        else:
            value = self._next()
            value = value if value < count else 0
        self.taken.append(value)
        return value

    def rarely(self, times: int) -> bool:
        """Return True once in so many times."""
        return self.below(times) == times - 1

    def of(self, options: Sequence[T]) -> T:
        """Return one of the options; the first is the plainest."""
        return options[self.below(len(options))]

    @contextmanager
    def span(self, kind: int) -> Iterator[None]:
        """Keep together what is drawn within."""
        self.taken.append(kind)
        outside = self._at
        if self._random is None and outside is not None:
            self._at = self._found(kind, outside)
        try:
            yield
        finally:
            self.taken.append(END)
            if self._random is None and outside is not None:
                self._at = outside if self._at is None else self._end(self._at) + 1

    def _next(self) -> int:
        if self._at is None or self._at >= len(self._given) or self._given[self._at] < 0:
            return 0
        self._at += 1
        return self._given[self._at - 1]

    def _found(self, kind: int, at: int) -> int | None:
        """Return where the next span of a kind begins in the one that is open; None without one."""
        while at < len(self._given) and self._given[at] != END:
            if self._given[at] == kind:
                return at + 1
            at = at + 1 if self._given[at] >= 0 else self._end(at + 1) + 1
        return None

    def _end(self, at: int) -> int:
        """Return where the span ends within which a number stands."""
        depth = 1
        while at < len(self._given):
            if self._given[at] < 0:
                depth += -1 if self._given[at] == END else 1
                if not depth:
                    return at
            at += 1
        return at


def spans_of(taken: Sequence[int]) -> list[tuple[int, int]]:
    """Return where each span begins and ends, marks included, inner ones before outer ones."""
    found: list[tuple[int, int]] = []
    begun: list[int] = []
    for at, number in enumerate(taken):
        if number == END:
            found.append((begun.pop(), at + 1))
        elif number < 0:
            begun.append(at)
    return found


def drawn_in(taken: Sequence[int]) -> int:
    """Return how many numbers were drawn, marks left out."""
    return sum(number >= 0 for number in taken)

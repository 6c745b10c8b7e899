"""Choices: the one source of chance of a simulated world, kept so that it can be played again.

Law. Everything that varies in a world is a number drawn here, and 0 is always the plainest answer:
no fault, good work, the newest token, the end. So a world is a list of numbers; a list with parts
cut out or set to 0 is a world too, a smaller one, and beyond its end every answer is 0.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Draws numbers, from chance or from a list, and keeps what was drawn.

    `spans` are stretches of `taken` that belong together, outer ones after the ones inside them:
    what shrinking tries to cut out whole.
    """

    def __init__(self, chance: Random | None = None, given: Sequence[int] = ()) -> None:
        self._random = chance.random if chance else None
        self._given = given
        self.taken: list[int] = []
        self.spans: list[tuple[int, int]] = []

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1."""
        if self._random is not None:
            value = int(self._random() * count)
        else:
            at = len(self.taken)
            value = self._given[at] if at < len(self._given) else 0
            value = value if value < count else 0
        self.taken.append(value)
        return value

    def rarely(self, times: int) -> bool:
        """Return True once in so many times."""
        return self.below(times) == times - 1

    def of(self, options: Sequence[T]) -> T:
        """Return one of the options; the first is the plainest."""
        return options[self.below(len(options))]

    def mark(self) -> int:
        """Return where a span begins."""
        return len(self.taken)

    def close(self, mark: int) -> None:
        """Say that what was drawn since the mark belongs together."""
        self.spans.append((mark, len(self.taken)))

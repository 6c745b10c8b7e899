"""Time and chance, the two things a decision may not take for itself."""

from typing import Protocol


class Clock(Protocol):
    """The time of day."""

    def now_ms(self) -> int:
        """Return milliseconds since 1970 UTC."""


class Entropy(Protocol):
    """A source of randomness."""

    def draw(self, count: int) -> bytes:
        """Return `count` unpredictable bytes."""

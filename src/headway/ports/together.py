"""Calls that are made together, so that what they write shares one wait for the disk."""

from collections.abc import Callable, Sequence
from typing import Protocol


class Together(Protocol):
    """Makes calls in the thread that asks for it, and returns when all have ended."""

    def __call__(self, calls: Sequence[Callable[[], None]], /) -> None:
        """Make these calls, none of which may raise.

        Each runs as it would by itself, but for one thing: while it waits for a write of its own,
        others run in the same thread. So no call may hold a lock over a write.
        """

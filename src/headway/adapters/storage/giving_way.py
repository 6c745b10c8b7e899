"""Calls in one thread that give way to one another while they wait.

A call computes, waits for the disk, and computes its answer. With a thread for each, those who
compute contend for the interpreter, which two processors hand to and fro at more cost than what
they compute. Here each call is a greenlet of one thread: one that comes to a wait gives way to the
next, and when none is left that could go on, what they wait for is settled for all of them at once.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from greenlet import getcurrent, greenlet

Awaited = TypeVar("Awaited")


class Call(greenlet, Generic[Awaited]):
    """A call that is made with others; `awaits` is what it waits for."""

    def __init__(self, make: Callable[[], None], owner: object) -> None:
        super().__init__(make)
        self.owner = owner
        self.awaits: list[Awaited] = []

    def wait_for(self, what: Awaited) -> None:
        """Give way until this is settled."""
        self.awaits = [what]
        assert self.parent is not None
        self.parent.switch()


def call_of(owner: object) -> Call[Awaited] | None:
    """Return the call that runs here and now, when its waits are settled by this owner."""
    current = getcurrent()
    return current if isinstance(current, Call) and current.owner is owner else None


def make_all(
    calls: Sequence[Callable[[], None]], owner: object, settle: Callable[[list[Awaited]], None]
) -> None:
    """Make calls, none of which may raise, in this thread, and return when all have ended.

    `settle` is given what they wait for as often as none can go on without; it may not raise.
    """
    going: list[Call[Awaited]] = [Call(make, owner) for make in calls]
    while going:
        for each in going:
            each.switch()
        going = [each for each in going if not each.dead]
        settle([what for each in going for what in each.awaits])

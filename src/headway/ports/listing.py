"""What a list of stored rows is: those that can be read, and the names of those that cannot.

One damaged row costs a list that row and nothing else. Whoever shows a list tells what is not in
it; whoever asks for a damaged row by its name is refused with what is wrong.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """Rows in the order asked for. `unreadable` names those met on the way that are damaged.

    A name is the id of a session or a run, or what is left of it. It stands there once, however
    many of its rows are damaged.
    """

    rows: tuple[T, ...]
    unreadable: tuple[str, ...] = ()

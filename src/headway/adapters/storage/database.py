"""A database: what the ports' classes need of one, whichever product it is.

Whoever asks or writes takes the driver's cursor and SQL texts; SQLAlchemy knows the tables
(`tables.py`) and makes them. Every method raises faults of `domain.errors`, never those of a
driver.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

T = TypeVar("T")

# What a driver returns, before `rows.py` has checked it: a text that is none comes as bytes.
Row: TypeAlias = tuple[Any, ...]
SqlValue: TypeAlias = "int | str | bytes | None"


class Cursor(Protocol):
    """The part of a driver's cursor that is used."""

    @property
    def rowcount(self) -> int:
        """Return the number of rows the last statement changed."""

    def execute(self, sql: str, values: Sequence[SqlValue] = (), /) -> object:
        """Run one statement."""

    def executemany(self, sql: str, rows: Iterable[Sequence[SqlValue]], /) -> object:
        """Run one statement for each row of values."""

    def fetchone(self) -> Row | None:
        """Return the next row."""

    def fetchall(self) -> list[Row]:
        """Return the rows that are left."""


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """Work that can tell later whether it was kept, from what it returned."""

    work: Callable[[Cursor], T]
    kept: Callable[[Cursor, T], bool]

    def __call__(self, cursor: Cursor) -> T:
        return self.work(cursor)


class Database(Protocol):
    """Runs work on connections that it owns."""

    def write(self, work: Callable[[Cursor], T]) -> T:
        """Run work as one durable transaction; when it raises, nothing of it was kept.

        A database may lose touch with its server in mid-commit. It then finds out whether the work
        was kept: by asking work that is `Checked`, else by running it once more. So work that is
        not must be such that running it twice is as good as once.
        """

    def read(self, work: Callable[[Cursor], T]) -> T:
        """Run work that only reads. Each statement sees one state of the database."""

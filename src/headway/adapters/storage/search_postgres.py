"""Full text on PostgreSQL: the words of an entry are a tsvector, found through a GIN index."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from headway.adapters.storage.database import Cursor, SqlValue
from headway.domain.words import Asked

_HOLD: Final = "SELECT pg_advisory_xact_lock(7238111, hashtext(current_schema()))"
_PUT: Final = (
    "INSERT INTO searched (id, words) VALUES (?, array_to_tsvector(string_to_array(?, ' ')))"
)
_DROP: Final = "DELETE FROM searched WHERE id BETWEEN ? AND ?"
_HOLDING: Final = "SELECT id >> 20 FROM searched WHERE words @@ CAST(? AS tsquery)"
_WAITING: Final = "SELECT stream FROM unsearched WHERE STRPOS(' ' || words || ' ', ?) > 0"
# Reading every entry whole, as the planner would for a frequent word, takes ten times as long.
_BY_INDEX: Final = "SET enable_seqscan = off"
_AS_BEFORE: Final = "RESET enable_seqscan"
_WORDS: Final = (
    "SELECT DISTINCT unnest(tsvector_to_array(words)) FROM searched WHERE id BETWEEN ? AND ?"
)


class TsvectorIndex:
    """Implements `search.Index`."""

    def hold(self, cursor: Cursor) -> None:
        """Have the index for this transaction alone until it ends."""
        cursor.execute(_HOLD, ())

    def put(self, cursor: Cursor, entry: int, words: str) -> None:
        """Add an entry."""
        cursor.execute(_PUT, (entry, words))

    def drop(self, cursor: Cursor, first: int, last: int) -> None:
        """Take out the entries of a range of ids."""
        cursor.execute(_DROP, (first, last))

    def holding(self, asked: Asked) -> tuple[str, tuple[SqlValue, ...]]:
        """Return the statement that finds the streams of the entries that hold a word."""
        return _HOLDING, (f"'{asked.word}'" + ":*" * asked.beginning,)

    def waiting(self) -> str:
        """Return the statement that finds the streams of which a text that waits is a part."""
        return _WAITING

    @contextmanager
    def ready(self, cursor: Cursor) -> Iterator[None]:
        """Have the database look into the index, rather than at every entry."""
        cursor.execute(_BY_INDEX, ())
        try:
            yield
        finally:
            cursor.execute(_AS_BEFORE, ())

    def words(self, cursor: Cursor, first: int, last: int) -> set[str]:
        """Return the words of the entries of a range of ids."""
        cursor.execute(_WORDS, (first, last))
        return {str(row[0]) for row in cursor.fetchall()}

    def refill(self, cursor: Cursor) -> None:
        """Do nothing: the server keeps its index with the rows."""

    def is_sound(self, cursor: Cursor) -> bool:
        """Say yes: the server keeps its index with the rows."""
        del cursor
        return True

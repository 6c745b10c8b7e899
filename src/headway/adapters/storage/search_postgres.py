"""Full text on PostgreSQL: the words of an entry are a tsvector, found through a GIN index."""

from itertools import chain
from typing import Final

from headway.adapters.storage.database import Cursor
from headway.domain.words import Asked

_HOLD: Final = "SELECT pg_advisory_xact_lock(7238111, hashtext(current_schema()))"
_PUT: Final = (
    "INSERT INTO searched (id, words) VALUES (?, array_to_tsvector(string_to_array(?, ' ')))"
)
_DROP: Final = "DELETE FROM searched WHERE id BETWEEN ? AND ?"
_STREAMS: Final = "SELECT id >> 20 FROM searched WHERE words @@ CAST(? AS tsquery)"
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

    def streams(self, cursor: Cursor, asked: Asked) -> set[int]:
        """Return the streams of the entries that hold a word."""
        cursor.execute(_BY_INDEX, ())
        try:
            cursor.execute(_STREAMS, (f"'{asked.word}'" + ":*" * asked.beginning,))
            return set(chain.from_iterable(cursor.fetchall()))
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

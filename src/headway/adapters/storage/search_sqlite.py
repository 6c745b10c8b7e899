"""Full text on SQLite: a table of FTS5 that keeps no texts, and their words beside it, packed.

FTS5 takes an entry out only when it is told the entry's words, so they are kept. Words come parted
by blanks and in the form they are compared in: the `ascii` tokenizer leaves them as they are.
"""

import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from headway.adapters.storage.database import Cursor, SqlValue
from headway.domain.words import Asked

_PUT: Final = "INSERT INTO searched (id, words) VALUES (?, ?)"
_INDEX: Final = "INSERT INTO search (rowid, words) VALUES (?, ?)"
_WORDS: Final = "SELECT id, words FROM searched WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
_DROP: Final = "DELETE FROM searched WHERE id BETWEEN ? AND ?"
_TAKE_OUT: Final = "INSERT INTO search (search, rowid, words) VALUES ('delete', ?, ?)"
_TAKE_OUT_ALL: Final = "INSERT INTO search (search) VALUES ('delete-all')"
_HOLDING: Final = "SELECT rowid >> 20 FROM search WHERE search MATCH"
# A few words that begin alike are quicker asked for one by one than by their beginning, for which
# FTS5 makes a list of its own first.
_BEGUN: Final = (
    "(SELECT CASE WHEN COUNT(*) > 8 THEN ? ELSE COALESCE(GROUP_CONCAT(term, ' OR '), ?) END"
    " FROM (SELECT '\"' || term || '\"' AS term FROM search_terms WHERE term >= ? AND term < ?"
    " LIMIT 9))"
)
_WAITING: Final = "SELECT stream FROM unsearched WHERE INSTR(' ' || words || ' ', ?) > 0"
_LAST_CHARACTER: Final = "\U0010ffff"
_INDEXED: Final = "SELECT TOTAL(doc) FROM search_terms"
_PAGE: Final = 500
_ID_MAX: Final = 2**63 - 1
_LOOKS_MAX: Final = 5


class FtsIndex:
    """Implements `search.Index`."""

    def hold(self, cursor: Cursor) -> None:
        """Do nothing: a transaction that writes has the whole file for itself."""

    def put(self, cursor: Cursor, entry: int, words: str) -> None:
        """Add an entry."""
        cursor.execute(_PUT, (entry, zlib.compress(words.encode())))
        cursor.execute(_INDEX, (entry, words))

    def drop(self, cursor: Cursor, first: int, last: int) -> None:
        """Take out the entries of a range of ids."""
        unreadable = False
        for entry, words in _texts(cursor, first, last):
            if words is None:
                unreadable = True
            else:
                cursor.execute(_TAKE_OUT, (entry, words))
        cursor.execute(_DROP, (first, last))
        if unreadable:
            self.refill(cursor)

    def holding(self, asked: Asked) -> tuple[str, tuple[SqlValue, ...]]:
        """Return the statement that finds the streams of the entries that hold a word."""
        word, exact = asked.word, f'"{asked.word}"'
        if not asked.beginning:
            return f"{_HOLDING} ?", (exact,)
        return f"{_HOLDING} {_BEGUN}", (f"{exact}*", exact, word, word + _LAST_CHARACTER)

    def waiting(self) -> str:
        """Return the statement that finds the streams of which a text that waits is a part."""
        return _WAITING

    def ready(self, cursor: Cursor) -> AbstractContextManager[None]:
        """Do nothing: there is no other way to these entries."""
        del cursor
        return nullcontext()

    def words(self, cursor: Cursor, first: int, last: int) -> set[str]:
        """Return the words of the entries of a range of ids; what cannot be read is left out."""
        return {
            word
            for _, text in _texts(cursor, first, last)
            if text is not None
            for word in text.split()
        }

    def refill(self, cursor: Cursor) -> None:
        """Make the index anew from the words kept beside it."""
        cursor.execute(_TAKE_OUT_ALL, ())
        for entry, words in _texts(cursor, 0, _ID_MAX):
            if words is not None:
                cursor.execute(_INDEX, (entry, words))

    def is_sound(self, cursor: Cursor) -> bool:
        """Tell whether the index holds as many words as are kept beside it."""
        for _ in range(_LOOKS_MAX):
            indexed = _indexed(cursor)
            kept = sum(len((text or "").split()) for _, text in _texts(cursor, 0, _ID_MAX))
            if indexed == kept:
                return True
            if indexed == _indexed(cursor):
                return False
        return True  # others are folding all the while, which a damaged index would not bear


def _texts(cursor: Cursor, first: int, last: int) -> Iterator[tuple[int, str | None]]:
    """Yield the entries of a range with their words, None where they cannot be read."""
    while True:
        cursor.execute(_WORDS, (first, last, _PAGE))
        page = cursor.fetchall()
        for entry, packed in page:
            try:
                yield entry, zlib.decompress(packed).decode()
            except (zlib.error, UnicodeDecodeError, TypeError):
                yield entry, None
        if len(page) < _PAGE:
            return
        first = page[-1][0] + 1


def _indexed(cursor: Cursor) -> int:
    cursor.execute(_INDEXED, ())
    row = cursor.fetchone()
    return int(row[0]) if row else 0

"""The search index: which sessions hold a word.

An append leaves its words in `unsearched`, which costs one small row. Every FOLD_EVERY-th of them
has all that wait folded into the index in one go, in a transaction of its own and after the append
that was its occasion: a fold that fails takes nothing back, and its words wait for the next. A
search looks into both. What was folded of one session at a time is one entry with its words beside
it, so that an entry can be taken out again without asking the events.
"""

from contextlib import AbstractContextManager, suppress
from typing import Final, Protocol, TypeGuard

from headway.adapters.storage.database import Cursor, Database, SqlValue
from headway.domain.errors import Fault
from headway.domain.words import Asked, words_in

FOLD_EVERY: Final = 128
FOLD_MAX: Final = 512  # taken in one transaction
WORDS_PER_ENTRY_MAX: Final = 4_000  # so that an entry stays within what a database can index
WORDS_GROWN_MAX: Final = (
    512  # an entry takes in later words up to here, so that most sessions have one
)
ENTRY_BITS: Final = 20  # an entry's id: its stream's, then its number among the stream's entries

_WAIT: Final = "INSERT INTO unsearched (stream, words) VALUES (?, ?) RETURNING id"
_TAKE: Final = (
    "DELETE FROM unsearched WHERE id IN (SELECT id FROM unsearched ORDER BY id LIMIT ?)"
    " RETURNING stream, words"
)
_WAITING_OF: Final = "SELECT words FROM unsearched WHERE stream = ?"
_DROP_WAITING: Final = "DELETE FROM unsearched WHERE stream = ?"
_LAST: Final = "SELECT MAX(id) FROM searched WHERE id BETWEEN ? AND ?"


class Index(Protocol):
    """What a database itself brings for full text. Words are handed over parted by blanks."""

    def hold(self, cursor: Cursor) -> None:
        """Have the index for this transaction alone until it ends."""

    def put(self, cursor: Cursor, entry: int, words: str) -> None:
        """Add an entry."""

    def drop(self, cursor: Cursor, first: int, last: int) -> None:
        """Take out the entries of a range of ids."""

    def holding(self, asked: Asked) -> tuple[str, tuple[SqlValue, ...]]:
        """Return the statement that finds the streams of the entries that hold a word."""

    def waiting(self) -> str:
        """Return the statement that finds the streams of which a text that waits is a part."""

    def ready(self, cursor: Cursor) -> AbstractContextManager[None]:
        """Have the database look into the index, rather than at every entry."""

    def words(self, cursor: Cursor, first: int, last: int) -> set[str]:
        """Return the words of the entries of a range of ids; what cannot be read is left out."""

    def refill(self, cursor: Cursor) -> None:
        """Make the index anew from the words kept beside it."""

    def is_sound(self, cursor: Cursor) -> bool:
        """Tell whether the index holds what is kept beside it."""


class Search:
    """The words of all streams, by their short ids; threads may share it."""

    def __init__(self, database: Database, index: Index) -> None:
        self._database = database
        self._index = index

    def add(self, cursor: Cursor, stream: int, words: str) -> bool:
        """Add words, parted by blanks, to a stream's; tell whether it is time to `fold`."""
        if not words.strip():
            return False
        cursor.execute(_WAIT, (stream, words))
        row = cursor.fetchone()
        assert row is not None
        return int(row[0]) % FOLD_EVERY == 0

    def drop(self, cursor: Cursor, stream: int) -> None:
        """Remove a stream's words."""
        self._index.hold(cursor)
        cursor.execute(_DROP_WAITING, (stream,))
        if _is_indexed(stream):
            self._index.drop(cursor, *_range(stream))

    def fold(self) -> None:
        """Fold what waits into the index."""
        # What was appended stands whether or not this succeeds: the words just go on waiting, where
        # a search finds them. A store that cannot serve tells so on the next call that needs it.
        with suppress(Fault):
            while self._database.write(self._fold) == FOLD_MAX:
                pass

    def refill(self) -> None:
        """Make the index anew from the words kept beside it."""

        def work(cursor: Cursor) -> None:
            self._index.hold(cursor)
            self._index.refill(cursor)

        self._database.write(work)

    def holding(self, asked: Asked) -> tuple[str, tuple[SqlValue, ...]]:
        """Return the statement that finds the streams that hold a word, and its values.

        Index and what waits are one statement: what is folded meanwhile is in one of them.
        """
        indexed, values = self._index.holding(asked)
        part = f" {asked.word}" if asked.beginning else f" {asked.word} "
        return f"{indexed} UNION ALL {self._index.waiting()}", (*values, part)

    def ready(self, cursor: Cursor) -> AbstractContextManager[None]:
        """Have the database ready for statements with such a part."""
        return self._index.ready(cursor)

    def words(self, cursor: Cursor, stream: int) -> frozenset[str]:
        """Return a stream's words."""
        cursor.execute(_WAITING_OF, (stream,))
        waiting = [row[0] for row in cursor.fetchall() if isinstance(row[0], str)]
        found = self._index.words(cursor, *_range(stream)) if _is_indexed(stream) else set()
        return frozenset(found.union(*map(words_in, waiting)))

    def is_sound(self, cursor: Cursor) -> bool:
        """Tell whether the index holds what is kept beside it."""
        return self._index.is_sound(cursor)

    def _fold(self, cursor: Cursor) -> int:
        self._index.hold(cursor)
        cursor.execute(_TAKE, (FOLD_MAX,))
        taken = cursor.fetchall()
        texts: dict[int, list[str]] = {}
        for stream, words in taken:
            if isinstance(words, str) and _is_indexed(stream):  # else a rebuild makes it anew
                texts.setdefault(stream, []).append(words)
        for stream in sorted(texts):
            first, last = _range(stream)
            cursor.execute(_LAST, (first, last))
            row = cursor.fetchone()
            entry, own = first, words_in(" ".join(texts[stream]))
            if row is not None and row[0] is not None:
                entry = int(row[0])
                before = self._index.words(cursor, entry, entry)
                if len(before) + len(own) <= WORDS_GROWN_MAX:
                    self._index.drop(cursor, entry, entry)
                    own = own | before
                else:
                    entry += 1
            ordered = sorted(own)
            for at in range(0, len(ordered), WORDS_PER_ENTRY_MAX):
                self._index.put(cursor, entry, " ".join(ordered[at : at + WORDS_PER_ENTRY_MAX]))
                entry += 1
        return len(taken)


def _is_indexed(stream: object) -> TypeGuard[int]:
    """Tell whether a stream can have entries: a damaged id is none, or too large for theirs."""
    return isinstance(stream, int) and 0 <= stream < 1 << (63 - ENTRY_BITS)


def _range(stream: int) -> tuple[int, int]:
    """Return the first and the last id that an entry of a stream may have."""
    return stream << ENTRY_BITS, ((stream + 1) << ENTRY_BITS) - 1

"""The signing keys on an SQL database, beside the ledger, so that every process sees them at once.

They are read anew each time: a key another process rotated in must be good here with its first
token.
"""

from typing import Final

from headway.adapters.storage import statements
from headway.adapters.storage.database import Checked, Cursor, Database
from headway.ports.clock import Entropy
from headway.ports.keyring import Keys

KEY_BYTES: Final = 32


class SqlKeyring:
    """Implements `ports.keyring.Keyring`."""

    def __init__(self, database: Database, entropy: Entropy) -> None:
        self._database = database
        self._entropy = entropy

    def keys(self) -> Keys:
        """Return the live keys; the first call of a new store draws the first key."""
        return self._database.read(_live) or self._database.write(self._first)

    def rotate(self) -> Keys:
        """Draw a new current key and keep the old one as previous."""
        return self._database.write(Checked(self._next, _are_live))

    def _first(self, cursor: Cursor) -> Keys:
        # Another process may have drawn it between our look and our turn: its key stays.
        cursor.execute(statements.FIRST_KEY, (self._entropy.draw(KEY_BYTES),))
        keys = _live(cursor)
        assert keys is not None
        return keys

    def _next(self, cursor: Cursor) -> Keys:
        cursor.execute(statements.HOLD_KEYS)
        old = _live(cursor)
        new = self._entropy.draw(KEY_BYTES)
        if old is not None:
            cursor.execute(statements.KEEP_KEY, (1, old.current))
        cursor.execute(statements.KEEP_KEY, (0, new))
        return Keys(current=new, previous=None if old is None else old.current)


def _are_live(cursor: Cursor, keys: Keys) -> bool:
    return _live(cursor) == keys


def _live(cursor: Cursor) -> Keys | None:
    cursor.execute(statements.KEYS)
    found = [bytes(row[0]) for row in cursor.fetchall()]
    if not found:
        return None
    return Keys(current=found[0], previous=found[1] if len(found) > 1 else None)

"""The signing keys on an SQL database, beside the ledger, so that every process sees them at once.

A key another process rotated in is good here with its first token, since a token that does not open
is tried with keys read anew. What is kept for a second only spares calls that go well the look.
"""

import time
from contextlib import suppress
from typing import Final, TypeGuard

from headway.adapters.storage import statements
from headway.adapters.storage.database import Checked, Cursor, Database
from headway.adapters.storage.store_faults import DAMAGED_ROW
from headway.domain.errors import SessionNotHealthy
from headway.ports.clock import Entropy
from headway.ports.keyring import Keys

KEY_BYTES: Final = 32
KEPT_SECONDS: Final = 1.0


class SqlKeyring:
    """Implements `ports.keyring.Keyring`."""

    def __init__(self, database: Database, entropy: Entropy) -> None:
        self._database = database
        self._entropy = entropy
        self._kept: tuple[Keys, float] | None = None  # and when they were read

    def keys(self) -> Keys:
        """Return the live keys; the first call of a new store draws the first key."""
        began = time.monotonic()
        keys = self._database.read(_live) or self._database.write(self._first)
        self._kept = keys, began
        return keys

    def lately(self) -> Keys:
        """Return the live keys as they were at most KEPT_SECONDS ago."""
        kept = self._kept
        if kept is not None and time.monotonic() - kept[1] < KEPT_SECONDS:
            return kept[0]
        return self.keys()

    def rotate(self) -> Keys:
        """Draw a new current key and keep the old one as previous."""
        keys = self._database.write(Checked(self._next, _are_live))
        self._kept = None
        return keys

    def _first(self, cursor: Cursor) -> Keys:
        # Another process may have drawn it between our look and our turn: its key stays.
        cursor.execute(statements.FIRST_KEY, (self._entropy.draw(KEY_BYTES),))
        keys = _live(cursor)
        assert keys is not None
        return keys

    def _next(self, cursor: Cursor) -> Keys:
        cursor.execute(statements.HOLD_KEYS)
        old = None
        with suppress(SessionNotHealthy):  # a damaged one tells no token from another
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
    found = [row[0] for row in cursor.fetchall()]
    if not found:
        return None
    if not _is_key(found[0]):
        raise SessionNotHealthy(
            "The key that signs tokens is damaged.",
            remedy="`headway keys rotate` draws another; agents then call resume_session for new "
            "tokens. A backup of the store brings the key back.",
            details={"kind": DAMAGED_ROW},
        )
    older = found[1] if len(found) > 1 else None
    return Keys(current=found[0], previous=older if _is_key(older) else None)


def _is_key(stored: object) -> TypeGuard[bytes]:
    return isinstance(stored, bytes) and len(stored) == KEY_BYTES

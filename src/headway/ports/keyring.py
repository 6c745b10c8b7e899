"""The keys that sign tokens."""

from typing import Protocol

from headway.domain.values import Value


class Keys(Value):
    """The key that signs and, for a while after a rotation, the one before it."""

    current: bytes
    previous: bytes | None = None


class Keyring(Protocol):
    """Keeps the signing keys, 32 random bytes each, beside the ledger."""

    def keys(self) -> Keys:
        """Return the live keys; the first call of a new store draws the first key."""

    def lately(self) -> Keys:
        """Return the live keys as they were at most a second ago, mostly without a look at the store.

        A token they do not open may be of a key rotated in by another process since: `keys` knows.
        """

    def rotate(self) -> Keys:
        """Draw a new current key and keep the old one as previous."""

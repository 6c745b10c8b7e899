"""Owners: processes that hold leases, and whether one is gone for certain."""

from typing import Protocol

from headway.domain.runs.events import Owner


class Owners(Protocol):
    """The processes of this machine."""

    def me(self) -> Owner:
        """Return this process."""

    def is_gone(self, owner: Owner) -> bool:
        """Tell whether a process is provably gone; False where that cannot be known from here."""

"""Opening a database: its ledger is known, or its tables are made or brought up first."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from headway.adapters.storage.database import Database
from headway.adapters.storage.schema import Place, known_ledger
from headway.adapters.storage.search import Search
from headway.ports.clock import Entropy

if TYPE_CHECKING:  # imported by what makes tables alone
    from sqlalchemy import Connection


class Definable(Database, Protocol):
    """A database whose tables can be made."""

    def define(self, work: "Callable[[Connection], str]") -> str:
        """Run work that changes the tables, one process at a time, as one transaction."""


def ledger_in(database: Definable, place: Place, search: Search, entropy: Entropy) -> str:
    """Return the id of the ledger in a database, made if there is none.

    Raises StoreUnavailable for a database of something else, of a later version, or half made.
    """
    known = database.read(lambda cursor: known_ledger(cursor, place))
    if known is not None:
        return known
    from headway.adapters.storage.making import make_ledger

    made = database.define(lambda core: make_ledger(core, place, entropy))
    search.fold()  # what a migration left waiting
    return made

"""The store: everything that is kept, behind its ports, opened and closed together."""

from collections.abc import Callable
from dataclasses import dataclass

from headway.ports.custody import Custody, Records
from headway.ports.keyring import Keyring
from headway.ports.ledger import Ledger
from headway.ports.queue import Bell, Queue
from headway.ports.sessions import Sessions
from headway.ports.sources import Sources
from headway.ports.together import Together


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The ports of one open store.

    `ledger_id` is drawn when it is made and never changes. `bell` makes a bell for a worker.
    `together` is None where calls that wait in one thread would wait longer.
    """

    ledger_id: str
    ledger: Ledger
    sessions: Sessions
    keyring: Keyring
    sources: Sources
    records: Records
    custody: Custody
    queue: Queue
    bell: Callable[[], Bell]
    close: Callable[[], None]
    together: Together | None = None

"""The engine: the ports the verbs need, in one frozen value."""

from dataclasses import dataclass

from headway.domain.events import GateMode
from headway.ports.catalogue import Catalogue
from headway.ports.checks import Checker
from headway.ports.clock import Clock, Entropy
from headway.ports.custody import Custody, Records
from headway.ports.keyring import Keyring
from headway.ports.leases import Lease
from headway.ports.ledger import Ledger
from headway.ports.sessions import Sessions
from headway.ports.sources import Sources
from headway.ports.together import Together
from headway.ports.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Everything a verb may ask of the world, and the settings that steer it.

    `lease` is that of the run for which sessions are driven: without it nothing is written to them.
    """

    ledger: Ledger
    sessions: Sessions
    keyring: Keyring
    sources: Sources
    records: Records
    custody: Custody
    catalogue: Catalogue
    workspace: Workspace
    clock: Clock
    entropy: Entropy
    gates: GateMode = "advisory"
    elicitation: bool = True
    ledger_id: str = ""
    lease: Lease | None = None
    together: Together | None = None  # None: calls that come at once have a thread each
    checker: Checker | None = None  # None: checks are not run, and recorded as gaps

"""A home, looked at from outside: what `headway status` and `headway doctor` may ask."""

from dataclasses import dataclass
from pathlib import Path

from headway.ports.clock import Clock
from headway.ports.machine import Machine
from headway.ports.onlooker import Onlooker
from headway.ports.owners import Owners
from headway.server_lock import Running


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Everything those two need. `database` is the store's file, None on PostgreSQL.

    `worktrees` is the folder of those that runs were given, `running` the server of this home;
    `warnings` are those of its settings.
    """

    folder: Path
    database: Path | None
    worktrees: Path
    machine: Machine
    onlooker: Onlooker
    owners: Owners
    clock: Clock
    running: Running | None = None
    warnings: tuple[str, ...] = ()

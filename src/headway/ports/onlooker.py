"""The onlooker: what a store holds, seen without making it, bringing it up or changing it."""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from headway.domain.runs.events import Owner
from headway.domain.values import Moment, Value
from headway.ports.queue import TaskState
from headway.ports.sessions import GateRow, SessionSummary, Status
from headway.ports.sources import GitSource

StoreKind: TypeAlias = Literal["sqlite", "postgresql"]


class Claim(Value):
    """A run that was claimed and has not been let go: by whom, and until when unless renewed."""

    run: str
    owner: Owner
    lease_until: Moment


class RunRow(Value):
    """A run, as far as one is told from another."""

    run: str
    state: TaskState
    workflow_id: str
    goal: str


class StoreFacts(Value):
    """A store at a glance.

    `product` is the database and its version, as "SQLite 3.53.0". `shares` tells whether several
    processes may have it open. `schema` is its version, None while there is no store yet: all that
    follows is empty then. `newest_at` is the time of the newest event in milliseconds since 1970
    UTC. `latest`, `gates` and `latest_runs` are cut to what was asked for, `waiting` counts all
    gates; `runs` counts runs by state, `resting` those at rest by their reason, where
    they have one, and `claims` holds those in state `claimed`;
    `unended` are the ids of all that have not ended. `attached` and `git_sources` are where
    workflow files come from besides the usual folders. `unreadable` are the ids of the sessions and
    runs that are not among what is listed because their rows are damaged.
    """

    kind: StoreKind
    place: str
    product: str
    shares: bool = True
    schema: int | None = None
    size_bytes: int | None = None
    sessions: Mapping[Status, int] = {}
    keys: int = 0
    waiting: int = 0
    newest_at: int | None = None
    latest: tuple[SessionSummary, ...] = ()
    gates: tuple[GateRow, ...] = ()
    runs: Mapping[TaskState, int] = {}
    resting: Mapping[str, int] = {}
    claims: tuple[Claim, ...] = ()
    latest_runs: tuple[RunRow, ...] = ()
    unended: frozenset[str] = frozenset()
    attached: tuple[str, ...] = ()
    git_sources: tuple[GitSource, ...] = ()
    unreadable: tuple[str, ...] = ()


class Onlooker(Protocol):
    """Looks at one store."""

    @property
    def known_schema(self) -> int:
        """Return the schema version that this program writes."""

    def look(self, limit: int) -> StoreFacts:
        """Return what is there, with at most `limit` sessions and gates.

        Raises `StoreUnavailable` or `SessionNotHealthy` when it cannot be looked at.
        """

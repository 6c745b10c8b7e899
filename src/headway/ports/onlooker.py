"""The onlooker: what a store holds, seen without making it, bringing it up or changing it."""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from headway.domain.values import Value
from headway.ports.sessions import GateRow, SessionSummary, Status

StoreKind: TypeAlias = Literal["sqlite", "postgresql"]


class StoreFacts(Value):
    """A store at a glance.

    `product` is the database and its version, as "SQLite 3.53.0". `shares` tells whether several
    processes may have it open. `schema` is its version, None while there is no store yet: all that
    follows is empty then. `newest_at` is the time of the newest event in milliseconds since 1970
    UTC. `latest` and `gates` are cut to what was asked for, `waiting` counts all gates.
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


class Onlooker(Protocol):
    """Looks at one store."""

    @property
    def known_schema(self) -> int:
        """Return the schema version that this program writes."""

    def look(self, limit: int) -> StoreFacts:
        """Return what is there, with at most `limit` sessions and gates.

        Raises `StoreUnavailable` or `SessionNotHealthy` when it cannot be looked at.
        """

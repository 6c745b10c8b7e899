"""The schema of a database: known, or refused, with the driver alone.

A database is opened far more often than one is made or brought up, and only that needs SQLAlchemy
(`making.py`), which takes longer to import than all else that a call needs of the store.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from headway.adapters.storage.database import Cursor, Row
from headway.adapters.storage.store_faults import half_made, newer_store
from headway.domain.errors import Fault

SCHEMA_VERSION: Final = 7  # changes with every change of `tables.py`

# The tables of this version; a test holds these names to `tables.py`.
TABLE_NAMES: Final = frozenset(
    ("attempts", "blobs", "buried", "events", "gates", "git_sources", "keys", "meta", "searched",
     "sessions", "sources", "streams", "tasks", "tombstones", "unsearched")
)  # fmt: skip

# How each product lists its tables.
SQLITE_TABLES: Final = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
)
POSTGRES_TABLES: Final = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()"

_FACTS: Final = "SELECT name, value FROM meta"

Ask: TypeAlias = Callable[[str], Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Place:
    """How messages name a database, how it lists its tables, and the fault of another's."""

    name: str
    tables: str
    stranger: Fault


@dataclass(frozen=True, slots=True)
class Found:
    """What a database says of itself."""

    ledger: str
    version: int


def known_ledger(cursor: Cursor, place: Place) -> str | None:
    """Return the id of the ledger in a database, None when its tables must be made or brought up.

    Raises StoreUnavailable for a database of something else, of a later version, or half made.
    """

    def ask(sql: str) -> Sequence[Row]:
        cursor.execute(sql)
        return cursor.fetchall()

    found = look(ask, place)
    return found.ledger if found and found.version == SCHEMA_VERSION else None


def look(ask: Ask, place: Place) -> Found | None:
    """Return what a database says of itself, None for an empty one. Raises as `known_ledger`."""
    tables = {str(row[0]) for row in ask(place.tables)}
    if not tables:
        return None
    if "meta" not in tables:
        raise place.stranger
    facts = {name: value for name, value in ask(_FACTS) if isinstance(value, str)}
    ledger, schema = facts.get("ledger"), facts.get("schema", "")
    if ledger is None or not schema.isdecimal() or int(schema) < 1:
        raise place.stranger
    if int(schema) > SCHEMA_VERSION:
        raise newer_store(place.name, schema, SCHEMA_VERSION)
    missing = sorted(TABLE_NAMES - tables)
    if missing and int(schema) == SCHEMA_VERSION:
        raise half_made(place.name, missing[0])
    return Found(ledger, int(schema))

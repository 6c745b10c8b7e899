"""The schema of a database: made where there is none; known, brought up or refused where there is.

A new one is made from the tables as they are now; only an older one needs Alembic, which is slow to
import. Either happens in one transaction that keeps every other process waiting.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, inspect, select, text, update

from headway.adapters.storage.store_faults import half_made, newer_store
from headway.adapters.storage.tables import FULL_TEXT, META, METADATA, SCHEMA_VERSION
from headway.domain.errors import Fault
from headway.domain.ids import ID_BYTES, encode_id
from headway.ports.clock import Entropy


@dataclass(frozen=True, slots=True)
class Place:
    """How messages name a database, and the fault of one that holds something else."""

    name: str
    stranger: Fault


@dataclass(frozen=True, slots=True)
class _Found:
    ledger: str
    version: int


def known_ledger(core: Connection, place: Place) -> str | None:
    """Return the id of the ledger in a database, None when its tables must be made or brought up.

    Raises StoreUnavailable for a database of something else, of a later version, or half made.
    """
    found = _look(core, place)
    return found.ledger if found and found.version == SCHEMA_VERSION else None


def make_ledger(core: Connection, place: Place, entropy: Entropy) -> str:
    """Make the tables or bring them up, and return the ledger's id.

    The caller has the database for itself; another process may have been first.
    """
    found = _look(core, place)
    if found is None:
        ledger = encode_id("ledger", entropy.draw(ID_BYTES))
        make_tables(core)
        facts = {"ledger": ledger, "schema": str(SCHEMA_VERSION)}
        core.execute(insert(META), [{"name": name, "value": fact} for name, fact in facts.items()])
        return ledger
    if found.version < SCHEMA_VERSION:
        from headway.adapters.storage.migrating import migrate

        migrate(core, place.name, found.version, SCHEMA_VERSION)
        core.execute(update(META).where(META.c.name == "schema").values(value=str(SCHEMA_VERSION)))
    return found.ledger


def make_tables(core: Connection) -> None:
    """Make the tables as they are now, in a database that has none."""
    METADATA.create_all(core, checkfirst=False)
    for statement in FULL_TEXT[core.dialect.name]:
        core.execute(text(statement))


def _look(core: Connection, place: Place) -> _Found | None:
    tables = inspect(core).get_table_names()
    if not tables:
        return None
    if META.name not in tables:
        raise place.stranger
    facts = {
        str(name): str(value) for name, value in core.execute(select(META.c.name, META.c.value))
    }
    ledger, schema = facts.get("ledger"), facts.get("schema", "")
    if ledger is None or not schema.isdecimal() or int(schema) < 1:
        raise place.stranger
    if int(schema) > SCHEMA_VERSION:
        raise newer_store(place.name, schema, SCHEMA_VERSION)
    missing = sorted(METADATA.tables.keys() - set(tables))
    if missing and int(schema) == SCHEMA_VERSION:
        raise half_made(place.name, missing[0])
    return _Found(ledger, int(schema))

"""The schema of a database: made where there is none, known or refused where there is one."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, inspect, select

from headway.adapters.storage.store_faults import newer_store
from headway.adapters.storage.tables import META, METADATA, SCHEMA_VERSION
from headway.domain.errors import Fault
from headway.domain.ids import ID_BYTES, encode_id
from headway.ports.clock import Entropy


@dataclass(frozen=True, slots=True)
class Place:
    """How messages name a database, and the fault of one that holds something else."""

    name: str
    stranger: Fault


def known_ledger(core: Connection, place: Place) -> str | None:
    """Return the id of the ledger in a database, None when it is still empty.

    Raises StoreUnavailable for a database of something else, or of a later version.
    """
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
    return ledger


def make_ledger(core: Connection, place: Place, entropy: Entropy) -> str:
    """Make the tables, unless another process was first, and return the ledger's id."""
    known = known_ledger(core, place)
    if known is not None:
        return known
    ledger = encode_id("ledger", entropy.draw(ID_BYTES))
    METADATA.create_all(core, checkfirst=False)
    facts = {"ledger": ledger, "schema": str(SCHEMA_VERSION)}
    core.execute(insert(META), [{"name": name, "value": text} for name, text in facts.items()])
    return ledger

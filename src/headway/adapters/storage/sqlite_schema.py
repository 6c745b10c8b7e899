"""The schema of an SQLite file: made where there is none, known or refused where there is one."""

from pathlib import Path

from sqlalchemy import Connection, insert, inspect, select

from headway.adapters.storage.sqlite_faults import newer_store, not_a_store
from headway.adapters.storage.tables import META, METADATA, SCHEMA_VERSION
from headway.domain.ids import ID_BYTES, encode_id
from headway.ports.clock import Entropy


def known_ledger(core: Connection, path: Path) -> str | None:
    """Return the id of the ledger in a file, None when the file is still empty.

    Raises StoreUnavailable for a file of something else, or of a later version.
    """
    tables = inspect(core).get_table_names()
    if not tables:
        return None
    if META.name not in tables:
        raise not_a_store(path)
    facts = {
        str(name): str(value) for name, value in core.execute(select(META.c.name, META.c.value))
    }
    ledger, schema = facts.get("ledger"), facts.get("schema", "")
    if ledger is None or not schema.isdecimal() or int(schema) < 1:
        raise not_a_store(path)
    if int(schema) > SCHEMA_VERSION:
        raise newer_store(path, schema, SCHEMA_VERSION)
    return ledger


def make_ledger(core: Connection, path: Path, entropy: Entropy) -> str:
    """Make the tables, unless another process was first, and return the ledger's id."""
    known = known_ledger(core, path)
    if known is not None:
        return known
    ledger = encode_id("ledger", entropy.draw(ID_BYTES))
    METADATA.create_all(core, checkfirst=False)
    facts = {"ledger": ledger, "schema": str(SCHEMA_VERSION)}
    core.execute(insert(META), [{"name": name, "value": text} for name, text in facts.items()])
    return ledger

"""Making the tables of a database, or bringing older ones up, with SQLAlchemy Core.

A new database is made from the tables as they are now; only an older one needs Alembic, which is
slow to import. Either happens in one transaction that keeps every other process waiting. This is
imported only when there is something to make.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, StaticPool, create_engine, insert, text, update
from sqlalchemy.exc import DBAPIError

from headway.adapters.storage import schema
from headway.adapters.storage.database import Row
from headway.adapters.storage.schema import Place
from headway.adapters.storage.tables import FULL_TEXT, META, METADATA
from headway.domain.ids import ID_BYTES, encode_id
from headway.ports.clock import Entropy


@contextmanager
def core_over(raw: object, url: str, **options: object) -> Iterator[Connection]:
    """Yield SQLAlchemy's connection over one of a driver's, which is left open.

    What the driver raises comes as its own error.
    """
    engine = create_engine(url, creator=lambda: raw, poolclass=StaticPool, **options)
    try:
        with engine.connect() as core:
            yield core
    except DBAPIError as error:
        raise (error.orig or error) from error


def make_ledger(core: Connection, place: Place, entropy: Entropy) -> str:
    """Make the tables or bring them up, and return the ledger's id.

    The caller has the database for itself; another process may have been first.
    """

    def ask(sql: str) -> Sequence[Row]:
        return [tuple(row) for row in core.exec_driver_sql(sql)]

    found = schema.look(ask, place)
    version = schema.SCHEMA_VERSION
    if found is None:
        ledger = encode_id("ledger", entropy.draw(ID_BYTES))
        make_tables(core)
        facts = {"ledger": ledger, "schema": str(version)}
        core.execute(insert(META), [{"name": name, "value": fact} for name, fact in facts.items()])
        return ledger
    if found.version < version:
        from headway.adapters.storage.migrating import migrate

        migrate(core, place.name, found.version, version)
        core.execute(update(META).where(META.c.name == "schema").values(value=str(version)))
    return found.ledger


def make_tables(core: Connection) -> None:
    """Make the tables as they are now, in a database that has none."""
    METADATA.create_all(core, checkfirst=False)
    for statement in FULL_TEXT[core.dialect.name]:
        core.execute(text(statement))

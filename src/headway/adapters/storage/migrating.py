"""Bringing an older database up to the tables of today, with Alembic.

The caller has the database for itself and a transaction open: both products change tables within
one, so a migration that is interrupted has not happened. Imported only when there is one to make.
"""

from pathlib import Path
from typing import Final

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from headway.adapters.storage.store_faults import half_migrated

FOLDER: Final = Path(__file__).with_name("migrations")


def migrate(core: Connection, place: str, found: int, wanted: int) -> None:
    """Run every revision after the version found, up to the one wanted.

    Raises StoreUnavailable when the tables are not what their version says; the caller undoes all.
    """
    history = ScriptDirectory(str(FOLDER), version_locations=[str(FOLDER)])
    context = MigrationContext.configure(core)
    for version in range(found + 1, wanted + 1):
        step = history.get_revision(str(version))
        assert step is not None, f"no migration leads to version {version}"
        try:
            with Operations.context(context):
                step.module.upgrade()
        except DBAPIError as error:
            raise half_migrated(place, version, str(error.orig or error)) from error

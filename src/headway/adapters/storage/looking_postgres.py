"""Looking at a store in a PostgreSQL database; see `looking.py`."""

import psycopg
from psycopg.conninfo import conninfo_to_dict

from headway.adapters.storage.looking import facts_of, rows, told
from headway.adapters.storage.postgres_driver import PlainCursor, connect
from headway.adapters.storage.postgres_faults import not_an_address, other_tables, server_fault
from headway.adapters.storage.schema import POSTGRES_TABLES, SCHEMA_VERSION
from headway.ports.onlooker import StoreFacts

_SIZE = "SELECT pg_database_size(current_database())"
_VERSION = "SELECT current_setting('server_version')"


class PostgresOnlooker:
    """Implements `ports.onlooker.Onlooker` on an address."""

    def __init__(self, url: str) -> None:
        self._url = url

    @property
    def known_schema(self) -> int:
        """Return the schema version that this program writes."""
        return SCHEMA_VERSION

    def look(self, limit: int) -> StoreFacts:
        """Return what is there."""
        try:
            parts = conninfo_to_dict(self._url)
        except psycopg.ProgrammingError:
            raise not_an_address() from None  # its message repeats the address
        host = parts.get("host") or parts.get("hostaddr") or "the local server"
        place = f"{parts.get('dbname') or parts.get('user') or 'database'} on {host}"
        try:
            with connect(self._url) as raw:
                cursor = PlainCursor(raw)
                version = str(rows(cursor, _VERSION)[0][0]).partition(" ")[0]
                tables = {str(row[0]) for row in rows(cursor, POSTGRES_TABLES)}
                if tables and "meta" not in tables:
                    raise other_tables(place)
                size = int(rows(cursor, _SIZE)[0][0])
                nothing = StoreFacts(
                    kind="postgresql", place=place, product=f"PostgreSQL {version}"
                )
                return facts_of(nothing, size, told(cursor, tables, limit))
        except psycopg.Error as error:
            raise server_fault(error, place, str(parts.get("password") or "")) from error

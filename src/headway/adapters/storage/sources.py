"""The attached folders on an SQL database."""

from headway.adapters.storage import statements
from headway.adapters.storage.database import Cursor, Database, SqlValue
from headway.domain.errors import InvalidInput


class SqlSources:
    """Implements `ports.sources.Sources`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def attached(self) -> tuple[str, ...]:
        """Return the attached folders."""

        def work(cursor: Cursor) -> tuple[str, ...]:
            cursor.execute(statements.SOURCES)
            return tuple(str(row[0]) for row in cursor.fetchall())

        return self._database.read(work)

    def attach(self, path: str) -> None:
        """Attach a folder; attaching it twice changes nothing. Raises InvalidInput."""
        check_path(path)
        self._change(statements.ATTACH, path)

    def detach(self, path: str) -> None:
        """Detach a folder; detaching an unknown one changes nothing. Raises InvalidInput."""
        check_path(path)
        self._change(statements.DETACH, path)

    def _change(self, sql: str, value: SqlValue) -> None:
        def work(cursor: Cursor) -> None:
            cursor.execute(sql, (value,))

        self._database.write(work)


def check_path(path: str) -> None:
    """Refuse a path that no store can keep: one whose name is not text. Raises InvalidInput."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"The path {path!a} is not valid UTF-8.",
            remedy="Rename the folder, or attach one with a name in UTF-8.",
            details={"kind": "path_not_text"},
        ) from error

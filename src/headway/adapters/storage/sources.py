"""The attached folders and the git repositories on an SQL database."""

from headway.adapters.storage import statements
from headway.adapters.storage.database import Cursor, Database, Row, SqlValue
from headway.domain.errors import InvalidInput
from headway.ports.sources import GitSource


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
        self._change(statements.ATTACH, (path,))

    def detach(self, path: str) -> None:
        """Detach a folder; detaching an unknown one changes nothing. Raises InvalidInput."""
        check_path(path)
        self._change(statements.DETACH, (path,))

    def git_sources(self) -> tuple[GitSource, ...]:
        """Return the git repositories."""

        def work(cursor: Cursor) -> tuple[GitSource, ...]:
            cursor.execute(statements.GIT_SOURCES)
            return tuple(git_source_of(row) for row in cursor.fetchall())

        return self._database.read(work)

    def pin(self, source: GitSource) -> None:
        """Keep a repository, in the place of one with its id."""
        check_path(source.url)
        values = (source.id, source.url, source.ref, source.path, source.commit)
        self._change(statements.PIN, values)

    def drop(self, source_id: str) -> None:
        """Forget a repository; forgetting an unknown one changes nothing."""
        self._change(statements.DROP, (source_id,))

    def _change(self, sql: str, values: tuple[SqlValue, ...]) -> None:
        def work(cursor: Cursor) -> None:
            cursor.execute(sql, values)

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


def git_source_of(row: Row) -> GitSource:
    """Return the git repository in a row of `statements.GIT_SOURCES`."""
    name, url, ref, path, commit = map(str, row)
    return GitSource(id=name, url=url, ref=ref, path=path, commit=commit)

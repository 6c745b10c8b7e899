"""The attached folders and the git repositories on an SQL database."""

from collections.abc import Callable
from typing import Final, TypeVar

from headway.adapters.storage import statements
from headway.adapters.storage.database import Cursor, Database, Row, SqlValue
from headway.adapters.storage.rows import OF_A_SOURCE, checked, listed
from headway.domain.errors import InvalidInput
from headway.ports.listing import Listing
from headway.ports.sources import GitSource

_GIT_FIELDS: Final = GitSource.__struct_fields__

T = TypeVar("T")


class SqlSources:
    """Implements `ports.sources.Sources`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def attached(self) -> Listing[str]:
        """Return the attached folders."""
        return self._listed(statements.SOURCES, path_of)

    def attach(self, path: str) -> None:
        """Attach a folder; attaching it twice changes nothing. Raises InvalidInput."""
        check_path(path)
        self._change(statements.ATTACH, (path,))

    def detach(self, path: str) -> None:
        """Detach a folder; detaching an unknown one changes nothing. Raises InvalidInput."""
        check_path(path)
        self._change(statements.DETACH, (path,))

    def git_sources(self) -> Listing[GitSource]:
        """Return the git repositories."""
        return self._listed(statements.GIT_SOURCES, git_source_of)

    def pin(self, source: GitSource) -> None:
        """Keep a repository, in the place of one with its id."""
        check_path(source.url)
        values = (source.id, source.url, source.ref, source.path, source.commit)
        self._change(statements.PIN, values)

    def drop(self, source_id: str) -> None:
        """Forget a repository; forgetting an unknown one changes nothing."""
        self._change(statements.DROP, (source_id,))

    def _listed(self, sql: str, of: Callable[[Row], T]) -> Listing[T]:
        def work(cursor: Cursor) -> Listing[T]:
            cursor.execute(sql)
            return listed(cursor.fetchall(), of)

        return self._database.read(work)

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


def path_of(row: Row) -> str:
    """Return the folder in a row of `statements.SOURCES`. Raises SessionNotHealthy."""
    return checked(str, row[0], row[0], OF_A_SOURCE)


def git_source_of(row: Row) -> GitSource:
    """Return the repository in a row of `statements.GIT_SOURCES`. Raises SessionNotHealthy."""
    return checked(GitSource, dict(zip(_GIT_FIELDS, row, strict=True)), row[0], OF_A_SOURCE)

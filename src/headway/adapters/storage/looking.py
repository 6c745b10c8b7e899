"""Looking at a store with its driver alone: quick, and without a trace.

No table is made and no older store brought up, so what is told holds for a store of any version
that has these tables.
"""

from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias, get_args
from urllib.parse import quote

from headway.adapters.storage import looking_runs, statements
from headway.adapters.storage.database import Cursor, Row
from headway.adapters.storage.drivers import Driver, best_driver, text_or_bytes
from headway.adapters.storage.rows import gate_of, listed, summary_of
from headway.adapters.storage.schema import SCHEMA_VERSION, SQLITE_TABLES
from headway.adapters.storage.sources import git_source_of, path_of
from headway.adapters.storage.sqlite_faults import driver_fault, file_fault, not_a_store
from headway.adapters.storage.sqlite_file import Guard
from headway.ports.onlooker import StoreFacts
from headway.ports.sessions import Status

BUSY_SECONDS: Final = 2.0
TALLIES_SINCE: Final = 6  # the version of the schema whose rows of runs have them

_SCHEMA: Final = "SELECT value FROM meta WHERE name = 'schema'"
_STATUSES: Final = "SELECT status, count(*) FROM sessions GROUP BY status"
_KEYS: Final = "SELECT count(*) FROM keys"
_WAITING: Final = "SELECT count(*) FROM gates"
_LATEST: Final = (
    "SELECT s.name, workflow, workflow_id, workflow_name, goal, workspace, repository, branch,"
    " git_head, status, step_id, step_title, nonce, depth, recap, started_at, updated_at"
    " FROM sessions JOIN streams s ON s.id = sessions.stream"
    " ORDER BY updated_at DESC, s.name LIMIT ?"
)

Told: TypeAlias = dict[str, list[Row]]


class SqliteOnlooker:
    """Implements `ports.onlooker.Onlooker` on a file."""

    def __init__(self, path: Path, driver: Driver | None = None) -> None:
        self._path = path
        self._driver = driver or best_driver()

    @property
    def known_schema(self) -> int:
        """Return the schema version that this program writes."""
        return SCHEMA_VERSION

    def look(self, limit: int) -> StoreFacts:
        """Return what is there."""
        nothing = StoreFacts(
            kind="sqlite",
            place=str(self._path),
            product=f"SQLite {'.'.join(map(str, self._driver.version))}",
            shares=self._driver.shares_files,
        )
        try:
            if not self._path.exists():
                return nothing
        except OSError as error:
            raise file_fault(error, self._path) from error
        guard = Guard(self._path, self._driver)
        try:
            return facts_of(nothing, self._size(), self._cursor_work(limit))
        except (self._driver.error, UnicodeDecodeError) as error:
            raise driver_fault(error, self._path) from error
        finally:
            guard.release()

    def _cursor_work(self, limit: int) -> Told:
        address = f"file:{quote(str(self._path))}?mode=ro"
        connection = self._driver.module.connect(address, uri=True, timeout=BUSY_SECONDS)
        connection.text_factory = text_or_bytes
        try:
            cursor: Cursor = connection.cursor()
            tables = {str(row[0]) for row in rows(cursor, SQLITE_TABLES)}
            if tables and "meta" not in tables:
                raise not_a_store(self._path)
            return told(cursor, tables, limit)
        finally:
            connection.close()

    def _size(self) -> int:
        beside = (self._path.with_name(self._path.name + suffix) for suffix in ("", "-wal"))
        return sum(each.stat().st_size for each in beside if each.exists())


def told(cursor: Cursor, tables: set[str], limit: int) -> Told:
    """Read what a store says of itself, as far as it has the tables for it."""
    found: Told = {}
    asked: tuple[tuple[str, str, str, tuple[int, ...]], ...] = (
        ("schema", "meta", _SCHEMA, ()),
        ("statuses", "sessions", _STATUSES, ()),
        ("latest", "sessions", _LATEST, (max(limit, 1),)),
        ("keys", "keys", _KEYS, ()),
        ("waiting", "gates", _WAITING, ()),
        ("gates", "gates", statements.GATES, (limit,)),
        ("runs", "tasks", looking_runs.STATES, ()),
        ("claims", "tasks", looking_runs.CLAIMS, ()),
        ("unended", "tasks", looking_runs.UNENDED, ()),
        ("latest_runs", "tasks", looking_runs.LATEST, (limit,)),
        ("attached", "sources", statements.SOURCES, ()),
        ("git_sources", "git_sources", statements.GIT_SOURCES, ()),
    )
    for name, table, sql, values in asked:
        found[name] = rows(cursor, sql, *values) if table in tables else []
    has_tallies = (_number(found["schema"]) or 0) >= TALLIES_SINCE
    found["tallies"] = rows(cursor, looking_runs.TALLIES) if has_tallies else []
    return found


def facts_of(nothing: StoreFacts, size: int | None, read: Told) -> StoreFacts:
    """Return the facts in what was read."""
    latest, gates = listed(read["latest"], summary_of), listed(read["gates"], gate_of)
    claims = listed(read["claims"], looking_runs.claim_of)
    latest_runs = listed(read["latest_runs"], looking_runs.run_of)
    tallies = listed(read["tallies"], looking_runs.tally_of)
    unreadable = (each.unreadable for each in (latest, gates, claims, latest_runs, tallies))
    return StoreFacts(
        kind=nothing.kind,
        place=nothing.place,
        product=nothing.product,
        shares=nothing.shares,
        schema=_number(read["schema"]),
        size_bytes=size,
        sessions=_counts(read["statuses"]),
        keys=_number(read["keys"]) or 0,
        waiting=_number(read["waiting"]) or 0,
        newest_at=latest.rows[0].updated_at if latest.rows else None,
        latest=latest.rows,
        gates=gates.rows,
        runs=looking_runs.states_of(read["runs"]),
        resting=looking_runs.reasons_of(tallies.rows),
        claims=claims.rows,
        latest_runs=latest_runs.rows,
        unended=frozenset(str(row[0]) for row in read["unended"]),
        attached=listed(read["attached"], path_of).rows,
        git_sources=listed(read["git_sources"], git_source_of).rows,
        unreadable=tuple(dict.fromkeys(chain.from_iterable(unreadable))),
    )


def rows(cursor: Cursor, sql: str, *values: int) -> list[Row]:
    """Return all rows of a statement."""
    cursor.execute(sql, values)
    return cursor.fetchall()


def _counts(found: list[Row]) -> dict[Status, int]:
    by_name = {str(name): int(count) for name, count in found}
    known: tuple[Status, ...] = get_args(Status)
    return {status: by_name[status] for status in known if status in by_name}


def _number(found: list[Row]) -> int | None:
    text = str(found[0][0]) if found else ""
    return int(text) if text.isdecimal() else None

"""Session summaries on an SQL database: only read here, since the ledger's append writes them."""

from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from typing import Final

from sqlalchemy import Connection, Select, select

from headway.adapters.storage import statements
from headway.adapters.storage.database import Cursor, Database, Row
from headway.adapters.storage.rows import gate_of, summary_of
from headway.adapters.storage.search import Search
from headway.adapters.storage.tables import SESSIONS, STREAMS
from headway.domain.ids import SessionId, session_stream
from headway.domain.words import asked_in
from headway.ports.sessions import GateRow, SessionQuery, SessionSummary

# The fields of a summary in order, the stream's name in the place of its session.
_FIELDS = [
    STREAMS.c.name,
    *(SESSIONS.c[name] for name in SessionSummary.__struct_fields__ if name != "session"),
]
LISTED_MAX: Final = 500  # streams named in one statement


class SqlSessions:
    """Implements `ports.sessions.Sessions`."""

    def __init__(self, database: Database, search: Search) -> None:
        self._database = database
        self._search = search

    def summary(self, session: SessionId) -> SessionSummary | None:
        """Return a session's summary."""

        def work(cursor: Cursor) -> Row | None:
            cursor.execute(statements.SUMMARY, (session_stream(session),))
            return cursor.fetchone()

        row = self._database.read(work)
        return None if row is None else summary_of(row)

    def find(self, query: SessionQuery) -> tuple[SessionSummary, ...]:
        """Return the sessions that match every given field, the last updated first."""
        assert query.limit >= 0
        if not query.text.strip():
            limited = _narrowed(select(*_FIELDS), query).limit(query.limit)
            rows = self._database.query(lambda core: _rows(core, limited))
        else:
            asked = asked_in(query.text)
            streams = self._database.read(lambda cursor: self._search.streams(cursor, asked))
            rows = self._database.query(lambda core: _among(core, query, streams))
        return tuple(summary_of(row) for row in rows)

    def gates(self, limit: int) -> tuple[GateRow, ...]:
        """Return the gates that wait, the one that waits longest first."""

        def work(cursor: Cursor) -> list[Row]:
            cursor.execute(statements.GATES, (limit,))
            return cursor.fetchall()

        return tuple(gate_of(row) for row in self._database.read(work))


def _narrowed(statement: Select[Row], query: SessionQuery) -> Select[Row]:
    statement = statement.join(STREAMS, STREAMS.c.id == SESSIONS.c.stream)
    if query.session is not None:
        statement = statement.where(STREAMS.c.name == session_stream(query.session))
    for column, wanted in (
        (SESSIONS.c.branch, query.branch),
        (SESSIONS.c.git_head, query.git_head),
        (SESSIONS.c.workspace, query.workspace),
        (SESSIONS.c.repository, query.repository),
    ):
        if wanted is not None:
            statement = statement.where(column == wanted)
    if query.statuses:
        statement = statement.where(SESSIONS.c.status.in_(query.statuses))
    return statement.order_by(SESSIONS.c.updated_at.desc(), STREAMS.c.name)


def _rows(core: Connection, statement: Select[Row]) -> list[Row]:
    return [tuple(row) for row in core.execute(statement)]


def _among(core: Connection, query: SessionQuery, streams: set[int]) -> list[Row]:
    """Return the rows of a query among the streams that hold its words."""
    if not streams:
        return []
    if len(streams) > LISTED_MAX:
        streams = _first_among(core, query, streams)
    statement = _narrowed(select(*_FIELDS), query).where(SESSIONS.c.stream.in_(sorted(streams)))
    return _rows(core, statement.limit(query.limit))


def _first_among(core: Connection, query: SessionQuery, streams: set[int]) -> set[int]:
    """Return the first of many streams: in the order of the sessions, as many as are wanted."""
    with core.execute(_narrowed(select(SESSIONS.c.stream), query)) as result:
        keys: Iterator[int] = map(itemgetter(0), result)
        return set(islice((key for key in keys if key in streams), query.limit))

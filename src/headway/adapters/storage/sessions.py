"""Session summaries on an SQL database: only read here, since the ledger's append writes them."""

from sqlalchemy import Connection, Select, select

from headway.adapters.storage import statements
from headway.adapters.storage.database import Cursor, Database, Row
from headway.adapters.storage.matching import holds_words, words_of
from headway.adapters.storage.rows import gate_of, summary_of
from headway.adapters.storage.tables import SESSIONS, STREAMS
from headway.domain.ids import SessionId, session_stream
from headway.ports.sessions import GateRow, SessionQuery, SessionSummary

# The fields of a summary in order, the stream's name in the place of its session.
_FIELDS = [
    STREAMS.c.name,
    *(SESSIONS.c[name] for name in SessionSummary.__struct_fields__ if name != "session"),
]
_WORDS_IN = ("goal", "recap", "workflow_id", "workflow_name")
_WORD_FIELDS = [SessionSummary.__struct_fields__.index(name) for name in _WORDS_IN]


class SqlSessions:
    """Implements `ports.sessions.Sessions`."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
        statement = _narrowed(query)
        if not query.text.strip():
            limited = statement.limit(query.limit)
            rows = self._database.query(lambda core: _rows(core, limited))
        else:
            words = words_of(query.text)
            rows = self._database.query(lambda core: _matching(core, statement, words, query.limit))
        return tuple(summary_of(row) for row in rows)

    def gates(self, limit: int) -> tuple[GateRow, ...]:
        """Return the gates that wait, the one that waits longest first."""

        def work(cursor: Cursor) -> list[Row]:
            cursor.execute(statements.GATES, (limit,))
            return cursor.fetchall()

        return tuple(gate_of(row) for row in self._database.read(work))


def _narrowed(query: SessionQuery) -> Select[Row]:
    statement: Select[Row] = select(*_FIELDS).join(STREAMS, STREAMS.c.id == SESSIONS.c.stream)
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


def _matching(
    core: Connection, statement: Select[Row], words: tuple[str, ...], limit: int
) -> list[Row]:
    found: list[Row] = []
    with core.execute(statement) as result:
        for row in result:
            if len(found) >= limit:
                break
            if holds_words(words, *(str(row[field]) for field in _WORD_FIELDS)):
                found.append(tuple(row))
    return found

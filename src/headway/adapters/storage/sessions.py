"""Session summaries on an SQL database: only read here, since the ledger's append writes them."""

from headway.adapters.storage import statements
from headway.adapters.storage.database import Cursor, Database, Row, SqlValue
from headway.adapters.storage.rows import gate_of, read_listed, summary_of
from headway.adapters.storage.search import Search
from headway.domain.ids import SessionId, session_stream
from headway.domain.words import asked_in
from headway.ports.listing import Listing
from headway.ports.sessions import GateRow, SessionQuery, SessionSummary


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

    def find(self, query: SessionQuery) -> Listing[SessionSummary]:
        """Return the sessions that match every given field, the last updated first."""
        assert query.limit >= 0
        conditions, values = _narrowed(query)
        asked = asked_in(query.text)
        if query.text.strip() and not asked:
            return Listing(())  # there is no word in it
        for each in sorted(asked, key=lambda each: (-len(each.word), each.word)):
            condition, more = self._search.holding(each)
            # The plus keeps a word from being the way in: sessions are walked in their order, and
            # a word of most of them ends the walk early.
            conditions.append(f"+x.stream IN ({condition})")
            values += more
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        statement = f"{statements.SUMMARIES}{where} ORDER BY x.updated_at DESC, s.name LIMIT ?"

        def work(cursor: Cursor) -> Listing[SessionSummary]:
            with self._search.ready(cursor):
                return read_listed(cursor, statement, values, query.limit, summary_of)

        return self._database.read(work)

    def gates(self, limit: int) -> Listing[GateRow]:
        """Return the gates that wait, the one that waits longest first."""

        def work(cursor: Cursor) -> Listing[GateRow]:
            return read_listed(cursor, statements.GATES, (), limit, gate_of)

        return self._database.read(work)


def _narrowed(query: SessionQuery) -> tuple[list[str], list[SqlValue]]:
    """Return the conditions of the fields that are given, but for the words, and their values."""
    name = None if query.session is None else session_stream(query.session)
    wanted: dict[str, SqlValue] = {
        "s.name": name,
        "x.branch": query.branch,
        "x.git_head": query.git_head,
        "x.workspace": query.workspace,
        "x.repository": query.repository,
    }
    given = {column: value for column, value in wanted.items() if value is not None}
    conditions = [f"{column} = ?" for column in given]
    values: list[SqlValue] = list(given.values())
    if query.statuses:
        conditions.append(f"x.status IN ({', '.join('?' * len(query.statuses))})")
        values += query.statuses
    return conditions, values

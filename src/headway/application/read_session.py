"""Read a session: its row and its tree, for a person. Nothing is changed."""

from typing import Final

from headway.application.engine import Engine
from headway.application.loading import pinned_workflow
from headway.application.naming import or_session_purged, unknown_session
from headway.domain.errors import InvalidInput, NotFound, SessionNotHealthy
from headway.domain.events import SessionStarted
from headway.domain.ids import SessionId, session_stream
from headway.domain.projections.telling import Kind
from headway.domain.projections.tree import Row, Tree, session_tree
from headway.domain.values import Value
from headway.ports.sessions import SessionQuery, SessionSummary

__all__ = [
    "Kind",
    "ReadSession",
    "Row",
    "SessionSummary",
    "Tree",
    "named_session",
    "read_session",
    "session_row",
]

PREFIX: Final = "sess_"
SEARCHED_MAX: Final = 10_000  # sessions looked through for one that begins like this
SHOWN_MAX: Final = 5


class ReadSession(Value):
    """A session at a glance, and all of it."""

    summary: SessionSummary
    tree: Tree


def read_session(engine: Engine, name: str | None = None) -> ReadSession:
    """Return a session by its id or by a beginning that no other has; None is the latest.

    Raises NotFound when there is none, InvalidInput when several begin like this, SessionNotHealthy
    when a record cannot be read.
    """
    summary = session_row(engine, name)
    with or_session_purged(engine, summary.session):
        return _read(engine, summary)


def _read(engine: Engine, summary: SessionSummary) -> ReadSession:
    events = [record.event for record in engine.ledger.scan(session_stream(summary.session))]
    if not events or not isinstance(events[0], SessionStarted):
        raise SessionNotHealthy(
            f"Session {summary.session} does not begin with its start.",
            remedy="Read another session; `headway sessions list` shows them.",
        )
    workflow = pinned_workflow(engine, events[0].workflow)
    return ReadSession(summary=summary, tree=session_tree(events, workflow))


def session_row(engine: Engine, name: str | None) -> SessionSummary:
    """Return the summary of a session, None being the latest; see `read_session`."""
    return _latest(engine) if name is None else named_session(engine, name)


def _latest(engine: Engine) -> SessionSummary:
    found = engine.sessions.find(SessionQuery(limit=1))
    for each in found.unreadable:  # it may be the latest
        engine.sessions.summary(SessionId(each))
    if not found.rows:
        raise NotFound(
            "There is no session yet.",
            remedy="`headway run` begins one, and so does an MCP client; `headway demo` shows how.",
        )
    return found.rows[0]


def named_session(engine: Engine, name: str) -> SessionSummary:
    """Return the session of an id, or of a beginning that no other has; see `read_session`."""
    beginning = name if name.startswith(PREFIX) else PREFIX + name
    exact = engine.sessions.summary(SessionId(beginning))
    if exact is not None:
        return exact
    everyone = engine.sessions.find(SessionQuery(limit=SEARCHED_MAX))
    names = [*(each.session for each in everyone.rows), *map(SessionId, everyone.unreadable)]
    found = [each for each in names if each.startswith(beginning)]
    summary = engine.sessions.summary(found[0]) if len(found) == 1 else None
    if summary is not None:
        return summary
    if len(found) < 2:  # noqa: PLR2004 - none, or one that was purged just now
        raise unknown_session(engine, name)
    ids = found[:SHOWN_MAX]
    more = f" and {len(found) - SHOWN_MAX} more" if len(found) > SHOWN_MAX else ""
    raise InvalidInput(
        f"{len(found)} sessions begin with {name!r}: {', '.join(ids)}{more}.",
        remedy="Give more of the id.",
        details={"session": name, "candidates": list(ids)},
    )

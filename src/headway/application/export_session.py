"""Export a session as a bundle: proven first, then read again line by line."""

from collections.abc import Iterator
from dataclasses import dataclass

from headway.application.bundle import BUNDLE_VERSION, Header, bundle_lines
from headway.application.engine import Engine
from headway.application.naming import named_session, or_session_purged, unknown_session
from headway.application.proving import History, stored_events, stored_history, walk
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import Digest, SessionId, digest, session_stream
from headway.ports.custody import SealedEvent
from headway.ports.ledger import Blob

__all__ = ["Export", "export_session"]


@dataclass(frozen=True, slots=True)
class Export:
    """A session's bundle, its lines not read yet; reading may raise as `export_session` does."""

    session: SessionId
    events: int
    blobs: int
    lines: Iterator[bytes]


def export_session(engine: Engine, name: str) -> Export:
    """Return the bundle of a session.

    Raises NotFound or InvalidInput when no single session has that name, SessionNotHealthy when its
    history does not prove itself: a bundle holds nothing that an import would refuse.
    """
    session = named_session(engine, name)
    with or_session_purged(engine, session):
        return _export(engine, session)


def _export(engine: Engine, session: SessionId) -> Export:
    stream = session_stream(session)
    end = engine.records.standing(stream)
    if end is None:
        raise unknown_session(engine, session)
    history = stored_history(engine.records, stream, end)
    started = history.state.started
    if history.problem is not None or started is None:
        what = history.problem.text() if history.problem else "It has no beginning."
        raise _unsound(session, what)
    for blob in history.blobs:
        _blob(engine, session, blob)
    header = Header(
        bundle=BUNDLE_VERSION,
        session=session,
        ledger=engine.ledger_id,
        workflow=started.workflow,
        events=history.version,
        blobs=len(history.blobs),
        head=history.hash.hex(),
    )
    lines = _lines(engine, session, header, history)
    return Export(session=session, events=header.events, blobs=header.blobs, lines=lines)


def _lines(engine: Engine, session: SessionId, header: Header, history: History) -> Iterator[bytes]:
    blobs = (_blob(engine, session, blob) for blob in history.blobs)
    with or_session_purged(engine, session):
        yield from bundle_lines(header, _proven(engine, session, history), blobs)


def _proven(engine: Engine, session: SessionId, proven: History) -> Iterator[SealedEvent]:
    """Yield the events again, proven again: the store may have changed since."""
    again = History(proven.stream)
    yield from walk(again, stored_events(engine.records, proven.stream, proven.version))
    if again.hash != proven.hash:
        raise _unsound(session, "It changed while it was read.")


def _blob(engine: Engine, session: SessionId, name: Digest) -> Blob:
    data = engine.records.blob(name)
    if data is None or digest(data) != name:
        raise _unsound(session, f"The blob {name} is missing or damaged.")
    return Blob(digest=name, data=data)


def _unsound(session: SessionId, what: str) -> SessionNotHealthy:
    return SessionNotHealthy(
        f"The session {session} cannot be exported. {what}",
        remedy="`headway verify` names all that is wrong; restore the store from a backup. "
        "Other sessions are not affected.",
        details={"session": session},
    )

"""Import a bundle: everything in it is verified before anything is written, in one transaction.

As new, the session gets an id of its own while its events stay as they are, so that their proofs
hold; attempts and summary are made from the events. Tokens of the machine it comes from are not
good here; `resume_session` gives others.
"""

from collections.abc import Iterable

from headway.application.bundle import LINE_BYTES_MAX, Bundle, read_bundle
from headway.application.engine import Engine
from headway.application.naming import purged_words
from headway.application.proving import gates_of, rows_of, summary_of
from headway.application.search_words import words_in_state
from headway.domain.errors import PreconditionFailed
from headway.domain.ids import ID_BYTES, SessionId, session_id, session_stream
from headway.domain.values import Value
from headway.ports.custody import Projections
from headway.ports.ledger import Conflict

__all__ = ["LINE_BYTES_MAX", "Imported", "import_session"]


class Imported(Value):
    """A session that is here now; `already` when it was before, event for event the same."""

    session: SessionId
    origin: SessionId
    workspace: str
    events: int
    already: bool = False


def import_session(engine: Engine, lines: Iterable[bytes], *, as_new: bool = False) -> Imported:
    """Import a bundle and return the session it became.

    Raises InvalidInput for a bundle that is damaged or of another version, PreconditionFailed for a
    session that cannot come back under its id; nothing was written then.
    """
    new = session_id(engine.entropy.draw(ID_BYTES)) if as_new else None
    bundle = read_bundle(lines, None if new is None else session_stream(new))
    session = new or bundle.header.session
    _refuse_purged(engine, session)
    already = _stands(engine, session, bundle)
    if not already:
        try:
            engine.custody.place(
                session_stream(session), bundle.events, bundle.blobs, _projections(session, bundle)
            )
        except Conflict:  # another import was first, or a purge was
            _refuse_purged(engine, session)
            already = _stands(engine, session, bundle)
    started = bundle.history.state.started
    assert started is not None
    return Imported(
        session=session,
        origin=started.origin,
        workspace=started.workspace,
        events=len(bundle.events),
        already=already,
    )


def _refuse_purged(engine: Engine, session: SessionId) -> None:
    tombstone = engine.custody.tombstone(session)
    if tombstone is not None:
        raise _refused(session, f"{purged_words(tombstone)}, and its id is not used again")


def _stands(engine: Engine, session: SessionId, bundle: Bundle) -> bool:
    """Tell whether the same session is here; raise when another state of it is."""
    end = engine.records.standing(session_stream(session))
    if end is None:
        return False
    if (end.version, end.hash) == (bundle.history.version, bundle.history.hash):
        return True
    raise _refused(session, "is here already, in another state than in the bundle")


def _projections(session: SessionId, bundle: Bundle) -> Projections:
    blobs = {blob.digest: blob.data for blob in bundle.blobs}
    return Projections(
        attempts=tuple(rows_of(session, bundle.history).values()),
        summary=summary_of(session, bundle.history, bundle.workflow, bundle.notes),
        gates=gates_of(session, bundle.history),
        words=words_in_state(bundle.history.state, bundle.workflow, blobs.get),
    )


def _refused(session: SessionId, why: str) -> PreconditionFailed:
    return PreconditionFailed(
        f"The session {session} {why}.",
        remedy="Add --as-new: it comes in under a new id, with its proofs.",
        details={"session": session},
    )

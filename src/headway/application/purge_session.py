"""Purge a session: the only way one disappears. A tombstone says that it was there."""

from headway.application.engine import Engine
from headway.application.naming import named_session, unknown_session
from headway.application.start_workflow import session_of_run
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.ids import RunId, SessionId, run_of, session_stream
from headway.domain.values import Value
from headway.ports.custody import Purged, RunUnfinished, Tombstone

__all__ = ["PurgedSession", "purge_session"]

REASON_CHARACTERS_MAX = 500


class PurgedSession(Value):
    """A session that is gone, and how much went with it; `run` is the one that drove it."""

    session: SessionId
    removed: Purged
    run: RunId | None = None


def purge_session(engine: Engine, name: str, reason: str = "") -> PurgedSession:
    """Remove a session with its events, attempts, summary, and the blobs that it alone speaks of.

    A run that drove it goes with it: its messages hold what the session holds. Raises NotFound or
    InvalidInput when no single session has that name, PreconditionFailed while its run goes on.
    """
    session = named_session(engine, name)
    if len(reason) > REASON_CHARACTERS_MAX or not reason.isprintable():
        raise InvalidInput(
            "The reason of a purge is one line of text, "
            f"at most {REASON_CHARACTERS_MAX} characters long.",
            remedy="Say in a few words why the session goes.",
        )
    tombstone = Tombstone(session=session, purged_at=engine.clock.now_ms(), reason=reason)
    run = _run_of(engine, session)
    try:
        removed = engine.custody.purge(session_stream(session), tombstone, run)
    except RunUnfinished as unfinished:
        raise _is_driven(session, unfinished) from unfinished
    if removed is None:
        raise unknown_session(engine, session)  # another process was first
    return PurgedSession(session=session, removed=removed, run=run if removed.runs else None)


def _run_of(engine: Engine, session: SessionId) -> RunId | None:
    """Return the run that began a session: a session's id is made of that of its run."""
    for stream in engine.records.streams():
        run = run_of(stream)
        if run is not None and session_of_run(engine, run) == session:
            return run
    return None


def _is_driven(session: SessionId, unfinished: RunUnfinished) -> PreconditionFailed:
    run = unfinished.run
    return PreconditionFailed(
        f"The session {session} is driven by the run {run}, which has not ended "
        f"({unfinished.state}).",
        remedy=f"End the run first: `headway runs abort {run}`. Then purge the session; its run "
        "goes with it.",
        details={"kind": "run_unfinished", "session": session, "run": run},
    )

"""Purge a session: the only way one disappears. A tombstone says that it was there."""

from headway.application.engine import Engine
from headway.application.naming import named_session, unknown_session
from headway.domain.errors import InvalidInput
from headway.domain.ids import SessionId, session_stream
from headway.domain.values import Value
from headway.ports.custody import Purged, Tombstone

__all__ = ["PurgedSession", "purge_session"]

REASON_CHARACTERS_MAX = 500


class PurgedSession(Value):
    """A session that is gone, and how much went with it."""

    session: SessionId
    removed: Purged


def purge_session(engine: Engine, name: str, reason: str = "") -> PurgedSession:
    """Remove a session with its events, attempts, summary, and the blobs that it alone speaks of.

    Raises NotFound or InvalidInput when no single session has that name.
    """
    session = named_session(engine, name)
    if len(reason) > REASON_CHARACTERS_MAX or not reason.isprintable():
        raise InvalidInput(
            "The reason of a purge is one line of text, "
            f"at most {REASON_CHARACTERS_MAX} characters long.",
            remedy="Say in a few words why the session goes.",
        )
    tombstone = Tombstone(session=session, purged_at=engine.clock.now_ms(), reason=reason)
    removed = engine.custody.purge(session_stream(session), tombstone)
    if removed is None:
        raise unknown_session(engine, session)  # another process was first
    return PurgedSession(session=session, removed=removed)

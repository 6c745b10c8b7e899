"""Naming: which session is meant, told by the streams alone: a damaged one is found too."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from headway.application.engine import Engine
from headway.domain.errors import InvalidInput, NotFound, SessionNotHealthy
from headway.domain.ids import SessionId, StreamId, session_stream
from headway.ports.custody import Tombstone

PREFIX: Final = "sess_"
SHOWN_MAX: Final = 5


def named_session(engine: Engine, name: str) -> SessionId:
    """Return the session of an id or of a beginning that no other has.

    Raises NotFound when there is none, InvalidInput when several begin like this.
    """
    beginning = session_stream(SessionId(name if name.startswith(PREFIX) else PREFIX + name))
    if engine.records.standing(beginning) is not None:
        return session_named(beginning)
    found = [stream for stream in engine.records.streams() if stream.startswith(beginning)]
    if not found:
        raise unknown_session(engine, name)
    if len(found) > 1:
        ids = [session_named(stream) for stream in found[:SHOWN_MAX]]
        more = f" and {len(found) - SHOWN_MAX} more" if len(found) > SHOWN_MAX else ""
        raise InvalidInput(
            f"{len(found)} sessions begin with {name!r}: {', '.join(ids)}{more}.",
            remedy="Give more of the id.",
            details={"session": name, "candidates": list(ids)},
        )
    return session_named(found[0])


def session_named(stream: StreamId) -> SessionId:
    """Return the session of its stream."""
    return SessionId(stream.removeprefix(session_stream(SessionId(""))))


@contextmanager
def or_session_purged(engine: Engine, session: SessionId) -> Iterator[None]:
    """Tell records that are missing within as NotFound, when a purge took them away."""
    try:
        yield
    except SessionNotHealthy as fault:
        if engine.custody.tombstone(session) is None:
            raise
        raise unknown_session(engine, session) from fault


def purged_words(tombstone: Tombstone) -> str:
    """Return what a tombstone says, as the end of a sentence."""
    day = datetime.fromtimestamp(tombstone.purged_at / 1000, UTC)
    why = f" ({tombstone.reason})" if tombstone.reason else ""
    return f"was purged on {day:%Y-%m-%d at %H:%M} UTC{why}"


def unknown_session(engine: Engine, name: str) -> NotFound:
    """Return the fault of a session that is not here, and say so when it was purged."""
    session = SessionId(name if name.startswith(PREFIX) else PREFIX + name)
    tombstone = engine.custody.tombstone(session)
    if tombstone is not None:
        return NotFound(
            f"The session {session} {purged_words(tombstone)}.",
            remedy="If it was exported: `headway import FILE --as-new` brings it back.",
            details={"session": session, "purgedAt": tombstone.purged_at},
        )
    return NotFound(
        f"No session begins with {name!r}.",
        remedy="`headway sessions list` shows the ids.",
        details={"session": name},
    )

"""List sessions, the last touched first, for a person."""

from headway.application.engine import Engine
from headway.ports.listing import Listing
from headway.ports.sessions import SessionQuery, SessionSummary

__all__ = ["SessionSummary", "list_sessions"]


def list_sessions(engine: Engine, limit: int, words: str = "") -> Listing[SessionSummary]:
    """Return at most `limit` sessions; `words`, when given, are all in goal, notes or workflow."""
    return engine.sessions.find(SessionQuery(text=words, limit=limit))

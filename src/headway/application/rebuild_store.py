"""Rebuild what stands beside the streams from the streams alone: attempts, summaries, words.

What a rehydrate minted left no event and is kept, as long as it points at a node that was opened. A
stream that does not prove itself is left as it is: nothing is built on a damaged history.
"""

from headway.application.engine import Engine
from headway.application.naming import session_named
from headway.application.proving import (
    SESSION_STREAMS,
    Problem,
    gates_of,
    rows_of,
    stored_history,
    summary_of,
    unplaced,
)
from headway.application.search_words import words_in_state
from headway.application.verify_store import Progress, history_workflow, is_minted, notes_of
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import StreamId
from headway.domain.values import Value
from headway.ports.custody import Projections, Standing
from headway.ports.ledger import Conflict

__all__ = ["Problem", "RebuildReport", "rebuild_store"]

TRIES_MAX = 100


class RebuildReport(Value):
    """How many sessions were looked at and mended, and which could not be."""

    sessions: int
    mended: int
    dropped: int  # attempts that stood for nothing
    problems: tuple[Problem, ...]


def rebuild_store(engine: Engine, progress: Progress | None = None) -> RebuildReport:
    """Rebuild every session's rows, and the index of their words. Raises StoreUnavailable."""
    engine.custody.reindex()
    streams = [name for name in engine.records.streams() if name.startswith(SESSION_STREAMS)]
    mended = dropped = 0
    problems: list[Problem] = []
    for number, stream in enumerate(streams, 1):
        found = _rebuilt(engine, stream)
        if isinstance(found, Problem):
            problems.append(found)
        elif found is not None:
            mended += 1
            dropped += len(found.dropped)
        if progress is not None:
            progress(number, len(streams))
    return RebuildReport(
        sessions=len(streams), mended=mended, dropped=dropped, problems=tuple(problems)
    )


def _rebuilt(engine: Engine, stream: StreamId) -> Projections | Problem | None:
    """Return what was put right, None when all was; or why nothing could be."""
    for _ in range(TRIES_MAX):
        try:
            return _rebuild(engine, stream)
        except Conflict:
            continue  # the session went on meanwhile
        except SessionNotHealthy as fault:
            return Problem(stream=stream, what=f"cannot be read: {fault.message.rstrip('.')}")
    return Problem(stream=stream, what="is too busy to be rebuilt now")


def _rebuild(engine: Engine, stream: StreamId) -> Projections | Problem | None:
    end = engine.records.standing(stream)
    if end is None:
        return None
    history = stored_history(engine.records, stream, end)
    if history.problem is not None:
        return history.problem
    workflow = history_workflow(engine, history)
    if workflow is None:
        return Problem(stream=stream, what="has no workflow that can be read")
    misplaced = unplaced(history, workflow)
    if misplaced is not None:
        return misplaced
    session = session_named(stream)
    summary = summary_of(session, history, workflow, notes_of(engine, history))
    expected = rows_of(session, history)
    stored = {row.nonce: row for row in end.attempts}
    wrong = [row for nonce, row in expected.items() if stored.get(nonce) != row]
    lost = [damaged.nonce for damaged in end.damaged_attempts]
    lost += [
        nonce
        for nonce, row in stored.items()
        if nonce not in expected and not is_minted(history, row)
    ]
    dropped = tuple(nonce for nonce in lost if isinstance(nonce, bytes) and nonce not in expected)
    projections = Projections(
        attempts=tuple(wrong),
        summary=summary,
        gates=gates_of(session, history),
        words=words_in_state(history.state, workflow, engine.records.blob),
        dropped=dropped,
    )
    if not wrong and not dropped and _beside(projections) == _beside(end):
        return None
    engine.custody.restate(stream, history.version, projections)
    return projections


def _beside(rows: Projections | Standing) -> tuple[object, ...]:
    return rows.summary, rows.gates, rows.words

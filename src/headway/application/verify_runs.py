"""Verify a run beside its stream: its row in the queue, and the session that it says it drives."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from headway.application.engine import Engine
from headway.application.proving import History, Problem
from headway.application.runs import stop_at
from headway.application.start_workflow import session_of_run
from headway.domain.ids import RunId, session_stream
from headway.domain.runs.conversation import Conversation
from headway.ports.custody import StoredTask
from headway.ports.queue import Move, Tally


def run_problems(engine: Engine, run: RunId, history: History) -> Iterator[Problem]:
    """Yield what stands otherwise than the proven stream of a run says."""
    row = engine.records.task(run)
    if row is None:
        yield Problem(stream=history.stream, what="has no row in the queue")
        return
    if row.problem is not None:
        what = f"has a row in the queue that cannot be read: {row.problem.rstrip('.')}"
        yield Problem(stream=history.stream, what=what)
    wrong = [*_wrong(row, history.run)]
    if wrong and _stands(engine, history):
        yield Problem(
            stream=history.stream,
            what=f"has a row in the queue that differs from its events in {', '.join(wrong)}",
        )
    session = history.run.session
    if session is None or session != session_of_run(engine, run):
        return  # it drives one of another ledger
    if engine.records.standing(session_stream(session)) is None and _stands(engine, history):
        yield Problem(stream=history.stream, what=f"drives {session}, which is not there")


def _wrong(row: StoredTask, run: Conversation) -> Iterator[str]:
    """Yield the names of the fields of a row that are not what the events have them be."""
    stop = Move(state="queued") if run.outcome is None else stop_at(run, run.outcome)
    driven = stop.state == "queued" and run.fence > 0
    if row.state != stop.state and not (driven and row.state == "claimed"):
        yield "state"
    if row.outcome != stop.outcome:
        yield "outcome"
    if row.fence != run.fence:
        yield "fence"
    # A row of an older version has no tally; that of a run which was resumed is of its rest.
    if stop.tally is not None and row.tally is not None and not _agrees(row.tally, stop.tally):
        yield "tally"


def _agrees(text: object, tally: Tally) -> bool:
    told = _tally(text)
    if told is not None and told.outcome is None:  # of an older version
        tally = replace(tally, outcome=None, reason=None)
    return told == tally


def _tally(text: object) -> Tally | None:
    try:
        return msgspec.json.decode(str(text), type=Tally)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _stands(engine: Engine, history: History) -> bool:
    """Tell whether the stream ends where it was read to: row and stream move in one write."""
    now = engine.records.standing(history.stream)
    return now is not None and now.version == history.version

"""Verify the store: the chain and blobs of every session and run, and what stands beside them.

Everything is read as it is stored, past every cache. What is found is a report, never a fault: a
damaged session does not keep the others from being looked at.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from headway.application.engine import Engine
from headway.application.naming import named_session, session_named
from headway.application.proving import (
    SESSION_STREAMS,
    VERSION_MAX,
    History,
    Problem,
    gates_of,
    read_workflow,
    rows_of,
    stored_events,
    stored_history,
    summary_of,
    unplaced,
)
from headway.application.search_words import words_in_state
from headway.application.verify_runs import run_problems
from headway.domain.errors import SessionNotHealthy
from headway.domain.history import mentions
from headway.domain.ids import Digest, NodeId, SessionId, StreamId, digest, run_of, session_stream
from headway.domain.tokens import nonce_of
from headway.domain.values import Value
from headway.domain.workflow import Workflow
from headway.ports.custody import Standing
from headway.ports.ledger import AttemptRow

__all__ = ["Problem", "VerifyReport", "verify_store"]

PROBLEMS_A_STREAM_MAX: Final = 20

# Told after each stream: how many are done, of how many.
Progress = Callable[[int, int], None]


class VerifyReport(Value):
    """What was looked at, and all that is not as recorded; a stream is a session or a run."""

    streams: int
    runs: int
    events: int
    blobs: int
    problems: tuple[Problem, ...]


def verify_store(
    engine: Engine, name: str | None = None, progress: Progress | None = None
) -> VerifyReport:
    """Verify one session, or all that the store holds.

    Raises NotFound or InvalidInput when no single session has that name, StoreUnavailable or
    SessionNotHealthy when the store cannot be read at all.
    """
    stored = () if name is not None else engine.records.blobs()
    streams = engine.records.streams()
    if name is not None:
        streams = (session_stream(named_session(engine, name)),)
    verifier = _Verifier(engine)
    problems: list[Problem] = []
    for number, stream in enumerate(streams, 1):
        problems += verifier.stream_problems(stream)
        if progress is not None:
            progress(number, len(streams))
    if name is None:
        problems += verifier.strays(stored, streams, sound=not problems)
    return VerifyReport(
        streams=len(streams),
        runs=sum(run_of(each) is not None for each in streams),
        events=verifier.events,
        blobs=len(verifier.judged),
        problems=tuple(problems),
    )


class _Verifier:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.events = 0
        self.judged: dict[Digest, tuple[str | None, int]] = {}  # what is wrong, and the size

    def stream_problems(self, stream: StreamId) -> list[Problem]:
        """Return the problems of a stream, the first ones when there are many."""
        found = self._problems(stream)
        try:
            problems = list(islice(found, PROBLEMS_A_STREAM_MAX))
            more = sum(1 for _ in found)
        except SessionNotHealthy as fault:  # the file itself is damaged where this stream stands
            problems = [Problem(stream=stream, what=f"cannot be read: {fault.message.rstrip('.')}")]
            more = 0
        if more:
            problems.append(Problem(stream=stream, what=f"has {more} more problems"))
        if problems and self.engine.records.standing(stream) is None:
            self._forget_missing()
            return []  # purged while it was looked at
        return problems

    def _forget_missing(self) -> None:
        """Forget the blobs that a purge took away: another session may bring them back."""
        for name in [name for name, (problem, _) in self.judged.items() if problem is not None]:
            del self.judged[name]

    def strays(
        self, stored: tuple[Digest, ...], streams: tuple[StreamId, ...], *, sound: bool
    ) -> Iterator[Problem]:
        """Yield what stands without a stream."""
        for words in self.engine.records.strays():
            yield Problem(stream="the store", what=f"has {words}")
        if not sound:
            return  # what damaged streams speak of is not known
        lost = set(stored) - self.judged.keys()
        for stream in streams:
            if not lost:
                return
            for row in stored_events(self.engine.records, stream, VERSION_MAX):
                lost -= mentions(row.data)  # kept by a purge, which goes by any digest it sees
        if lost:
            lost &= set(self.engine.records.blobs())  # the others were purged meanwhile
        if lost:
            yield Problem(stream="the store", what=f"has {len(lost)} blobs that no event names")

    def _problems(self, stream: StreamId) -> Iterator[Problem]:
        end = self.engine.records.standing(stream)
        if end is None:
            return  # purged meanwhile
        history = stored_history(self.engine.records, stream, end)
        self.events += history.version
        if history.problem is not None:
            yield history.problem
            return
        yield from self._blob_problems(history)
        run = run_of(stream)
        if run is not None:
            yield from run_problems(self.engine, run, history)
        if not stream.startswith(SESSION_STREAMS):
            return
        session = session_named(stream)
        yield from attempt_problems(session, history, end)
        yield from self._summary_problems(session, history, end)

    def _blob_problems(self, history: History) -> Iterator[Problem]:
        for name, (version, size) in history.blobs.items():
            problem = self._judge(name)
            if problem is None and size not in (None, self.judged[name][1]):
                problem = "has another size than its event says"
            if problem is not None:
                yield Problem(
                    stream=history.stream, version=version, what=f"names the blob {name}: {problem}"
                )

    def _judge(self, name: Digest) -> str | None:
        """Return what is wrong with a blob; each is read once."""
        if name not in self.judged:
            data = self.engine.records.blob(name)
            problem = None
            if data is None:
                problem = "it is missing"
            elif digest(data) != name:
                problem = "it does not match its digest"
            self.judged[name] = (problem, len(data or b""))
        return self.judged[name][0]

    def _summary_problems(
        self, session: SessionId, history: History, end: Standing
    ) -> Iterator[Problem]:
        workflow = history_workflow(self.engine, history)
        if workflow is None:
            yield Problem(stream=history.stream, what="has no workflow that can be read")
            return
        misplaced = unplaced(history, workflow)
        if misplaced is not None:
            yield misplaced
            return
        words = words_in_state(history.state, workflow, self.engine.records.blob)
        lost = len(words - end.words)  # more may have come meanwhile
        if lost:
            yield Problem(
                stream=history.stream,
                what=f"cannot be found by {lost} of its words",
            )
        if end.damaged_summary is not None or end.summary is None:
            what = "is missing" if end.damaged_summary is None else "cannot be read"
            yield Problem(stream=history.stream, what=f"has a summary that {what}")
            return
        expected = summary_of(session, history, workflow, notes_of(self.engine, history))
        wrong = [
            name
            for name in expected.__struct_fields__
            if getattr(expected, name) != getattr(end.summary, name)
        ]
        if wrong:
            yield Problem(
                stream=history.stream,
                what=f"has a summary that differs from its events in {', '.join(wrong)}",
            )


def history_workflow(engine: Engine, history: History) -> Workflow | None:
    """Return the workflow that a history is pinned to, None when its blob cannot be used."""
    started = history.state.started
    if started is None:
        return None
    data = engine.records.blob(Digest(started.workflow))
    if data is None or digest(data) != Digest(started.workflow):
        return None
    return read_workflow(data)


def notes_of(engine: Engine, history: History) -> bytes | None:
    """Return the newest notes of a history when they are a blob."""
    if history.notes is None or not history.notes.blob:
        return None
    return engine.records.blob(history.notes.digest) or b""


def attempt_problems(session: SessionId, history: History, end: Standing) -> Iterator[Problem]:
    """Yield what is wrong with the attempts that stand beside a stream."""
    if gates_of(session, history) != end.gates:
        yield Problem(stream=history.stream, what="has other waiting gates than its events say")
    expected = rows_of(session, history)
    for damaged in end.damaged_attempts:
        yield Problem(
            stream=history.stream,
            what=f"has an attempt that cannot be read: {damaged.problem.rstrip('.')}",
        )
    stored = {row.nonce: row for row in end.attempts}
    for nonce, row in expected.items():
        if nonce not in stored:
            yield Problem(stream=history.stream, what=f"has lost its attempt {row.attempt}")
        elif stored[nonce] != row:
            yield Problem(
                stream=history.stream,
                what=f"has an attempt {row.attempt} that differs from its events",
            )
    for nonce, row in stored.items():
        if nonce not in expected and not is_minted(history, row):
            yield Problem(
                stream=history.stream,
                what=f"has an attempt {row.attempt} that stands for nothing recorded",
            )


def is_minted(history: History, row: AttemptRow) -> bool:
    """Tell whether a rehydrate may have left this row: fresh, on a node that was opened there."""
    openings: list[int] = history.continuity.openings.get(NodeId(row.node), [])
    fresh = AttemptRow(
        nonce=nonce_of(row.session, row.attempt),
        session=row.session,
        node=row.node,
        attempt=row.attempt,
        opened_at=row.opened_at,
    )
    return row == fresh and row.opened_at in openings

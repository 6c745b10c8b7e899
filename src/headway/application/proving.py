"""Proving: what a stream says, read from its stored bytes alone, and whether it says it soundly.

One pass: each event's hash is made anew from its bytes and the hash before it, its bytes are read
as an event, and the event must fit what came before. The walk ends at the first event that fails;
what the events before it add up to is kept, but nothing may be built on it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce

import msgspec

from headway.application.recording import attempt_row, recap_of, summarise
from headway.domain.chain import GENESIS, event_hash
from headway.domain.errors import SessionNotHealthy
from headway.domain.event_codec import decode
from headway.domain.events import (
    AdvanceBlocked,
    Content,
    Event,
    GateDecided,
    GateOpened,
    SessionStarted,
    StepAdvanced,
)
from headway.domain.history import Continuity, named_blobs, stands
from headway.domain.ids import AttemptId, Digest, SessionId, StreamId, run_of
from headway.domain.runs import event_codec as run_codec
from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.events import RunEvent, RunSubmitted
from headway.domain.runs.naming import run_blobs
from headway.domain.state import SessionState, fold
from headway.domain.tokens import nonce_of
from headway.domain.values import Value
from headway.domain.workflow import Workflow
from headway.ports.custody import Records, SealedEvent, Standing, StoredEvent
from headway.ports.ledger import AttemptRow
from headway.ports.sessions import GateRow, SessionSummary

EVENTS_A_PAGE = 1_000
VERSION_MAX = 2**63 - 1
TIME_MAX = 2**63 - 1
SESSION_STREAMS = "session:"


class Problem(Value):
    """Something that is not as it was recorded: where, and what is wrong, in words."""

    stream: str
    what: str
    version: int | None = None

    def text(self) -> str:
        """Return the problem as one sentence."""
        where = f"event {self.version} of {self.stream}" if self.version else self.stream
        return f"{where} {self.what}."


@dataclass(slots=True)
class History:
    """What the events of a stream add up to, and the first thing that is wrong with them.

    `state` is that of a session, `run` that of a run; the other one stays empty.
    """

    stream: StreamId
    version: int = 0
    hash: bytes = GENESIS
    problem: Problem | None = None
    state: SessionState = field(default_factory=SessionState)
    run: Conversation = field(default_factory=Conversation)
    blobs: dict[Digest, tuple[int, int | None]] = field(default_factory=dict)
    continuity: Continuity = field(default_factory=Continuity)
    notes: Content | None = None  # the newest
    waiting: dict[int, tuple[AttemptId, int]] = field(default_factory=dict)  # gates, by version
    started_at: int = 0
    updated_at: int = 0

    def refuse(self, version: int | None, what: str) -> None:
        """Keep a problem, unless there was one before it."""
        if self.problem is None:
            self.problem = Problem(stream=self.stream, version=version, what=what)


def stored_history(records: Records, stream: StreamId, end: Standing) -> History:
    """Return the history of a stream up to the end that its row names."""
    history = History(stream)
    if not isinstance(end.version, int) or not isinstance(end.hash, bytes):
        history.refuse(None, "is damaged where it names its end")
        return history
    tell(history, stored_events(records, stream, end.version))
    if history.problem is None and history.version < end.version:
        history.refuse(history.version + 1, "is missing")
    if history.problem is None and history.hash != end.hash:
        history.refuse(history.version, "is not the end that its stream names")
    return history


def stored_events(records: Records, stream: StreamId, last: int) -> Iterator[StoredEvent]:
    """Yield the events of a stream up to a version, a page in memory at a time."""
    after = 0
    while after < last:
        page = records.events(stream, after, min(EVENTS_A_PAGE, last - after))
        yield from page
        at = page[-1].version if page else None
        if not isinstance(at, int) or at <= after:
            return
        after = at


def tell(history: History, rows: Iterable[StoredEvent]) -> None:
    """Walk the rows and fill in the history, up to the first problem."""
    proven = walk(history, rows)
    if history.stream.startswith(SESSION_STREAMS):
        history.state = fold(_events(history, proven))
    elif run_of(history.stream) is not None:
        history.run = reduce(evolve, _run_events(history, proven), history.run)
    else:
        for _ in proven:
            pass  # other streams have their chain alone


def walk(history: History, rows: Iterable[StoredEvent]) -> Iterator[SealedEvent]:
    """Yield the rows whose place in the chain is proven, up to the first that is not."""
    version, own = history.version, history.hash
    for row in rows:
        version += 1
        at, recorded_at, stored, data = row
        if at != version:
            history.refuse(version, "is missing")
            return
        if type(recorded_at) is not int or type(stored) is not bytes or type(data) is not bytes:
            history.refuse(version, "is damaged")
            return
        if (
            not 0 <= recorded_at <= TIME_MAX
            or event_hash(own, version, recorded_at, data) != stored
        ):
            history.refuse(version, "does not match its hash")
            return
        history.version, history.hash = version, stored
        own = stored
        yield SealedEvent(version, recorded_at, stored, data)


def _events(history: History, rows: Iterable[SealedEvent]) -> Iterator[Event]:
    for row in rows:
        try:
            event = decode(row.data)
        except SessionNotHealthy as fault:
            history.refuse(row.version, f"cannot be read: {fault.message.rstrip('.')}")
            return
        misfit = history.continuity.misfit(event)
        if misfit is not None:
            history.refuse(row.version, misfit)
            return
        _note(history, row, event)
        yield event


def _run_events(history: History, rows: Iterable[SealedEvent]) -> Iterator[RunEvent]:
    for row in rows:
        try:
            event = run_codec.decode(row.data)
        except SessionNotHealthy as fault:
            history.refuse(row.version, f"cannot be read: {fault.message.rstrip('.')}")
            return
        if (row.version == 1) != isinstance(event, RunSubmitted):
            history.refuse(row.version, "is not where a run's submission belongs")
            return
        for blob in run_blobs(event):
            history.blobs.setdefault(blob, (row.version, None))
        yield event


def _note(history: History, row: SealedEvent, event: Event) -> None:
    if isinstance(event, GateOpened):
        history.waiting[row.version] = (event.attempt, row.recorded_at)
    elif isinstance(event, GateDecided):
        history.waiting.pop(event.opened_gate, None)
    for digest, size in named_blobs(event):
        history.blobs.setdefault(digest, (row.version, size))
    if row.version == 1:
        history.started_at = row.recorded_at
    if isinstance(event, SessionStarted | StepAdvanced | AdvanceBlocked | GateOpened):
        history.updated_at = row.recorded_at
        if isinstance(event, StepAdvanced) and event.output.notes is not None:
            history.notes = event.output.notes


def read_workflow(data: bytes) -> Workflow | None:
    """Return the workflow that a blob holds, None when it holds none."""
    try:
        return msgspec.json.decode(data, type=Workflow)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def unplaced(history: History, workflow: Workflow) -> Problem | None:
    """Return the problem of a node whose position is no step of the workflow."""
    for node in history.state.nodes.values():
        if not stands(workflow, node.opened.cursor):
            return Problem(
                stream=history.stream,
                version=node.opened_at,
                what="opens a step that its workflow does not have",
            )
    return None


def rows_of(session: SessionId, history: History) -> dict[bytes, AttemptRow]:
    """Return the attempts that a history tells of, by nonce."""
    rows = [attempt_row(session, history.state, name) for name in history.state.attempts]
    return {row.nonce: row for row in rows}


def gates_of(session: SessionId, history: History) -> tuple[GateRow, ...]:
    """Return the gates that wait, as a history tells of them, by version."""
    return tuple(
        GateRow(
            session=session,
            version=version,
            nonce=nonce_of(session, attempt),
            recorded_at=recorded_at,
        )
        for version, (attempt, recorded_at) in sorted(history.waiting.items())
    )


def summary_of(
    session: SessionId, history: History, workflow: Workflow, notes: bytes | None
) -> SessionSummary:
    """Return the summary that a history tells of; `notes` are the newest when they are a blob."""
    recap = recap_of(history.notes, notes)
    summary = summarise(session, history.state, workflow, recap)
    return msgspec.structs.replace(
        summary, started_at=history.started_at, updated_at=history.updated_at
    )

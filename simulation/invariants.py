"""What must hold of a session in the store, whatever was done to it.

1. Its chain is whole, its versions run from 1, its events are the writes that landed, each once.
2. An attempt ends once, with something that was really sent with its token.
3. Order is monotonic (order.py), and each node's context is the plain sum of what led there.
4. Token rows, the part a head read loads, and the summary say what the whole fold says.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from headway.application.engine import Engine
from headway.application.loading import admit, load
from headway.application.recording import attempt_row, summarise
from headway.domain.context import merged_context
from headway.domain.events import (
    AdvanceBlocked,
    CheckpointSaved,
    Event,
    GateDecided,
    GateOpened,
    Opened,
    SessionStarted,
    StepAdvanced,
)
from headway.domain.ids import AttemptId, Digest, NodeId, SessionId, digest, session_stream
from headway.domain.state import SessionState, fold
from headway.domain.texts import cut_text
from headway.domain.tokens import nonce_of, sign
from headway.domain.values import Json
from headway.domain.workflow import Workflow
from headway.ports.ledger import Recorded
from simulation.faults import FaultyLedger, Violation
from simulation.model import Session
from simulation.order import check_order

_SHOWN: Final = ("status", "step_id", "step_title", "nonce", "depth", "goal", "workflow")
_LOADED_MAX: Final = 4
_RECAP_BYTES: Final = 1_600


def check_session(
    engine: Engine, ledger: FaultyLedger, session: SessionId, known: Session | None
) -> None:
    """Check a session whole. Raises Violation, or the fault of a record that cannot be read."""
    stream = session_stream(session)
    recorded = ledger.inner.scan(stream)
    _check_chain(recorded)
    events = [record.event for record in recorded]
    if events != ledger.log.get(stream, []):
        raise Violation(
            f"{len(ledger.log.get(stream, []))} events landed and {len(events)} are recorded, "
            "or others"
        )
    started = events[0]
    if not isinstance(started, SessionStarted):
        raise Violation("a stream does not begin with its start")
    workflow = msgspec.json.decode(ledger.inner.blob(Digest(started.workflow)), type=Workflow)
    state = fold(events)
    _check_outcomes(events, known)
    _check_nodes(workflow, events, state)
    _check_rows(engine, ledger, session, state)
    _check_summary(engine, session, workflow, events)


def _check_chain(recorded: tuple[Recorded, ...]) -> None:
    before = bytes(32)
    for number, record in enumerate(recorded, 1):
        if record.version != number or record.prev_hash != before:
            raise Violation(f"event {number} does not follow the one before it")
        before = record.hash


def _check_outcomes(events: list[Event], known: Session | None) -> None:
    ended: set[AttemptId] = set()
    gated: set[AttemptId] = set()
    saved: set[AttemptId] = set()
    for event in events:
        match event:
            case StepAdvanced() | AdvanceBlocked():
                if event.attempt in ended:
                    raise Violation(f"{event.attempt} has two outcomes")
                ended.add(event.attempt)
                _check_sent(event, known)
            case GateOpened():
                if event.attempt in gated or event.attempt in ended:
                    raise Violation(f"{event.attempt} has a gate after its end")
                gated.add(event.attempt)
            case GateDecided():
                if event.attempt not in gated or event.attempt in ended:
                    raise Violation(f"{event.attempt} was decided without an open gate")
            case CheckpointSaved():
                if event.attempt in saved:
                    raise Violation(f"{event.attempt} was saved twice")
                saved.add(event.attempt)
            case _:
                pass


def _check_sent(event: StepAdvanced | AdvanceBlocked, known: Session | None) -> None:
    if known is None:
        return
    key = sign("ct", nonce_of(known.id, event.attempt), b"")[3:19]
    attempt = known.by_key.get(key)
    if attempt is None:
        return  # ended by the retry of an answer that was lost on the way
    delta = event.context.delta if event.context else None
    notes = event.output.notes.digest if event.output.notes else None
    for sent in attempt.sent:
        if (sent.context or None) == delta and len(sent.artifacts) == len(event.output.artifacts):
            own = None if sent.notes is None else sent.notes.encode("utf-8", "surrogatepass")
            if (None if own is None else digest(own)) == notes:
                return
    raise Violation(f"{attempt.name} ended with something that was never sent with its token")


def _check_nodes(workflow: Workflow, events: list[Event], state: SessionState) -> None:
    contexts: dict[NodeId, dict[str, Json]] = {}
    places: dict[NodeId, Opened] = {}
    for event in events:
        if not isinstance(event, SessionStarted | StepAdvanced):
            continue
        left = places[event.node] if isinstance(event, StepAdvanced) else None
        context = dict(contexts[left.node]) if left else {}
        for key, value in (event.context.delta if event.context else {}).items():
            context[key] = value
            if value is None:
                del context[key]
        opened = event.opened
        if opened is None:
            continue
        check_order(workflow, left.cursor if left else None, opened.cursor, event.walk)
        if opened.node in places:
            raise Violation(f"{opened.node} was opened twice")
        contexts[opened.node], places[opened.node] = context, opened
        held = merged_context(state.nodes[opened.node].opened.context, state.folds)
        if held != context:
            raise Violation(f"the context of {opened.node} is {held}, and was given as {context}")


def _check_rows(
    engine: Engine,
    ledger: FaultyLedger,
    session: SessionId,
    state: SessionState,
) -> None:
    rows = {name: attempt_row(session, state, name) for name in state.attempts}
    for minted in ledger.minted:
        if minted.session == session and minted.attempt not in rows:
            standing = state.nodes[minted.node].opened_at
            rows[minted.attempt] = replace(minted, opened_at=standing)
    for row in rows.values():
        head = ledger.inner.head(row.nonce)
        if head is None or head.row != row or head.version != state.version:
            raise Violation(f"the token row is {head}, and folded it is {row}")
    for name in list(rows)[-_LOADED_MAX:]:
        loaded = load(engine, admit(engine, rows[name].nonce)).scene.state
        node = loaded.attempts[name].node
        folded = state.attempts.get(name, loaded.attempts[name])
        same = loaded.attempts[name] == folded and loaded.nodes[node] == state.nodes[node]
        if not same or any(state.folds[at] != held for at, held in loaded.folds.items()):
            raise Violation(f"{name} as loaded is not {name} as folded")


def _check_summary(
    engine: Engine, session: SessionId, workflow: Workflow, events: list[Event]
) -> None:
    found = engine.sessions.summary(session)
    folded = summarise(session, fold(events), workflow)
    if found is None or any(getattr(found, n) != getattr(folded, n) for n in _SHOWN):
        raise Violation(f"the summary is {found}, and folded it is {folded}")
    recap = ""
    for event in events:
        if isinstance(event, StepAdvanced) and event.output.notes:
            notes = event.output.notes
            data = engine.ledger.blob(notes.digest).decode() if notes.blob else str(notes.inline)
            recap = cut_text(data, _RECAP_BYTES)
    if found.recap != recap:
        raise Violation(f"the recap is {found.recap!r} and the newest notes are {recap!r}")

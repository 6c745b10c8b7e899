"""Recording: one transaction of a decision's events with everything that must stand beside them."""

from collections.abc import Iterable

from msgspec.structs import replace

from headway.application.engine import Engine
from headway.application.scene import Scene
from headway.application.search_words import words_brought
from headway.domain.cursor import locate
from headway.domain.decision import Accepted
from headway.domain.events import (
    AdvanceBlocked,
    Content,
    Event,
    GateDecided,
    GateOpened,
    PreferencesChanged,
    SessionStarted,
    StepAdvanced,
)
from headway.domain.ids import AttemptId, Digest, SessionId, session_stream
from headway.domain.state import SessionState, fold
from headway.domain.texts import cut_text
from headway.domain.tokens import nonce_of
from headway.domain.workflow import Workflow
from headway.ports.ledger import AttemptRow, Blob, Standing, Write
from headway.ports.sessions import GateRow, SessionSummary, Status

RECAP_BYTES_MAX = 1_600

# Only these say where a session stands. A checkpoint may be saved at a step left long ago, and the
# part of the state loaded for it knows nothing of the step that is open now.
_MOVES_TIP = (SessionStarted, StepAdvanced, AdvanceBlocked, GateOpened)


def record(engine: Engine, scene: Scene, decision: Accepted, blobs: tuple[Blob, ...] = ()) -> Scene:
    """Append a decision durably and return the scene after it.

    Raises ports.ledger.Conflict when the session has moved on, LeaseLost when the run that drives
    it is another worker's by now; then nothing was kept.
    """
    after = fold(decision.events, scene.state)
    own = [Blob(digest=name, data=data) for name, data in decision.blobs]
    fresh = dict(decision.blobs)

    def blob(name: Digest) -> bytes:
        return fresh.get(name) or engine.ledger.blob(name)

    gates, decided = gate_rows(scene.session, decision.events, scene.state.version)
    engine.ledger.append(
        Write(
            stream=session_stream(scene.session),
            expected_version=scene.state.version,
            events=decision.events,
            blobs=(*blobs, *own),
            attempts=_rows(scene.session, scene.state, after),
            summary=_summary(engine, scene, after, decision),
            standings=_standings(after, decision.events),
            gates=gates,
            decided=decided,
            words=words_brought(decision.events, scene.workflow, blob),
            lease=engine.lease,
        )
    )
    return replace(scene, state=after)


def attempt_row(session: SessionId, state: SessionState, name: AttemptId) -> AttemptRow:
    """Return the row of an attempt as the state has it."""
    attempt = state.attempts[name]
    return AttemptRow(
        nonce=nonce_of(session, name),
        session=session,
        node=attempt.node,
        attempt=name,
        opened_at=state.nodes[attempt.node].opened_at,
        blocks=attempt.blocks,
        outcome_at=attempt.outcome_at,
        checkpoint_at=attempt.checkpoint_at,
        checks_at=attempt.checks_at,
    )


def summarise(
    session: SessionId, state: SessionState, workflow: Workflow, recap: str = ""
) -> SessionSummary:
    """Return the session at a glance: that of its tip, the attempt touched last."""
    started = state.started
    assert started is not None
    attempt = state.attempts.get(state.tip) if state.tip else None
    node = state.nodes[attempt.node] if attempt else None
    step = locate(workflow, node.opened.cursor).step if node else None
    status = _status(state)
    open_step = None if status.startswith("complete") else step
    return SessionSummary(
        session=session,
        workflow=started.workflow,
        workflow_id=started.workflow_id,
        workflow_name=workflow.name,
        goal=started.goal,
        workspace=started.workspace,
        repository=started.git.repository,
        branch=started.git.branch,
        git_head=started.git.head,
        status=status,
        step_id=open_step.id if open_step else None,
        step_title=open_step.title if open_step else None,
        nonce=nonce_of(session, state.tip) if state.tip else b"",
        depth=node.opened.depth if node else 0,
        recap=recap,
    )


def gate_rows(
    session: SessionId, events: Iterable[Event], before: int = 0
) -> tuple[tuple[GateRow, ...], tuple[int, ...]]:
    """Return the gates that these events, which follow version `before`, open; and those decided.

    Over a whole stream: the gates that wait are those opened and not decided.
    """
    opened, decided = [], []
    for version, event in enumerate(events, before + 1):
        if isinstance(event, GateOpened):
            nonce = nonce_of(session, event.attempt)
            opened.append(GateRow(session=session, version=version, nonce=nonce))
        elif isinstance(event, GateDecided):
            decided.append(event.opened_gate)
    return tuple(opened), tuple(decided)


def recap_of(notes: Content | None, data: bytes | None) -> str:
    """Return notes cut for a summary; `data` are their bytes when they are a blob."""
    if notes is None:
        return ""
    text = str(notes.inline) if data is None else data.decode(errors="replace")
    return cut_text(text, RECAP_BYTES_MAX)


def _rows(session: SessionId, before: SessionState, after: SessionState) -> tuple[AttemptRow, ...]:
    """Return the row of every attempt that is new or not as it was."""
    known = before.attempts
    return tuple(
        [
            attempt_row(session, after, name)
            for name, attempt in after.attempts.items()
            if attempt is not known.get(name)
        ]
    )


def _standings(after: SessionState, events: tuple[Event, ...]) -> tuple[Standing, ...]:
    """Return the nodes that stand otherwise now; their attempts find it through their rows."""
    nodes = [event.opened.node for event in events if isinstance(event, PreferencesChanged)]
    return tuple([Standing(node=node, opened_at=after.nodes[node].opened_at) for node in nodes])


def _summary(
    engine: Engine, scene: Scene, after: SessionState, decision: Accepted
) -> SessionSummary | None:
    if not any(isinstance(event, _MOVES_TIP) for event in decision.events):
        return None
    recap = _recap(engine, scene.session, decision)
    return summarise(scene.session, after, scene.workflow, recap)


def _status(state: SessionState) -> Status:
    attempt = state.attempts.get(state.tip) if state.tip else None
    if attempt is None:
        return "complete"
    if isinstance(attempt.outcome, GateOpened):
        return "gated"
    if isinstance(attempt.outcome, StepAdvanced):  # the tip itself left its node: a branch ended
        gaps = state.nodes[attempt.node].opened.gaps + _critical(attempt.outcome)
        return "complete_with_gaps" if gaps else "complete"
    return "blocked" if attempt.blocks else "in_progress"


def _critical(advanced: StepAdvanced) -> int:
    return sum(gap.severity == "critical" for gap in advanced.gaps)


def _recap(engine: Engine, session: SessionId, decision: Accepted) -> str:
    """Return the newest notes of a session: those handed in now, else those told before."""
    blobs = dict(decision.blobs)
    for event in reversed(decision.events):
        if isinstance(event, StepAdvanced) and event.output.notes:
            notes = event.output.notes
            if not notes.blob:
                return recap_of(notes, None)
            return recap_of(notes, blobs.get(notes.digest) or engine.ledger.blob(notes.digest))
    before = engine.sessions.summary(session)
    return before.recap if before else ""

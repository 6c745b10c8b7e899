"""Loading: from a token to the part of a session that a decision about it can see.

Two reads, however long the session is: the attempt's row with the stream's version, and the few
events it names (the start, the one that opened the node, those that hold its context, and its
outcome). The result is a partial `SessionState`; `decide` cannot tell it from the whole. Where what
comes of it is an append, the store may answer both from what this process wrote or read before.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

import msgspec

from headway.application.engine import Engine
from headway.application.naming import purged_words
from headway.application.scene import Scene
from headway.domain.context import fold_of
from headway.domain.errors import Code, SessionNotHealthy, TokenFault
from headway.domain.events import (
    AdvanceBlocked,
    ChecksRecorded,
    ContextChange,
    Event,
    GateOpened,
    Opened,
    PreferencesChanged,
    SessionStarted,
    StepAdvanced,
)
from headway.domain.ids import Digest, SessionId, WorkflowHash, session_stream
from headway.domain.state import AttemptState, NodeState, SessionState
from headway.domain.tokens import TokenKind, open_token, purged_token, unknown_token
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import Workflow
from headway.ports.keyring import Keys
from headway.ports.ledger import AttemptRow

WORKFLOWS_CACHED_MAX = 256

_OPENS = (SessionStarted, StepAdvanced, PreferencesChanged)
_CHANGES_CONTEXT = (SessionStarted, StepAdvanced)
_ENDS = (StepAdvanced, AdvanceBlocked, GateOpened)


class Admitted(Value):
    """The attempt a caller may speak of, and the key that signs the tokens told in return."""

    nonce: bytes
    key: bytes


class Loaded(Value):
    """A session as one attempt sees it, and that attempt's row; `remembered` as of its head."""

    row: AttemptRow
    scene: Scene
    remembered: bool = False

    @property
    def opened(self) -> Opened:
        """The standing of the attempt's node."""
        return self.scene.state.nodes[self.row.node].opened

    @property
    def started(self) -> SessionStarted:
        """The session's own facts."""
        started = self.scene.state.started
        assert started is not None
        return started


def open_allowed(engine: Engine, token: str, allowed: frozenset[TokenKind]) -> Admitted:
    """Return what a token of an allowed kind admits to. Raises TokenFault."""
    keys = engine.keyring.lately()
    try:
        return _opened(token, keys, allowed)
    except TokenFault as fault:
        if fault.code != Code.TOKEN_BAD_SIGNATURE:
            raise
        return _opened(token, engine.keyring.keys(), allowed)


def _opened(token: str, keys: Keys, allowed: frozenset[TokenKind]) -> Admitted:
    live = (keys.current,) if keys.previous is None else (keys.current, keys.previous)
    return Admitted(nonce=open_token(token, live, allowed).nonce, key=keys.current)


def admit(engine: Engine, nonce: bytes) -> Admitted:
    """Return the attempt of a nonce that came from elsewhere than a token."""
    return Admitted(nonce=nonce, key=engine.keyring.lately().current)


def refuse_purged(engine: Engine, nonce: bytes) -> None:
    """Raise the TokenFault of an attempt whose session was purged, if it was."""
    tombstone = engine.custody.tombstone_of(nonce)
    if tombstone is not None:
        raise purged_token(f"session {tombstone.session}, which {purged_words(tombstone)}")


@contextmanager
def or_purged(engine: Engine, nonce: bytes) -> Iterator[None]:
    """Tell records that are missing within as a purge, when that is what took them away."""
    try:
        yield
    except SessionNotHealthy:
        refuse_purged(engine, nonce)
        raise


def load(engine: Engine, admitted: Admitted, *, lately: bool = False) -> Loaded:
    """Return the session around an attempt; `lately` as for the ledger's `head`.

    Raises TokenFault when no such attempt was recorded, SessionNotHealthy when a record it needs
    is missing or altered.
    """
    head = engine.ledger.head(admitted.nonce, lately=lately)
    if head is None:
        refuse_purged(engine, admitted.nonce)
        raise unknown_token()
    row = head.row
    events = _read(engine, row.session, {1, row.opened_at, row.outcome_at, row.checks_at})
    started = events[1]
    node = standing(events[row.opened_at])
    if not isinstance(started, SessionStarted) or node is None:
        raise _broken(row.session, row.opened_at)
    outcome = events.get(row.outcome_at or 0)
    wanted = {segment.version for segment in node.context}
    if isinstance(outcome, StepAdvanced) and outcome.opened:
        wanted |= {segment.version for segment in outcome.opened.context}
    ended = outcome if isinstance(outcome, _ENDS) else None
    stood_at = ended.opened_at if ended else row.opened_at
    missing = (wanted | {stood_at}) - events.keys()
    if missing:
        events |= _read(engine, row.session, missing)
    checks = events.get(row.checks_at or 0)
    attempt = AttemptState(
        node=row.node,
        blocks=row.blocks,
        outcome=ended,
        outcome_at=row.outcome_at,
        checkpoint_at=row.checkpoint_at,
        checks=checks.results if isinstance(checks, ChecksRecorded) else None,
        checks_at=row.checks_at,
    )
    state = SessionState(
        version=head.version,
        started=started,
        nodes={row.node: NodeState(opened=node, opened_at=row.opened_at)},
        attempts={row.attempt: attempt},
        folds={version: _fold(row.session, version, events[version]) for version in wanted},
        tip=row.attempt,
    )
    scene = Scene(
        session=row.session,
        workflow=pinned_workflow(engine, started.workflow),
        state=state,
        key=admitted.key,
        stood=None if stood_at == row.opened_at else standing(events[stood_at]),
    )
    return Loaded(row=row, scene=scene, remembered=head.remembered)


def pinned_workflow(engine: Engine, name: WorkflowHash) -> Workflow:
    """Return the workflow a session was started with, from its blob."""
    return _decode_workflow(engine.ledger.blob(Digest(name)))


@lru_cache(maxsize=WORKFLOWS_CACHED_MAX)  # bytes remember their hash, so a hit costs no reading
def _decode_workflow(data: bytes) -> Workflow:
    return msgspec.json.decode(data, type=Workflow)


def _read(engine: Engine, session: SessionId, versions: Iterable[int | None]) -> dict[int, Event]:
    wanted = [version for version in versions if version is not None]
    recorded = engine.ledger.read(session_stream(session), wanted)
    return {record.version: record.event for record in recorded}


def standing(event: Event) -> Opened | None:
    """Return the standing of the node an event opened, None when it opened none."""
    if isinstance(event, _OPENS):
        return event.opened
    return None


def _fold(session: SessionId, version: int, event: Event) -> JsonObject:
    change: ContextChange | None = None
    if isinstance(event, _CHANGES_CONTEXT):
        change = event.context
    if change is None:
        raise _broken(session, version)
    return fold_of(change)


def _broken(session: SessionId, version: int) -> SessionNotHealthy:
    return SessionNotHealthy(
        f"Event {version} of session {session} is not what its token row says it is.",
        remedy="Restore the store from a backup, or start a new session; others are untouched.",
        details={"session": session, "version": version},
    )

"""The state of a session: what its events add up to.

Law. `evolve` is the only way a state changes, and replaying a stream gives the state that was held
while it was written. A state may be *partial*: a head read brings just the events that a decision
about one attempt can see, and `decide` answers from such a part exactly as from the whole.
"""

from collections.abc import Iterable
from typing import TypeAlias, TypeVar, assert_never

from msgspec.structs import replace

from headway.domain.context import fold_of
from headway.domain.events import (
    AdvanceBlocked,
    CheckpointSaved,
    CheckResult,
    ChecksRecorded,
    ContextChange,
    Event,
    Gap,
    GapRecorded,
    GateDecided,
    GateOpened,
    Opened,
    PreferencesChanged,
    SessionCompleted,
    SessionStarted,
    StepAdvanced,
)
from headway.domain.ids import AttemptId, NodeId, next_attempt
from headway.domain.values import JsonObject, Value

Outcome: TypeAlias = StepAdvanced | AdvanceBlocked | GateOpened

K = TypeVar("K")
V = TypeVar("V")


class NodeState(Value):
    """A node and the version of the event that opened it, or last changed its standing."""

    opened: Opened
    opened_at: int


class AttemptState(Value):
    """An attempt on a node: how many blocks came right before it, and what became of it."""

    node: NodeId
    blocks: int = 0
    outcome: Outcome | None = None
    outcome_at: int | None = None
    checkpoint_at: int | None = None
    checks: tuple[CheckResult, ...] | None = None
    checks_at: int | None = None


class SessionState(Value):
    """A session, or the part of it that a head read brought; `tip` is the attempt touched last."""

    version: int = 0
    started: SessionStarted | None = None
    nodes: dict[NodeId, NodeState] = {}
    attempts: dict[AttemptId, AttemptState] = {}
    folds: dict[int, JsonObject] = {}
    gaps: tuple[Gap, ...] = ()
    completed: tuple[NodeId | None, ...] = ()
    tip: AttemptId | None = None


def fold(events: Iterable[Event], state: SessionState | None = None) -> SessionState:
    """Return the state after these events, in time that grows with their number alone."""
    state = state or SessionState()
    state = replace(
        state,
        nodes=_Owned(state.nodes),
        attempts=_Owned(state.attempts),
        folds=_Owned(state.folds),
    )
    for event in events:
        state = evolve(state, event)
    return replace(
        state, nodes=dict(state.nodes), attempts=dict(state.attempts), folds=dict(state.folds)
    )


def evolve(state: SessionState, event: Event) -> SessionState:  # noqa: C901  one arm an event kind
    """Return the state after one more event."""
    version = state.version + 1
    assert (state.started is None) == isinstance(event, SessionStarted), "a start comes first, once"
    state = replace(state, version=version)
    match event:
        case SessionStarted():
            state = replace(state, started=event)
            return _opened(_folded(state, event.context), event.opened)
        case StepAdvanced():
            state = _folded(_ended(state, event), event.context)
            state = replace(state, gaps=(*state.gaps, *event.gaps))
            return _opened(state, event.opened)
        case AdvanceBlocked():
            state = _ended(state, event)
            retry = AttemptState(node=event.node, blocks=event.blocks)
            attempt = next_attempt(event.attempt)
            return replace(state, attempts=_put(state.attempts, attempt, retry), tip=attempt)
        case GateOpened():
            return _ended(state, event)
        case CheckpointSaved():
            return _changed(state, event.attempt, event.node, checkpoint_at=version)
        case ChecksRecorded():
            return _changed(
                state, event.attempt, event.node, checks=event.results, checks_at=version
            )
        case PreferencesChanged():
            return _opened(state, event.opened, first=False)
        case GapRecorded():
            return replace(state, gaps=(*state.gaps, *event.gaps))
        case SessionCompleted():
            return replace(state, completed=(*state.completed, event.node))
        case GateDecided():
            return state
        case _:
            assert_never(event)


class _Owned(dict[K, V]):
    """A dict that a fold alone has in hand, so that it may grow in place."""


def _put(known: dict[K, V], key: K, value: V) -> dict[K, V]:
    if isinstance(known, _Owned):
        known[key] = value
        return known
    return {**known, key: value}


def with_attempt(state: SessionState, attempt: AttemptId, node: NodeId) -> SessionState:
    """Return the state with an attempt minted on a node by a rehydrate, which leaves no event."""
    return _changed(state, attempt, node)


def _opened(state: SessionState, opened: Opened | None, *, first: bool = True) -> SessionState:
    if opened is None:
        return state
    node = NodeState(opened=opened, opened_at=state.version)
    state = replace(state, nodes=_put(state.nodes, opened.node, node))
    if not first:
        return state
    attempts = _put(state.attempts, opened.attempt, AttemptState(node=opened.node))
    return replace(state, attempts=attempts, tip=opened.attempt)


def _folded(state: SessionState, change: ContextChange | None) -> SessionState:
    if change is None:
        return state
    return replace(state, folds=_put(state.folds, state.version, fold_of(change)))


def _ended(state: SessionState, outcome: Outcome) -> SessionState:
    attempt = outcome.attempt
    state = _changed(state, attempt, outcome.node, outcome=outcome, outcome_at=state.version)
    return replace(state, tip=attempt)


def _changed(
    state: SessionState, attempt: AttemptId, node: NodeId, **changes: object
) -> SessionState:
    known = state.attempts.get(attempt) or AttemptState(node=node)
    return replace(state, attempts=_put(state.attempts, attempt, replace(known, **changes)))

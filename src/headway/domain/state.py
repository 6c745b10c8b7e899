"""The state of a session: what its events add up to.

Law. A fold of events is the only way a state changes, and replaying a stream gives the state that
was held while it was written. A state may be *partial*: a head read brings just the events that a
decision about one attempt can see, and `decide` answers from such a part exactly as from the whole.
"""

from collections.abc import Iterable
from typing import TypeAlias, assert_never

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
    draft = _Draft(state or SessionState())
    for event in events:
        draft.take(event)
    return draft.state()


def evolve(state: SessionState, event: Event) -> SessionState:
    """Return the state after one more event."""
    return fold((event,), state)


def with_attempt(state: SessionState, attempt: AttemptId, node: NodeId) -> SessionState:
    """Return the state with an attempt minted on a node by a rehydrate, which leaves no event."""
    known = state.attempts.get(attempt) or AttemptState(node=node)
    return replace(state, attempts={**state.attempts, attempt: known})


class _Draft:
    """A state in the making: it changes in place, and nobody else has it."""

    def __init__(self, state: SessionState) -> None:
        self.version = state.version
        self.started = state.started
        self.nodes = dict(state.nodes)
        self.attempts = dict(state.attempts)
        self.folds = dict(state.folds)
        self.gaps = state.gaps
        self.completed = state.completed
        self.tip = state.tip

    def state(self) -> SessionState:
        return SessionState(
            version=self.version,
            started=self.started,
            nodes=self.nodes,
            attempts=self.attempts,
            folds=self.folds,
            gaps=self.gaps,
            completed=self.completed,
            tip=self.tip,
        )

    def take(self, event: Event) -> None:  # noqa: C901  one arm an event kind
        assert (self.started is None) == isinstance(event, SessionStarted), (
            "a start comes first, once"
        )
        self.version += 1
        match event:
            case SessionStarted():
                self.started = event
                self._change_context(event.context)
                self._open(event.opened)
            case StepAdvanced():
                self._end(event)
                self._change_context(event.context)
                self.gaps += event.gaps
                self._open(event.opened)
            case AdvanceBlocked():
                self._end(event)
                self.tip = next_attempt(event.attempt)
                self.attempts[self.tip] = AttemptState(node=event.node, blocks=event.blocks)
            case GateOpened():
                self._end(event)
            case CheckpointSaved():
                self._change(event.attempt, event.node, checkpoint_at=self.version)
            case ChecksRecorded():
                self._change(
                    event.attempt, event.node, checks=event.results, checks_at=self.version
                )
            case PreferencesChanged():
                self._stand(event.opened)
            case GapRecorded():
                self.gaps += event.gaps
            case SessionCompleted():
                self.completed += (event.node,)
            case GateDecided():
                pass
            case _:
                assert_never(event)

    def _open(self, opened: Opened | None) -> None:
        if opened is None:
            return
        self._stand(opened)
        self.attempts[opened.attempt] = AttemptState(node=opened.node)
        self.tip = opened.attempt

    def _stand(self, opened: Opened) -> None:
        self.nodes[opened.node] = NodeState(opened=opened, opened_at=self.version)

    def _change_context(self, change: ContextChange | None) -> None:
        if change is not None:
            self.folds[self.version] = fold_of(change)

    def _end(self, outcome: Outcome) -> None:
        self._change(outcome.attempt, outcome.node, outcome=outcome, outcome_at=self.version)
        self.tip = outcome.attempt

    def _change(self, attempt: AttemptId, node: NodeId, **changes: object) -> None:
        known = self.attempts.get(attempt) or AttemptState(node=node)
        self.attempts[attempt] = replace(known, **changes)

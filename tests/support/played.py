"""Sessions played by chance against the pure decider.

A `Move` says what is done and to which of the attempts known so far, counted from the newest, so
that a list of moves means something for every workflow. `Played` keeps, beside the state, what was
sent with each attempt: what a model of the session is computed from.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import hypothesis.strategies as st
from hypothesis.strategies import SearchStrategy

from headway.domain.commands import (
    Advance,
    ChangePreferences,
    Command,
    DecideGate,
    Facts,
    RecordChecks,
    SaveCheckpoint,
    Start,
    StartFacts,
)
from headway.domain.cursor import locate
from headway.domain.decide import decide
from headway.domain.decision import Decision
from headway.domain.errors import Fault
from headway.domain.events import AdvanceBlocked, CheckResult, Event, GateOpened, StepAdvanced
from headway.domain.ids import (
    AttemptId,
    Digest,
    NodeId,
    WorkflowHash,
    fresh_attempt,
    next_attempt,
    session_id,
)
from headway.domain.preferences import Preferences
from headway.domain.state import AttemptState, SessionState, evolve, with_attempt
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Step, Workflow
from tests.support.workflows import Sent, deltas, satisfying, sendings

SESSION: Final = session_id(bytes(range(16)))
WORKFLOW_HASH: Final = WorkflowHash("sha256:" + "0" * 64)
FACTS: Final = StartFacts(
    session=SESSION, workflow=WORKFLOW_HASH, workflow_source="test", workspace="/workspace"
)
FILLED: Final[JsonObject] = {"n": 2, "m": 1, "xs": ["p", "q"], "ys": [{"name": "r"}], "a": True}
CAREFUL: Final = Preferences()
NOTHING: Final = Sent()
NEVER_STOP: Final = Preferences(autonomy="full_auto_never_stop")

Act: TypeAlias = Literal[
    "satisfy", "send", "rehydrate", "checkpoint", "checks", "gate", "preferences"
]


@dataclass(frozen=True)
class Move:
    """One call on the attempt `which` places before the newest."""

    act: Act
    which: int = 0
    word: str = "continue"
    sent: Sent = NOTHING
    yes: bool = True


def moves(*acts: Act, at_most: int = 20) -> SearchStrategy[list[Move]]:
    """Return lists of moves, mostly good work on the newest attempt, else one of these acts."""
    which = st.sampled_from([0, 0, 0, 1, 2, 5])
    good = st.builds(
        Move,
        act=st.just("satisfy"),
        word=st.sampled_from(["continue", "continue", "stop"]),
        sent=st.builds(Sent, context=st.none() | deltas()),
    )
    other = st.builds(
        Move,
        act=st.sampled_from(("satisfy", *acts)),
        which=which,
        word=st.sampled_from(["continue", "stop"]),
        sent=sendings(),
        yes=st.sampled_from([True, True, False]),
    )
    return st.lists(st.one_of(good, good, other), min_size=at_most // 3, max_size=at_most)


def starts(**fixed: object) -> SearchStrategy[Start]:
    """Return starts with loops filled, some bold, some behind enforced gates."""
    drawn: dict[str, SearchStrategy[object]] = {
        "context": st.builds(lambda delta: {**FILLED, **delta}, deltas()),
        "gates": st.sampled_from(["advisory", "enforce"]),
        "preferences": st.sampled_from([None, None, NEVER_STOP]),
        "autonomous": st.sampled_from([False, False, True]),
    }
    known = {name: st.just(value) for name, value in fixed.items()}
    return st.builds(Start, goal=st.just("Try it"), **{**drawn, **known})


@dataclass
class Played:
    """A session in memory: its state, its events, the attempts known and what each was sent."""

    workflow: Workflow
    state: SessionState = field(default_factory=SessionState)
    events: list[Event] = field(default_factory=list)
    known: list[AttemptId] = field(default_factory=list)
    sent: dict[AttemptId, Advance] = field(default_factory=dict)
    minted: dict[AttemptId, NodeId] = field(default_factory=dict)

    def start(self, command: Start, facts: StartFacts = FACTS) -> Decision | Fault:
        return self._keep(command, Facts(workflow=self.workflow, start=facts))

    def send(self, command: Command) -> Decision | Fault:
        """Decide a command and take what comes of it; a fault is returned, as a value."""
        if isinstance(command, Advance) and self.attempt(command.attempt).outcome is None:
            self.sent[command.attempt] = command
        return self._keep(command, Facts(workflow=self.workflow))

    def rehydrate(self, attempt: AttemptId) -> AttemptId:
        """Return a fresh attempt on the node of an attempt, the start of a possible fork."""
        node = self.attempt(attempt).node
        fresh = self.mint(attempt)
        self.state = with_attempt(self.state, fresh, node)
        self.minted[fresh] = node
        self.known.append(fresh)
        return fresh

    def mint(self, attempt: AttemptId) -> AttemptId:
        return fresh_attempt(f"fresh {len(self.minted):010}".encode())

    def attempt(self, name: AttemptId) -> AttemptState:
        return self.state.attempts[name]

    def step(self, name: AttemptId) -> Step:
        opened = self.state.nodes[self.attempt(name).node].opened
        return locate(self.workflow, opened.cursor).step

    def meant(self, move: Move) -> AttemptId:
        """Return the attempt a move is about."""
        return self.known[-1 - move.which % len(self.known)]

    def command(self, move: Move) -> Command | None:
        """Return the command of a move; None for a rehydrate, which is none."""
        name = self.meant(move)
        match move.act:
            case "satisfy":
                return self.advance(name, satisfying(self.step(name), move.word, move.sent.context))
            case "send":
                return self.advance(name, move.sent)
            case "checkpoint":
                return SaveCheckpoint(attempt=name)
            case "checks":
                result = CheckResult(check="unit", exit_code=0 if move.yes else 1)
                return RecordChecks(attempt=name, results=(result,))
            case "preferences":
                chosen = CAREFUL if move.yes else NEVER_STOP
                return ChangePreferences(attempt=name, preferences=chosen)
            case "gate":
                return DecideGate(
                    attempt=name, approve=move.yes, decided_by="test", shown=self.shown(name)
                )
            case "rehydrate":
                return None

    def advance(self, name: AttemptId, sent: Sent) -> Advance:
        return Advance(
            attempt=name, notes=sent.notes, artifacts=sent.artifacts, context=sent.context
        )

    def shown(self, name: AttemptId) -> Digest:
        outcome = self.attempt(name).outcome
        return outcome.shown if isinstance(outcome, GateOpened) else Digest("sha256:" + "1" * 64)

    def play(self, move: Move) -> Decision | Fault | AttemptId:
        command = self.command(move)
        return self.rehydrate(self.meant(move)) if command is None else self.send(command)

    def ancestry(self, node: NodeId) -> list[StepAdvanced]:
        """Return the advances that led to a node, the first one first."""
        opened_by = {
            event.opened.node: event
            for event in self.events
            if isinstance(event, StepAdvanced) and event.opened
        }
        way: list[StepAdvanced] = []
        while node in opened_by:
            way.append(opened_by[node])
            node = opened_by[node].node
        return way[::-1]

    def _keep(self, command: Command, facts: Facts) -> Decision | Fault:
        try:
            decision = decide(self.state, command, facts)
        except Fault as fault:
            return fault
        for event in getattr(decision, "events", ()):
            self.state = evolve(self.state, event)
            self.events.append(event)
            self._learn(event)
        return decision

    def _learn(self, event: Event) -> None:
        if isinstance(event, AdvanceBlocked):
            self.known.append(next_attempt(event.attempt))
            return
        opened = getattr(event, "opened", None)
        if opened is not None and opened.attempt not in self.known:
            self.known.append(opened.attempt)


def plain_merge(context: JsonObject, delta: JsonObject | None) -> dict[str, Json]:
    """Return a context with a change applied, written as plainly as it can be."""
    merged = dict(context)
    for key, value in (delta or {}).items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged

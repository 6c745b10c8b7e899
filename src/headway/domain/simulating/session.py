"""A session that lives in memory alone, moved on by the real decider.

Only the open node is kept of the past: `decide` answers from such a part as from the whole, so an
advance costs the same however long the session is.
"""

from typing import Final

from msgspec.structs import replace

from headway.domain.commands import (
    Advance,
    Command,
    DecideGate,
    Facts,
    RecordChecks,
    Start,
    StartFacts,
)
from headway.domain.context import merged_context
from headway.domain.cursor import Place, locate
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.events import (
    AdvanceBlocked,
    CheckResult,
    GateOpened,
    Opened,
    StepAdvanced,
    Walk,
)
from headway.domain.ids import WorkflowHash, session_id
from headway.domain.loops import variables_at
from headway.domain.outputs import Submission
from headway.domain.state import Outcome, SessionState, fold
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Workflow

_FACTS: Final = StartFacts(
    session=session_id(bytes(16)),
    workflow=WorkflowHash("sha256:" + "0" * 64),
    workflow_source="simulation",
    workspace="/simulation",
)


class Session:
    """One simulated session. Its gates are enforced, so that each is asked."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self.state = SessionState()

    def start(self, context: JsonObject) -> Walk:
        """Begin; return what was met on the way to the first step. Raises PreconditionFailed."""
        command = Start(goal="Simulate it", context=context, gates="enforce")
        self._take(command, Facts(workflow=self.workflow, start=_FACTS))
        assert self.state.started is not None
        return self.state.started.walk

    @property
    def opened(self) -> Opened | None:
        """The node that is open, None when the workflow is complete."""
        attempt = self.state.attempts.get(self.state.tip) if self.state.tip else None
        if attempt is None or isinstance(attempt.outcome, StepAdvanced):
            return None
        return self.state.nodes[attempt.node].opened

    @property
    def place(self) -> Place:
        """The step that is open, with the loops around it."""
        assert self.opened is not None
        return locate(self.workflow, self.opened.cursor)

    @property
    def variables(self) -> JsonObject:
        """The context of the open step with the variables of its loops."""
        assert self.opened is not None
        context = merged_context(self.opened.context, self.state.folds)
        return variables_at(self.place.loops, context)

    def advance(
        self, sent: Submission, context: dict[str, Json]
    ) -> StepAdvanced | AdvanceBlocked | GateOpened:
        """Hand a submission in. Raises a Fault, which changes nothing."""
        attempt = self.state.tip
        assert attempt is not None
        command = Advance(
            attempt=attempt, notes=sent.notes, artifacts=sent.artifacts, context=context or None
        )
        return self._outcome(command)

    def check(self, results: tuple[CheckResult, ...]) -> None:
        """Record what the checks of the open step said."""
        assert self.state.tip is not None
        command = RecordChecks(attempt=self.state.tip, results=results)
        self._take(command, Facts(workflow=self.workflow))

    def answer(
        self, gate: GateOpened, *, approve: bool
    ) -> StepAdvanced | AdvanceBlocked | GateOpened:
        """Answer the gate that is open."""
        return self._outcome(
            DecideGate(
                attempt=gate.attempt,
                approve=approve,
                decided_by="simulation",
                shown=gate.shown,
                rationale="" if approve else "Rejected to see what follows.",
            )
        )

    def _outcome(self, command: Advance | DecideGate) -> Outcome:
        self._take(command, Facts(workflow=self.workflow))
        outcome = self.state.attempts[command.attempt].outcome
        assert outcome is not None
        self._forget()
        return outcome

    def _take(self, command: Command, facts: Facts) -> None:
        decided = decide(self.state, command, facts)
        assert isinstance(decided, Accepted), "no attempt is made twice"
        self.state = fold(decided.events, self.state)

    def _forget(self) -> None:
        """Drop all but the attempt at the tip, its node and the context that node refers to."""
        tip = self.state.tip
        assert tip is not None
        attempt = self.state.attempts[tip]
        node = self.state.nodes[attempt.node]
        kept = {segment.version for segment in node.opened.context}
        self.state = replace(
            self.state,
            attempts={tip: attempt},
            nodes={attempt.node: node},
            folds={at: known for at, known in self.state.folds.items() if at in kept},
            gaps=(),
        )

"""Small workflows written down by hand, and a session that walks through them by name."""

from headway.domain.commands import Advance, Facts, Start, StartFacts
from headway.domain.context import merged_context
from headway.domain.cursor import locate
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.events import AdvanceBlocked, Event, GateOpened, Opened, StepAdvanced, Walk
from headway.domain.ids import AttemptId, NodeId, WorkflowHash, fresh_attempt, session_id
from headway.domain.loops import variables_at
from headway.domain.state import SessionState, fold, with_attempt
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import (
    ByCondition,
    ByCount,
    ByDecision,
    ByItems,
    Compare,
    Condition,
    Item,
    Loop,
    OutputContract,
    Step,
    Workflow,
)

SESSION = session_id(bytes(range(16)))
LOOP_CONTROL = OutputContract(ref="wr.contracts.loop_control", required=False)


def workflow(*items: Item) -> Workflow:
    return Workflow(
        form=1, id="by-hand", name="By hand", description="A test.", version="1", steps=items
    )


def step(name: str, when: Condition | None = None) -> Step:
    return Step(id=name, title=name.title(), run_condition=when, notes_optional=True)


def asking(name: str) -> Step:
    """Return a step whose contract asks for a loop decision."""
    return Step(id=name, title=name.title(), output_contract=LOOP_CONTROL)


def on(key: str) -> Condition:
    return Compare(var=key, operator="truthy")


def decided(name: str, *body: Item, most: int = 5) -> Loop:
    """Return a loop steered by decisions."""
    source = ByDecision(loop_id=name)
    return Loop(
        id=name, title=name.title(), kind="while", source=source, max_iterations=most, body=body
    )


def counted(name: str, count: float | str, *body: Item, most: int = 5) -> Loop:
    source = ByCount(count=count)
    return Loop(
        id=name, title=name.title(), kind="for", source=source, max_iterations=most, body=body
    )


def each(name: str, key: str, *body: Item, most: int = 5) -> Loop:
    source = ByItems(key=key)
    return Loop(
        id=name, title=name.title(), kind="forEach", source=source, max_iterations=most, body=body
    )


def during(name: str, key: str, *body: Item, most: int = 5) -> Loop:
    """Return a while loop steered by a context key."""
    source = ByCondition(condition=on(key))
    return Loop(
        id=name, title=name.title(), kind="while", source=source, max_iterations=most, body=body
    )


def decision(word: str, loop_id: str | None = None) -> Json:
    return {"kind": "wr.loop_control", "decision": word} | ({"loopId": loop_id} if loop_id else {})


class Conversation:
    """A session told as a conversation: each answer names the step that is open next."""

    def __init__(self, followed: Workflow, start: Start | None = None) -> None:
        self.workflow = followed
        self.state = SessionState()
        self.events: list[Event] = []
        facts = StartFacts(
            session=SESSION,
            workflow=WorkflowHash("sha256:" + "0" * 64),
            workflow_source="test",
            workspace="/workspace",
        )
        command = start or Start(goal="Try it")
        self.take(decide(self.state, command, Facts(workflow=followed, start=facts)))

    def take(self, answer: object) -> None:
        if isinstance(answer, Accepted):
            self.events.extend(answer.events)
            self.state = fold(answer.events, self.state)

    def opened(self) -> Opened | None:
        """Return the node that is open at the tip, None when the branch is complete."""
        attempt = self.state.attempts.get(self.state.tip) if self.state.tip else None
        if attempt is None or isinstance(attempt.outcome, StepAdvanced):
            return None
        return self.state.nodes[attempt.node].opened

    def at(self) -> str | None:
        """Return the step that is open, with the passes of the loops around it."""
        opened = self.opened()
        if opened is None:
            return None
        name = locate(self.workflow, opened.cursor).step.id
        passes = ".".join(str(number) for number in opened.cursor.passes)
        return f"{name}@{passes}" if passes else name

    def tip(self) -> AttemptId:
        assert self.state.tip is not None
        return self.state.tip

    def done(self, *artifacts: Json, notes: str = "done", **context: Json) -> str | None:
        """Hand in the open step and return where that leads."""
        self.send(self.tip(), *artifacts, notes=notes, **context)
        return self.at()

    def send(
        self, attempt: AttemptId, *artifacts: Json, notes: str | None = "done", **context: Json
    ) -> StepAdvanced | AdvanceBlocked | GateOpened:
        command = Advance(
            attempt=attempt, notes=notes, artifacts=artifacts, context=context or None
        )
        self.take(decide(self.state, command, Facts(workflow=self.workflow)))
        outcome = self.state.attempts[attempt].outcome
        assert outcome is not None
        return outcome

    def rehydrate(self, node: NodeId, mark: int = 0) -> AttemptId:
        fresh = fresh_attempt(f"fresh {mark:010}".encode())
        self.state = with_attempt(self.state, fresh, node)
        return fresh

    def last_walk(self) -> Walk:
        advanced = [event for event in self.events if isinstance(event, StepAdvanced)]
        return advanced[-1].walk

    def context(self) -> JsonObject:
        opened = self.opened()
        assert opened is not None
        return merged_context(opened.context, self.state.folds)

    def variables(self) -> JsonObject:
        opened = self.opened()
        assert opened is not None
        return variables_at(locate(self.workflow, opened.cursor).loops, self.context())

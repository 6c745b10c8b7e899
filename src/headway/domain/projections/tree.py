"""A session as a tree: what happened at each step, in order, with forks as branches.

Law. The tree is drawn from the events alone, and every event that an operator would ask about shows
in it once: under the step it hit, or between two steps when it happened on the way.

Theory of operation. Rows come in the order they are read, each with its depth, so a session of any
length is walked with a stack and drawn without recursion. The first advance from a node is the main
line and stays at its depth; a further advance from the same node is a fork, one level deeper, with
what that try brought and all that followed from it. Attempts that follow from a block belong to the
same try (`chain`): that is how the facts on a node are told apart between its forks.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from headway.domain.context import Folds, fold_of, merged_context
from headway.domain.cursor import locate
from headway.domain.events import (
    AdvanceBlocked,
    CheckpointSaved,
    ChecksRecorded,
    Event,
    GapRecorded,
    GateDecided,
    GateOpened,
    Opened,
    PreferencesChanged,
    SessionCompleted,
    SessionStarted,
    StepAdvanced,
    Walk,
)
from headway.domain.ids import AttemptId, NodeId, next_attempt
from headway.domain.loops import variables_at
from headway.domain.projections.telling import Told, fact_rows, gap_row, step_label, walk_rows
from headway.domain.rendering.interpolate import interpolate
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import Workflow

OnNode: TypeAlias = (
    StepAdvanced
    | AdvanceBlocked
    | CheckpointSaved
    | GateOpened
    | GateDecided
    | ChecksRecorded
    | PreferencesChanged
    | GapRecorded
)
Standing: TypeAlias = Literal["step_done", "step_open", "step_blocked", "step_gated"]


class Row(Value):
    """A line of the tree; `here` marks the step the session goes on at."""

    depth: int
    told: Told
    here: bool = False


class Tree(Value):
    """A session's rows under the facts it started with."""

    workflow_id: str
    workflow_name: str
    goal: str
    rows: tuple[Row, ...]


class _Fact(Value):
    """An event on a node, and the try it belongs to (None: nobody's)."""

    chain: AttemptId | None
    event: OnNode


_Rows: TypeAlias = "Iterator[Row | _Rows]"


def session_tree(events: Iterable[Event], workflow: Workflow) -> Tree:
    """Return the tree of a session's events, all of them in order, and its pinned workflow."""
    story = _Story(workflow)
    for version, event in enumerate(events, start=1):
        story.add(version, event)
    assert story.started is not None, "a session has started"
    return Tree(
        workflow_id=story.started.workflow_id,
        workflow_name=workflow.name,
        goal=story.started.goal,
        rows=tuple(_flat(story.rows())),
    )


def label_at(workflow: Workflow, opened: Opened, folds: Folds) -> str:
    """Return how the step of a node is called: its title with values in place, id and passes."""
    place = locate(workflow, opened.cursor)
    title = place.step.title
    if "{{" in title:
        context = merged_context(opened.context, folds)
        title = interpolate(title, variables_at(place.loops, context))
    return step_label(title, place)


class _Story:
    """The events, sorted by the node they happened on."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self.started: SessionStarted | None = None
        self.on: dict[NodeId, list[_Fact]] = {}
        self.chains: dict[AttemptId, AttemptId] = {}
        self.folds: dict[int, JsonObject] = {}
        self.ends: dict[AttemptId, SessionCompleted] = {}
        self.ended_at_once: SessionCompleted | None = None
        self.before_all: list[GapRecorded] = []
        self.last: StepAdvanced | None = None
        self.here: NodeId | None = None

    def add(self, version: int, event: Event) -> None:
        match event:
            case SessionStarted():
                self.started = event
                self.folds[version] = fold_of(event.context)
                self.here = event.opened.node if event.opened else None
            case SessionCompleted():
                if self.last is None:
                    self.ended_at_once = event
                else:
                    self.ends[self.last.attempt] = event
            case GapRecorded():
                self._add_gap(event)
            case PreferencesChanged():
                self._add(event.opened.node, None, event)
            case _:
                self._add_tried(version, event)

    def _add_tried(
        self,
        version: int,
        event: StepAdvanced
        | AdvanceBlocked
        | CheckpointSaved
        | GateOpened
        | GateDecided
        | ChecksRecorded,
    ) -> None:
        chain = self.chains.get(event.attempt, event.attempt)
        self._add(event.node, chain, event)
        if isinstance(event, AdvanceBlocked):
            self.chains[next_attempt(event.attempt)] = chain
        if isinstance(event, AdvanceBlocked | GateOpened):
            self.here = event.node
        if isinstance(event, StepAdvanced):
            self.last = event
            self.here = event.opened.node if event.opened else None
            if event.context:
                self.folds[version] = fold_of(event.context)

    def _add_gap(self, event: GapRecorded) -> None:
        if self.here is None or self.last is None:
            self.before_all.append(event)
        else:
            self._add(self.here, None, event)

    def _add(self, node: NodeId, chain: AttemptId | None, event: OnNode) -> None:
        self.on.setdefault(node, []).append(_Fact(chain=chain, event=event))

    def rows(self) -> _Rows:
        assert self.started is not None
        for event in self.before_all:
            for gap in event.gaps:
                yield Row(depth=0, told=gap_row(gap))
        yield self._line(0, self.started.walk, self.started.opened, self.ended_at_once)

    def _line(
        self, depth: int, walk: Walk, opened: Opened | None, end: SessionCompleted | None
    ) -> _Rows:
        """Yield what follows at one depth: a walk, its step, and so on along the main line."""
        while True:
            for told in walk_rows(self.workflow, walk):
                yield Row(depth=depth, told=told)
            if opened is None:
                break
            facts = self.on.get(opened.node, [])
            advances = _advances(facts)
            yield self._step(depth, opened, facts)
            yield self._facts(depth + 1, facts, advances)
            if not advances:
                return
            walk, opened = advances[0].walk, advances[0].opened
            end = self.ends.get(advances[0].attempt)
        if end is not None:
            yield Row(depth=depth, told=_ending(end))

    def _step(self, depth: int, opened: Opened, facts: list[_Fact]) -> _Rows:
        label = label_at(self.workflow, opened, self.folds)
        told = Told(kind=_standing(facts), text=label)
        yield Row(depth=depth, told=told, here=self.here == opened.node)

    def _facts(self, depth: int, facts: list[_Fact], advances: list[StepAdvanced]) -> _Rows:
        """Yield what happened on a node; every try after the first that went on is a fork."""
        forked = {self.chains.get(each.attempt, each.attempt): each for each in advances[1:]}
        for fact in facts:
            if fact.chain not in forked:
                yield _told(depth, fact.event)
        for number, (chain, advance) in enumerate(forked.items(), start=2):
            text = f"went on from here again (branch {number})"
            yield Row(depth=depth, told=Told(kind="fork", text=text))
            for fact in facts:
                if fact.chain == chain:
                    yield _told(depth + 1, fact.event)
            end = self.ends.get(advance.attempt)
            yield self._line(depth + 1, advance.walk, advance.opened, end)


def _told(depth: int, event: OnNode) -> _Rows:
    for told in fact_rows(event):
        yield Row(depth=depth, told=told)


def _advances(facts: list[_Fact]) -> list[StepAdvanced]:
    return [fact.event for fact in facts if isinstance(fact.event, StepAdvanced)]


def _standing(facts: list[_Fact]) -> Standing:
    standing: Standing = "step_open"
    for fact in facts:
        match fact.event:
            case StepAdvanced():
                return "step_done"
            case AdvanceBlocked():
                standing = "step_blocked"
            case GateOpened():
                standing = "step_gated"
            case _:
                pass
    return standing


def _ending(end: SessionCompleted) -> Told:
    if end.outcome == "complete":
        return Told(kind="complete", text="complete")
    return Told(kind="complete_with_gaps", text=f"complete, with {end.gaps} critical gap(s)")


def _flat(rows: _Rows) -> Iterator[Row]:
    """Yield the rows of nested generators in order, with a stack of our own instead of Python's."""
    stack = [rows]
    while stack:
        following = next(stack[-1], None)
        if following is None:
            stack.pop()
        elif isinstance(following, Row):
            yield following
        else:
            stack.append(following)

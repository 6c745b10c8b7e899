"""What there is to take in a workflow: every way it can go, each with what it waits for.

A branch is one outcome at one item: a step met or passed over, a loop entered, not entered, or left
in one of its ways, a fragment or delegation that applies or does not, a gate asked, approved or
rejected, an attempt refused for one reason, and the end of the workflow.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from headway.domain.conditions import describe
from headway.domain.simulating.solving import Wanted
from headway.domain.simulating.submissions import assessed, failing_notes, wrong_artifact
from headway.domain.values import Value
from headway.domain.workflow import (
    ByCondition,
    ByCount,
    ByDecision,
    ByItems,
    Compare,
    Condition,
    Consequence,
    Item,
    Loop,
    Step,
    Workflow,
)

BranchKind: TypeAlias = Literal[
    "step", "loop", "fragment", "delegation", "gate", "block", "end"
]  # fmt: skip

PASSED_OVER = "passed over"
MET = "met"
ENTERED = "entered"
NOTHING_TO_DO = "nothing to do"
DECIDED = "left by decision"
ENDED = "left at its end"
LIMIT = "left at its limit"
APPROVED = "approved"
REJECTED = "rejected"
NOT_ASKED = "not asked"
SHOWN = "shown"
HANDED_OUT = "handed out"
LEFT_OUT = "left out"
NOTES_MISSING = "notes missing"
NOTES_WRONG = "notes fail the criteria"
OUTPUT_MISSING = "output missing"
OUTPUT_WRONG = "output wrong"


class Fill(Value):
    """A list that the context is to hold under `key`; `members` None: as many as show all."""

    key: str
    members: int | None


class Branch(Value):
    """One way to go. `wanted` and `fills` are what it waits for beyond its item being met."""

    kind: BranchKind
    item: str  # id of the step or loop, "" for the end
    way: str
    path: tuple[int, ...]  # of the item, its indices from the root
    wanted: tuple[Wanted, ...] = ()
    fills: tuple[Fill, ...] = ()
    consequence: Consequence | None = None

    @property
    def is_alternative(self) -> bool:
        """Whether it is what happens when something else does not."""
        return self.way in {PASSED_OVER, NOTHING_TO_DO, NOT_ASKED} or self.way.endswith(LEFT_OUT)

    def told(self) -> str:
        """Return the branch in words."""
        return f"{self.kind} {self.item}: {self.way}" if self.item else f"{self.kind}: {self.way}"


END = Branch(kind="end", item="", way="reached", path=(1_000_000,))


def branches(workflow: Workflow) -> tuple[Branch, ...]:
    """Return every branch of a workflow, in the order of its items."""
    return (*_of_items(workflow, workflow.steps, ()), END)


def to_enter(loop: Loop, members: int | None = None) -> tuple[tuple[Wanted, ...], tuple[Fill, ...]]:
    """Return what must hold for a loop to begin a pass, and `members` in all if that is said."""
    match loop.source:
        case ByCondition(condition=condition):
            return ((condition, loop.kind == "while"),), ()
        case ByCount(count=str(key)):
            return ((_compared(key, "gte", members or 1), True),), ()
        case ByItems(key=key):
            return (), (Fill(key=key, members=members),)
        case _:
            return (), ()


def not_to_enter(loop: Loop) -> tuple[tuple[Wanted, ...], tuple[Fill, ...]]:
    """Return what must hold for a loop not to begin a pass."""
    match loop.source:
        case ByCondition(condition=condition):
            return ((condition, loop.kind != "while"),), ()
        case ByCount(count=str(key)):
            return ((_compared(key, "lte", 0), True),), ()
        case ByItems(key=key):
            return (), (Fill(key=key, members=0),)
        case _:
            return (), ()


def _compared(key: str, operator: Literal["gte", "lte"], bound: int) -> Compare:
    return Compare(var=key, operator=operator, value=bound)


def _of_items(
    workflow: Workflow, items: tuple[Item, ...], above: tuple[int, ...]
) -> Iterator[Branch]:
    for index, item in enumerate(items):
        path = (*above, index)
        kind: BranchKind = "step" if isinstance(item, Step) else "loop"
        if item.run_condition is not None:
            failing = ((item.run_condition, False),)
            yield Branch(kind=kind, item=item.id, way=PASSED_OVER, path=path, wanted=failing)
        runs = _when(item.run_condition, outcome=True)
        if isinstance(item, Step):
            yield from _of_step(workflow, item, path, runs)
        else:
            yield from _of_loop(item, path, runs)
            yield from _of_items(workflow, item.body, path)


def _of_loop(loop: Loop, path: tuple[int, ...], runs: tuple[Wanted, ...]) -> Iterator[Branch]:
    def branch(way: str, made: tuple[tuple[Wanted, ...], tuple[Fill, ...]]) -> Branch:
        wanted, fills = made
        return Branch(
            kind="loop", item=loop.id, way=way, path=path, wanted=(*runs, *wanted), fills=fills
        )

    yield branch(ENTERED, to_enter(loop))
    match loop.source:
        case ByDecision():
            yield branch(DECIDED, ((), ()))
            yield branch(LIMIT, ((), ()))
        case ByCount(count=count) if not isinstance(count, str):
            yield branch(LIMIT if count > loop.max_iterations else ENDED, ((), ()))
        case _:
            yield branch(NOTHING_TO_DO, not_to_enter(loop))
            yield branch(ENDED, to_enter(loop))
            yield branch(LIMIT, to_enter(loop, loop.max_iterations + 1))


def _of_step(
    workflow: Workflow, step: Step, path: tuple[int, ...], runs: tuple[Wanted, ...]
) -> Iterator[Branch]:
    def branch(kind: BranchKind, way: str, *wanted: Wanted) -> Branch:
        return Branch(kind=kind, item=step.id, way=way, path=path, wanted=(*runs, *wanted))

    yield branch("step", MET)
    for fragment in step.fragments:
        if fragment.when is not None:
            yield branch("fragment", f"{fragment.id} {SHOWN}", (fragment.when, True))
            yield branch("fragment", f"{fragment.id} {LEFT_OUT}", (fragment.when, False))
    for number, each in enumerate(step.delegations, 1):
        if each.when is not None:
            name = delegation_name(number, each.workflow_id)
            yield branch("delegation", f"{name} {HANDED_OUT}", (each.when, True))
            yield branch("delegation", f"{name} {LEFT_OUT}", (each.when, False))
    if step.confirmation is not None and step.kind != "parallel":
        asked = _when(step.confirmation.when, outcome=True)
        yield branch("gate", APPROVED, *asked)
        yield branch("gate", REJECTED, *asked)
        if step.confirmation.when is not None:
            yield branch("gate", NOT_ASKED, (step.confirmation.when, False))
    yield from (
        Branch(kind="block", item=step.id, way=way, path=path, wanted=runs, consequence=fired)
        for way, fired in _blocks(workflow, step)
    )


def delegation_name(number: int, workflow_id: str) -> str:
    """Return how a delegation of a step is called here."""
    return f"{number}. {workflow_id}"


def level_way(consequence: Consequence) -> str:
    """Return the way in which a consequence refuses an attempt."""
    of = f" of {consequence.assessment}" if consequence.assessment else ""
    return f"level {consequence.level}{of} asks for more"


def check_way(check: str) -> str:
    """Return the way in which a check refuses an attempt."""
    return f"check {check} fails"


def _blocks(workflow: Workflow, step: Step) -> Iterator[tuple[str, Consequence | None]]:
    """Yield each way in which an attempt at a step can be refused."""
    if step.output_contract is not None:
        if step.output_contract.required:
            yield OUTPUT_MISSING, None
        if wrong_artifact(workflow, step) is not None:
            yield OUTPUT_WRONG, None
    elif step.assessment_refs:
        yield OUTPUT_MISSING, None
    elif step.criteria is not None and failing_notes(step, {}) is not None:
        yield NOTES_WRONG, None
    if not step.notes_optional and step.output_contract is None:
        yield NOTES_MISSING, None
    for consequence in step.consequences:
        if assessed(workflow, step, consequence) is not None:
            yield level_way(consequence), consequence
    for check in step.checks:
        yield check_way(check.id), None


def _when(condition: Condition | None, *, outcome: bool) -> tuple[Wanted, ...]:
    return () if condition is None else ((condition, outcome),)


def wanted_text(wanted: tuple[Wanted, ...], fills: tuple[Fill, ...]) -> str:
    """Return what is waited for, in words."""
    parts = [
        describe(condition) if outcome else f"not ({describe(condition)})"
        for condition, outcome in wanted
    ]
    for fill in fills:
        count = "some" if fill.members is None else str(fill.members)
        parts.append(f"{fill.key} holds a list of {count}")
    return " and ".join(dict.fromkeys(parts)) or "nothing"

"""The cursor: where a branch stands in its workflow, and what comes next.

Laws.
1. Order is monotonic: within one pass an item once passed, done or skipped, is not met again (D5).
2. A loop is entered, and its next pass begun, only when its source says so; a loop steered by
   context is asked again before every body step and at the end of the body, as recorded.
3. A loop decision concerns one loop: from inside a loop body the nearest loop around it that is
   steered by decisions, from a step outside any loop the next such loop met on the way (D4).
4. Reaching the limit of a loop that would have gone on is told, never silent (D6).

Theory of operation. A cursor addresses a step by indices from the root, one a level, with the pass
of each loop around it. `walk` moves an index forward; at the end of a body it asks the loop for
another pass or leaves it. Nothing else is remembered, so a walk costs the same at any length of
history.
"""

from collections.abc import Sequence
from typing import Final

from headway.domain.conditions import describe, holds
from headway.domain.contracts.loop_control import Decision
from headway.domain.errors import PreconditionFailed
from headway.domain.events import Cursor, LoopLimit, Skip, Walk
from headway.domain.loops import Around, is_entered, loop_ids, variables_at
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import ByDecision, Item, Loop, Step, Workflow

SELECTIONS_MAX: Final = 10_000
SKIPS_MAX: Final = 64


class Place(Value):
    """A step with the loops around it, outermost first, each with its pass from 0."""

    cursor: Cursor
    step: Step
    loops: Around


class Walked(Value):
    """Where a walk ended: at a step, or past the end (None)."""

    cursor: Cursor | None
    walk: Walk


def locate(workflow: Workflow, cursor: Cursor) -> Place:
    """Return the step a cursor stands on."""
    loops, items = _around(workflow, cursor.at, cursor.passes)
    step = items[cursor.at[-1]]
    assert isinstance(step, Step)
    return Place(cursor=cursor, step=step, loops=loops)


def decision_scope(workflow: Workflow, place: Place) -> frozenset[str] | None:
    """Return the names a loop decision handed in here may use; None when it concerns no loop."""
    for loop, _ in reversed(place.loops):
        if isinstance(loop.source, ByDecision):
            return loop_ids(loop)
    if place.loops:
        return None
    following = _first_decided(workflow.steps[place.cursor.at[0] + 1 :])
    return loop_ids(following) if following else None


def first_step(workflow: Workflow, context: JsonObject) -> Walked:
    """Return where a session begins. Raises PreconditionFailed as `next_step` does."""
    return _Walker(workflow, context, None).go([0], [])


def next_step(
    workflow: Workflow, place: Place, context: JsonObject, decision: Decision | None
) -> Walked:
    """Return where a branch goes after the step at `place`.

    Raises PreconditionFailed when a loop's input is missing or nothing can be selected within
    SELECTIONS_MAX tries.
    """
    at, passes, loops = list(place.cursor.at), list(place.cursor.passes), place.loops
    pending = None if loops else decision
    if decision is not None and decision.decision == "stop":
        for level in range(len(loops) - 1, -1, -1):
            if isinstance(loops[level][0].source, ByDecision):
                del at[level + 1 :], passes[level:]
                break
    at[-1] += 1
    return _Walker(workflow, context, pending).go(at, passes)


class _Walker:
    """One walk: the moving cursor and what was met on the way."""

    def __init__(self, workflow: Workflow, context: JsonObject, pending: Decision | None) -> None:
        self.workflow = workflow
        self.context = context
        self.pending = pending  # a decision from outside any loop, until it is spent
        self.skips: list[Skip] = []
        self.skips_omitted = 0
        self.limits: list[LoopLimit] = []
        self.at: list[int] = []
        self.passes: list[int] = []

    def go(self, at: list[int], passes: list[int]) -> Walked:
        self.at, self.passes = at, passes
        for _ in range(SELECTIONS_MAX):
            around, items = _around(self.workflow, self.at, self.passes)
            if around and self._is_cut_short(around):
                self._leave_loop()
            elif self.at[-1] >= len(items):
                if not around:
                    return self._ended(None)
                self._end_pass(around)
            elif self._enters(items[self.at[-1]], around):
                return self._ended(Cursor(at=tuple(self.at), passes=tuple(self.passes)))
        raise PreconditionFailed(
            f"No step could be selected within {SELECTIONS_MAX} tries: "
            "loops of this workflow go round without a step that applies.",
            remedy="Send context under which a step of the loop applies, or that ends the loop.",
        )

    def _is_cut_short(self, around: Around) -> bool:
        steered = not isinstance(around[-1][0].source, ByDecision)
        return steered and not is_entered(around, self.context)

    def _enters(self, item: Item, around: Around) -> bool:
        """Take the item: True when it is a step to stop at; else go into it or past it."""
        when = item.run_condition
        if when is not None and not holds(when, variables_at(around, self.context)):
            self._skip(item, describe(when))
            self.at[-1] += 1
            return False
        if isinstance(item, Step):
            return True
        if self._opens(item, around):
            self.at.append(0)
            self.passes.append(0)
        else:
            self._skip(item, "the loop had nothing to do")
            self.at[-1] += 1
        return False

    def _opens(self, loop: Loop, around: Around) -> bool:
        if isinstance(loop.source, ByDecision):
            decision, self.pending = self.pending, None
            named = decision is not None and decision.loop_id in (None, *loop_ids(loop))
            return not (decision is not None and named and decision.decision == "stop")
        return is_entered((*around, (loop, 0)), self.context)

    def _end_pass(self, around: Around) -> None:
        loop, number = around[-1]
        following = number + 1
        again = (*around[:-1], (loop, following))
        at_limit = following >= loop.max_iterations
        goes_on = isinstance(loop.source, ByDecision) or is_entered(again, self.context)
        if goes_on and not at_limit:
            self.passes[-1] = following
            self.at[-1] = 0
            return
        if goes_on:
            self.limits.append(
                LoopLimit(loop=loop.id, title=loop.title, max_iterations=loop.max_iterations)
            )
        self._leave_loop()

    def _leave_loop(self) -> None:
        self.at.pop()
        self.passes.pop()
        self.at[-1] += 1

    def _skip(self, item: Item, condition: str) -> None:
        if len(self.skips) == SKIPS_MAX:
            self.skips_omitted += 1
            return
        self.skips.append(Skip(item=item.id, condition=condition, passes=tuple(self.passes)))

    def _ended(self, cursor: Cursor | None) -> Walked:
        walk = Walk(
            skips=tuple(self.skips),
            skips_omitted=self.skips_omitted,
            loop_limits=tuple(self.limits),
        )
        return Walked(cursor=cursor, walk=walk)


def _around(
    workflow: Workflow, at: Sequence[int], passes: Sequence[int]
) -> tuple[Around, tuple[Item, ...]]:
    """Return the loops around an address, outermost first, and the items that it chooses from."""
    loops = []
    items = workflow.steps
    for index, number in zip(at, passes, strict=False):
        loop = items[index]
        assert isinstance(loop, Loop)
        loops.append((loop, number))
        items = loop.body
    return tuple(loops), items


def _first_decided(items: tuple[Item, ...]) -> Loop | None:
    for item in items:
        if isinstance(item, Loop):
            if isinstance(item.source, ByDecision):
                return item
            inner = _first_decided(item.body)
            if inner:
                return inner
    return None

"""The order of steps, told by a second, naive interpreter: a walk over the tree by recursion.

It knows no cursor. It visits items in order with Python's own control flow and yields at every
step; the answer it is sent holds the context change and the loop decision made there. Whatever the
engine does must agree with it.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeAlias

from headway.domain.conditions import holds
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import (
    ByCondition,
    ByCount,
    ByDecision,
    ByItems,
    Item,
    Loop,
    Step,
    Workflow,
)
from tests.support.played import plain_merge

Place: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # indices, passes
Around: TypeAlias = tuple[tuple[Loop, int], ...]


class Missing(Exception):
    """A loop lacks its input."""


class _Leave(Exception):
    def __init__(self, loop: Loop) -> None:
        super().__init__(loop.id)
        self.loop = loop


@dataclass(frozen=True)
class Answer:
    """What was handed in at a step, as far as it steers the way on."""

    context: JsonObject | None = None
    word: str | None = None
    loop_id: str | None = None


@dataclass
class Leg:
    """What lies between two steps, and the step it leads to; None is the end."""

    place: Place | None = None
    skips: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)


Visits: TypeAlias = Generator[Leg, Answer, None]


def walk_model(workflow: Workflow, context: JsonObject, answers: list[Answer]) -> list[Leg]:
    """Return the legs of a run with these answers. Raises Missing."""
    interpreter = _Interpreter(context)
    visits = interpreter.items(workflow.steps, (), ())
    legs = []
    try:
        legs.append(next(visits))
        for answer in answers:
            leg = visits.send(answer)
            legs.append(leg)
    except StopIteration:
        legs.append(interpreter.leg)
    return legs


class _Interpreter:
    def __init__(self, context: JsonObject) -> None:
        self.context = plain_merge({}, context)
        self.pending: Answer | None = None
        self.leg = Leg()
        self.finished_body = False  # whether the body walked last ended at its end

    def items(self, items: tuple[Item, ...], at: tuple[int, ...], around: Around) -> Visits:
        for index, item in enumerate(items):
            if around and self._is_over(around):
                self.finished_body = False
                return
            if not holds(item.run_condition, self._variables(around)):
                self.leg.skips.append(item.id)
            elif isinstance(item, Step):
                yield from self._step((*at, index), around)
            else:
                yield from self._loop(item, (*at, index), around)
        self.finished_body = not (around and self._is_over(around))

    def _step(self, at: tuple[int, ...], around: Around) -> Visits:
        self.leg.place = (at, tuple(number for _, number in around))
        leg, self.leg = self.leg, Leg()
        answer = yield leg
        self.context = plain_merge(self.context, answer.context)
        self.pending = None
        decided = [loop for loop, _ in around if isinstance(loop.source, ByDecision)]
        if not around:
            self.pending = answer if answer.word else None
        elif decided and answer.word == "stop":
            raise _Leave(decided[-1])

    def _loop(self, loop: Loop, at: tuple[int, ...], around: Around) -> Visits:
        if not self._opens(loop, around):
            self.leg.skips.append(loop.id)
            return
        number = 0
        try:
            while True:
                yield from self.items(loop.body, at, (*around, (loop, number)))
                if not self.finished_body:
                    return
                number += 1
                if not self._goes_on(loop, number, around):
                    return
        except _Leave as leave:
            if leave.loop is not loop:
                raise

    def _opens(self, loop: Loop, around: Around) -> bool:
        if not isinstance(loop.source, ByDecision):
            return self._begins(loop, 0, around)
        pending, self.pending = self.pending, None
        concerns = pending and pending.loop_id in (None, loop.id, loop.source.loop_id)
        return not (pending and concerns and pending.word == "stop")

    def _goes_on(self, loop: Loop, number: int, around: Around) -> bool:
        full = number >= loop.max_iterations
        try:
            wants = isinstance(loop.source, ByDecision) or self._begins(loop, number, around)
        except Missing:
            if not full:
                raise
            return False
        if wants and full:
            self.leg.limits.append(loop.id)
        return wants and not full

    def _is_over(self, around: Around) -> bool:
        loop, number = around[-1]
        if isinstance(loop.source, ByDecision):
            return False
        return not self._begins(loop, number, around[:-1])

    def _begins(self, loop: Loop, number: int, around: Around) -> bool:
        outer = self._variables(around)
        match loop.source:
            case ByCondition(condition=condition):
                true = holds(condition, self._variables((*around, (loop, number))))
                return true if loop.kind == "while" else not true
            case ByCount(count=count):
                wanted = outer.get(count) if isinstance(count, str) else count
                if isinstance(wanted, bool) or not isinstance(wanted, int | float):
                    raise Missing(str(count))
                return number < wanted
            case ByItems(key=key):
                found = outer.get(key)
                if not isinstance(found, list):
                    raise Missing(key)
                plain = bool(found) and not isinstance(found[0], dict | list)
                if number == 0 and plain and _asks_fields(loop, "{{" + loop.item_var + "."):
                    raise Missing(key)
                return number < len(found)
            case ByDecision():
                raise AssertionError

    def _variables(self, around: Around) -> dict[str, Json]:
        seen = dict(self.context)
        for loop, number in around:
            seen[loop.iteration_var] = number + 1
            if isinstance(loop.source, ByItems):
                found = seen.get(loop.source.key)
                if isinstance(found, list) and number < len(found):
                    seen[loop.item_var] = found[number]
                seen[loop.index_var] = number
        return seen


def _asks_fields(item: Item, text: str) -> bool:
    if isinstance(item, Step):
        return text in item.prompt
    return any(_asks_fields(inner, text) for inner in item.body)

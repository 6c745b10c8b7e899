"""Choosing what to set and decide so that a run comes nearer to one branch.

Theory of operation. A branch waits for the loops around it to be entered and for what it wants
itself; where a key of that is not told yet, the step that tells it must be met first. All of this
is wanted at every step, the weightiest first, and as much of it as goes together is set. What lies
between is left to happen: a step on the way only makes the run longer.
"""

from dataclasses import dataclass
from typing import Literal

from headway.domain.events import Cursor
from headway.domain.loops import Around
from headway.domain.simulating.branches import (
    END,
    ENDED,
    LIMIT,
    Branch,
    Fill,
    not_to_enter,
    to_enter,
)
from headway.domain.simulating.keys import Keys
from headway.domain.simulating.solving import Found, Wanted, solve, variables_in
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import ByDecision, Item, Loop, Workflow

TELLERS_DEEP_MAX = 3


@dataclass(frozen=True, slots=True)
class Aim:
    """A branch to take, and the turn in which to try: each turn picks other values."""

    workflow: Workflow
    keys: Keys
    branch: Branch
    turn: int

    def values(
        self, cursor: Cursor | None, around: Around, known: JsonObject, settable: frozenset[str]
    ) -> dict[str, Json]:
        """Return what to set at a step (None: with the start) to come nearer to the branch."""
        wanted, fills = self._wants(cursor, settable)
        for depth, (loop, _) in enumerate(around, 1):
            if cursor is not None and self.branch.path[:depth] != cursor.at[:depth]:
                more, filled = not_to_enter(loop)
                wanted, fills = (*wanted, *more), (*fills, *filled)
        given = self._filled(fills, known, settable)
        known = {**known, **given}
        kept: tuple[Wanted, ...] = ()
        found: dict[str, Json] = {}
        for each in wanted:
            solved = solve((*kept, each), known, settable - given.keys(), self.turn)
            if isinstance(solved, Found):
                kept, found = (*kept, each), solved.values
        return {**given, **found}

    def word(self, cursor: Cursor, around: Around) -> Literal["continue", "stop"]:
        """Return how to decide about the loop around a step, or about the next one."""
        decided = [
            n for n, (loop, _) in enumerate(around, 1) if isinstance(loop.source, ByDecision)
        ]
        if not decided:
            return "continue"
        path = cursor.at[: decided[-1]]
        at_loop = self.branch.path == path
        if at_loop and self.branch.way == LIMIT:
            return "continue"
        inside = len(self.branch.path) > len(path) and self.branch.path[: len(path)] == path
        return "continue" if inside else "stop"

    def is_behind(self, cursor: Cursor) -> bool:
        """Tell whether the branch cannot be met any more in this run."""
        path = self.branch.path
        shared = next(
            (
                n
                for n, (one, other) in enumerate(zip(cursor.at, path, strict=False))
                if one != other
            ),
            min(len(cursor.at), len(path)),
        )
        if shared == len(path) or shared == len(cursor.at):
            return False  # in the item itself
        return shared == 0 and cursor.at[0] > path[0]

    def _wants(
        self, cursor: Cursor | None, settable: frozenset[str]
    ) -> tuple[tuple[Wanted, ...], tuple[Fill, ...]]:
        branch = self.branch
        wanted, fills = around_path(self.workflow, branch.path)
        inside = cursor is not None and cursor.at[: len(branch.path)] == branch.path
        if branch.way == ENDED and inside:
            more, filled = not_to_enter(_loop_at(self.workflow, branch.path))
        else:
            more, filled = branch.wanted, branch.fills
        wanted, fills = (*wanted, *more), (*fills, *filled)
        here = cursor.at if cursor is not None else (-1,)
        return (*wanted, *self._tellers(wanted, fills, here, settable)), fills

    def _tellers(
        self,
        wanted: tuple[Wanted, ...],
        fills: tuple[Fill, ...],
        here: tuple[int, ...],
        settable: frozenset[str],
    ) -> tuple[Wanted, ...]:
        """Return what must hold for the steps to be met that tell the keys still missing."""
        found: tuple[Wanted, ...] = ()
        looked: set[str] = set()
        asked, filled = wanted, fills
        for _ in range(TELLERS_DEEP_MAX):
            names = {name for condition, _ in asked for name in variables_in(condition)}
            names |= {fill.key for fill in filled}
            asked, filled = (), ()
            for name in sorted(names - settable - looked):
                looked.add(name)
                ahead = [path for path in self.keys.tellers.get(name, ()) if path > here]
                if ahead:
                    path = ahead[self.turn % len(ahead)]
                    more, also = around_path(self.workflow, path, whole=True)
                    asked, filled = (*asked, *more), (*filled, *also)
            found = (*found, *asked)
        return found

    def _filled(
        self, fills: tuple[Fill, ...], known: JsonObject, settable: frozenset[str]
    ) -> dict[str, Json]:
        """Return the lists to set, the last word on a key counting."""
        given: dict[str, Json] = {}
        for fill in fills:
            if fill.key not in settable:
                continue
            now = known.get(fill.key)
            made = self.keys.members(fill.key, fill.members)
            if isinstance(now, list) and len(now) == len(made):
                given.pop(fill.key, None)
            else:
                given[fill.key] = made
        return given


def around_path(
    workflow: Workflow, path: tuple[int, ...], *, whole: bool = False
) -> tuple[tuple[Wanted, ...], tuple[Fill, ...]]:
    """Return what must hold for the loops around an item to be entered, `whole` for itself too."""
    wanted: tuple[Wanted, ...] = ()
    fills: tuple[Fill, ...] = ()
    items: tuple[Item, ...] = workflow.steps
    if path == END.path:
        return wanted, fills
    for depth, index in enumerate(path, 1):
        item = items[index]
        if depth == len(path) and not whole:
            break
        if item.run_condition is not None:
            wanted = (*wanted, (item.run_condition, True))
        if isinstance(item, Loop):
            more, filled = to_enter(item)
            wanted, fills, items = (*wanted, *more), (*fills, *filled), item.body
    return wanted, fills


def _loop_at(workflow: Workflow, path: tuple[int, ...]) -> Loop:
    items: tuple[Item, ...] = workflow.steps
    for index in path[:-1]:
        outer = items[index]
        assert isinstance(outer, Loop)
        items = outer.body
    found = items[path[-1]]
    assert isinstance(found, Loop)
    return found

"""Driving a workflow until every branch was taken, and saying why the rest was not.

Law: the same workflow, seed and budget give the same report. What is told as impossible no value
can bring about; what is told as undecided was merely not found within the budget.
"""

from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from headway.domain.simulating.aiming import Aim, around_path
from headway.domain.simulating.branches import (
    END,
    ENTERED,
    LIMIT,
    MET,
    NOTHING_TO_DO,
    PASSED_OVER,
    Branch,
    branches,
    wanted_text,
)
from headway.domain.simulating.driving import BranchKey, DeadEnd, Run, Taken, key_of
from headway.domain.simulating.keys import Keys, keys_of
from headway.domain.simulating.solving import Impossible, solve, variables_in
from headway.domain.values import Json, Value
from headway.domain.workflow import Item, Loop, Workflow

ADVANCES_MAX: Final = 20_000
TURNS_MAX: Final = 4

Verdict: TypeAlias = Literal["impossible", "unset", "late", "undecided"]


class Untaken(Value):
    """A branch that no run took, and why.

    `impossible`: no value brings it about. `unset`: nobody is told to set what it waits for.
    `late`: what it waits for is told only after it was asked. `undecided`: none of these, and still
    no run came to it. `reachable` is what counts as missing; an alternative that merely never comes
    up for want of a value, such as a step not passed over, does not.
    """

    branch: Branch
    verdict: Verdict
    why: str
    reachable: bool
    keys: tuple[str, ...] = ()  # that are unset or late


class Coverage(Value):
    """What the runs of a simulation took, out of what there is."""

    workflow: str
    seed: int
    runs: int
    advances: int
    taken: tuple[Branch, ...]
    untaken: tuple[Untaken, ...]
    dead_ends: tuple[DeadEnd, ...]
    exhausted: bool  # the budget ended before everything was tried

    @property
    def reachable(self) -> int:
        """How many branches there are that some value can bring about."""
        return len(self.taken) + len(self.missed)

    @property
    def missed(self) -> tuple[Untaken, ...]:
        """The branches that were to be reached, and were not taken."""
        return tuple(each for each in self.untaken if each.reachable)

    @property
    def is_complete(self) -> bool:
        """Whether every reachable branch was taken and no run ended before its time."""
        return not self.missed and not self.dead_ends


def simulate(workflow: Workflow, seed: int = 0, advances_max: int = ADVANCES_MAX) -> Coverage:
    """Drive a workflow towards each of its branches and report what was taken."""
    existing = branches(workflow)
    keys = keys_of(workflow)
    taken = Taken(workflow, {key_of(each): each for each in existing})
    reasons: dict[BranchKey, Untaken] = {}
    barred: dict[tuple[int, ...], Untaken] = {}  # items that are not met, by path
    for branch in (END, *existing):
        if not taken.is_open(branch):
            continue
        known = _inherited(branch, barred) or _judged(workflow, keys, branch)
        if known is not None:
            reasons[key_of(branch)] = known
            if branch.way in {ENTERED, MET}:
                barred[branch.path] = known
        if known is not None and not known.reachable:
            continue
        for turn in range(seed, seed + TURNS_MAX):
            if taken.is_open(branch) and taken.advances < advances_max:
                Run(Aim(workflow, keys, branch, turn), taken).drive()
    left = taken.open
    return Coverage(
        workflow=workflow.id,
        seed=seed,
        runs=taken.runs,
        advances=taken.advances,
        taken=tuple(each for each in existing if key_of(each) not in left),
        untaken=tuple(reasons.get(key) or _undecided(workflow, each) for key, each in left.items()),
        dead_ends=tuple(taken.dead_ends.values()),
        exhausted=taken.advances >= advances_max,
    )


def _undecided(workflow: Workflow, branch: Branch) -> Untaken:
    why = f"No run came to it within the budget. It waits for: {_waits_for(workflow, branch)}."
    return Untaken(branch=branch, verdict="undecided", why=why, reachable=True)


def _inherited(branch: Branch, barred: dict[tuple[int, ...], Untaken]) -> Untaken | None:
    """Return why a branch is not taken when its item, or a loop around that, is not met."""
    if branch.way in {PASSED_OVER, NOTHING_TO_DO} or branch is END:
        outer = range(1, len(branch.path))
    else:
        outer = range(1, len(branch.path) + 1)
    found = next((barred[branch.path[:n]] for n in outer if branch.path[:n] in barred), None)
    return None if found is None else replace(found, branch=branch)


def _judged(workflow: Workflow, keys: Keys, branch: Branch) -> Untaken | None:
    """Return why a branch cannot be taken, as far as its conditions alone tell."""
    above, fills = around_path(workflow, branch.path)
    wanted = (*above, *branch.wanted)
    known = _at_limit(workflow, branch)
    names = frozenset(name for condition, _ in wanted for name in variables_in(condition))
    free = solve(wanted, known, names - known.keys())
    waits_for = _waits_for(workflow, branch)
    if isinstance(free, Impossible) and free.sure:
        why = f"No value brings it about: {waits_for}."
        return Untaken(branch=branch, verdict="impossible", why=why, reachable=False)
    own = _loop_variables(workflow, branch)
    asked = [fill.key for fill in (*fills, *branch.fills)]
    verdicts: tuple[tuple[Verdict, frozenset[str], str], ...] = (
        ("unset", keys.told, "No text tells anybody to set"),
        ("late", keys.told_before(branch), "It is asked before any text tells of"),
    )
    for verdict, told, words in verdicts:
        solved = solve(wanted, known, (names & (told | own)) - known.keys())
        missing = [*solved.missing] if isinstance(solved, Impossible) else []
        missing += [key for key in asked if key not in told | own]
        if missing:
            listed = tuple(dict.fromkeys(missing))
            why = f"{words} {', '.join(listed)}. It waits for: {waits_for}."
            counts = not branch.is_alternative
            return Untaken(branch=branch, verdict=verdict, why=why, reachable=counts, keys=listed)
    return None


def _waits_for(workflow: Workflow, branch: Branch) -> str:
    above, fills = around_path(workflow, branch.path)
    return wanted_text((*above, *branch.wanted), (*fills, *branch.fills))


def _loops_around(workflow: Workflow, branch: Branch) -> list[Loop]:
    """Return the loops around a branch's item, and itself if it is one."""
    found: list[Loop] = []
    items: tuple[Item, ...] = workflow.steps
    for index in branch.path if branch is not END else ():
        item = items[index]
        if isinstance(item, Loop):
            found.append(item)
            items = item.body
    return found


def _loop_variables(workflow: Workflow, branch: Branch) -> frozenset[str]:
    return frozenset(
        name
        for loop in _loops_around(workflow, branch)
        for name in (loop.iteration_var, loop.item_var, loop.index_var)
    )


def _at_limit(workflow: Workflow, branch: Branch) -> dict[str, Json]:
    """Return the variables of a loop asked for one pass more than it may have."""
    if branch.kind != "loop" or branch.way != LIMIT:
        return {}
    loop = _loops_around(workflow, branch)[-1]
    return {loop.iteration_var: loop.max_iterations + 1}

"""One run towards a branch: from the start until the branch is taken, or cannot be any more."""

from dataclasses import dataclass, field
from typing import Final, Literal

from headway.domain.conditions import holds
from headway.domain.cursor import Place
from headway.domain.errors import PreconditionFailed
from headway.domain.events import (
    AdvanceBlocked,
    CheckResult,
    Cursor,
    GateOpened,
    Opened,
    StepAdvanced,
    Walk,
)
from headway.domain.outputs import Submission
from headway.domain.simulating import branches
from headway.domain.simulating.aiming import Aim
from headway.domain.simulating.branches import (
    APPROVED,
    DECIDED,
    END,
    ENDED,
    ENTERED,
    HANDED_OUT,
    LEFT_OUT,
    LIMIT,
    MET,
    NOT_ASKED,
    NOTHING_TO_DO,
    PASSED_OVER,
    REJECTED,
    SHOWN,
    Branch,
    check_way,
    delegation_name,
)
from headway.domain.simulating.session import Session
from headway.domain.simulating.submissions import (
    PLAIN,
    assessed,
    failing_notes,
    passing,
    wrong_artifact,
)
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import ByDecision, Step, Workflow

RUN_ADVANCES_MAX: Final = 2_000
REFUSALS_MAX: Final = 8  # in a row; the engine takes no more than ten

BranchKey = tuple[str, str, str]


class DeadEnd(Value):
    """A step that could not be left, and why."""

    step: str
    why: str


@dataclass
class Taken:
    """What all runs together have taken, and what they met on the way."""

    workflow: Workflow
    open: dict[BranchKey, Branch]  # not taken yet
    dead_ends: dict[str, DeadEnd] = field(default_factory=dict)
    advances: int = 0
    runs: int = 0

    def take(self, kind: str, item: str, way: str) -> None:
        self.open.pop((kind, item, way), None)

    def is_open(self, branch: Branch) -> bool:
        return key_of(branch) in self.open

    def blocks_open(self, step: Step) -> list[Branch]:
        """Return the ways to be refused at a step that no run has taken."""
        return [b for b in self.open.values() if b.kind == "block" and b.item == step.id]


def key_of(branch: Branch) -> BranchKey:
    """Return what a branch is known by."""
    return branch.kind, branch.item, branch.way


class Run:
    """One session driven towards the branch of an aim; everything it passes counts as taken."""

    def __init__(self, aim: Aim, taken: Taken) -> None:
        self.aim = aim
        self.taken = taken
        self.session = Session(aim.workflow)
        self.told = aim.keys.from_start

    def drive(self) -> None:
        """Drive until the branch is taken, is out of reach, or the run has grown too long."""
        self.taken.runs += 1
        if not self._start():
            return
        for _ in range(RUN_ADVANCES_MAX):
            opened = self.session.opened
            if opened is None:
                self.taken.take(*key_of(END))
                return
            self._arrive()
            done = self.aim.branch is not END and not self.taken.is_open(self.aim.branch)
            if done or self.aim.is_behind(opened.cursor):
                return
            if not self._leave():
                return

    def _start(self) -> bool:
        settable = self.told
        context = self.aim.values(None, (), {}, settable)
        for _ in range(len(self.aim.keys.looped) + 1):
            try:
                walk = self.session.start(context)
            except PreconditionFailed as fault:
                more = self._fed(fault, "the start", settable)
                if more is None:
                    return False
                context |= more
                continue
            self.told -= {"is_autonomous", "headway_autonomous", "workflowId"}
            self._walked(walk)
            return True
        return False

    def _arrive(self) -> None:
        """Note what is met with a step: itself, the loops around it, what its prompt holds."""
        place, variables, take = self.session.place, self.session.variables, self.taken.take
        step = place.step
        take("step", step.id, MET)
        for loop, _ in place.loops:
            take("loop", loop.id, ENTERED)
        for fragment in step.fragments:
            shown = SHOWN if holds(fragment.when, variables) else LEFT_OUT
            take("fragment", step.id, f"{fragment.id} {shown}")
        for number, each in enumerate(step.delegations, 1):
            out = HANDED_OUT if holds(each.when, variables) else LEFT_OUT
            take("delegation", step.id, f"{delegation_name(number, each.workflow_id)} {out}")
        self.told |= self.aim.keys.by_step.get(step.id, frozenset())

    def _leave(self) -> bool:
        """Be refused in every way that is still open, then hand in what passes; tell if it did."""
        place, opened = self.session.place, self.session.opened
        assert opened is not None
        for branch in self.taken.blocks_open(place.step)[:REFUSALS_MAX]:
            self._be_refused(branch, place.step)
        word = self.aim.word(opened.cursor, place.loops)
        values = self.aim.values(
            opened.cursor, place.loops, self.session.variables, self._settable(place)
        )
        seen: JsonObject = {**self.session.variables, **values}
        sent = passing(self.aim.workflow, place.step, seen, word)
        if sent is None:
            return self._dead(place.step, "nothing was found that its demands let pass")
        if place.step.checks:
            self.session.check(_checked(place.step, ""))
        return self._hand_in(place, opened, sent, values, word)

    def _hand_in(
        self,
        place: Place,
        opened: Opened,
        sent: Submission,
        values: dict[str, Json],
        word: Literal["continue", "stop"],
    ) -> bool:
        step = place.step
        for _ in range(len(self.aim.keys.looped) + 1):
            try:
                outcome = self._sent(sent, values)
            except PreconditionFailed as fault:
                more = self._fed(fault, step.id, self._settable(place))
                if more is None:
                    return False
                values |= more
                continue
            return self._came_out(outcome, place, opened, word)
        return self._dead(step, "its loops ask for the same key again and again")

    def _came_out(
        self,
        outcome: StepAdvanced | AdvanceBlocked | GateOpened,
        place: Place,
        opened: Opened,
        word: Literal["continue", "stop"],
    ) -> bool:
        step = place.step
        if isinstance(outcome, GateOpened):
            approve = ("gate", step.id, REJECTED) not in self.taken.open
            self.taken.take("gate", step.id, APPROVED if approve else REJECTED)
            outcome = self.session.answer(outcome, approve=approve)
            if not approve:
                return True  # the step is open again
        elif isinstance(outcome, StepAdvanced):
            self.taken.take("gate", step.id, NOT_ASKED)
        if isinstance(outcome, StepAdvanced):
            self._moved(opened.cursor, place, outcome, word)
            return True
        assert isinstance(outcome, AdvanceBlocked)
        return self._dead(step, outcome.blockers[0].message)

    def _be_refused(self, branch: Branch, step: Step) -> None:
        sent, failing = _refused(self.aim.workflow, step, branch, self.session.variables)
        if sent is None:
            return
        if step.checks:
            self.session.check(_checked(step, failing))
        try:
            outcome = self._sent(sent, {})
        except PreconditionFailed:
            return  # refused for want of a loop's input, before its own reason could count
        if isinstance(outcome, AdvanceBlocked):
            self.taken.take(branch.kind, branch.item, branch.way)

    def _sent(
        self, sent: Submission, values: dict[str, Json]
    ) -> StepAdvanced | AdvanceBlocked | GateOpened:
        self.taken.advances += 1
        return self.session.advance(sent, values)

    def _moved(
        self, before: Cursor, place: Place, outcome: StepAdvanced, word: Literal["continue", "stop"]
    ) -> None:
        """Note the loops that were left, and how, and what was passed over."""
        self._walked(outcome.walk)
        limits = {each.loop for each in outcome.walk.loop_limits}
        decided = -1
        if word == "stop" and _decides(place.step):
            by_decision = [isinstance(loop.source, ByDecision) for loop, _ in place.loops]
            decided = max((n for n, each in enumerate(by_decision) if each), default=-1)
        after = outcome.opened.cursor if outcome.opened is not None else None
        for depth, (loop, _) in enumerate(place.loops):
            if _is_inside(after, before, depth) or loop.id in limits:
                continue
            if depth == decided:
                self.taken.take("loop", loop.id, DECIDED)
            elif depth > decided >= 0 or isinstance(loop.source, ByDecision):
                continue  # torn along by a loop further out
            else:
                self.taken.take("loop", loop.id, ENDED)

    def _walked(self, walk: Walk) -> None:
        for skip in walk.skips:
            idle = skip.condition == "the loop had nothing to do"
            self.taken.take("loop", skip.item, NOTHING_TO_DO if idle else PASSED_OVER)
            self.taken.take("step", skip.item, PASSED_OVER)
        for each in walk.loop_limits:
            self.taken.take("loop", each.loop, LIMIT)

    def _settable(self, place: Place) -> frozenset[str]:
        own = {
            n
            for loop, _ in place.loops
            for n in (loop.iteration_var, loop.item_var, loop.index_var)
        }
        return self.told - own

    def _fed(
        self, fault: PreconditionFailed, step: str, settable: frozenset[str]
    ) -> dict[str, Json] | None:
        """Return the value that a loop asks for; one that nobody is told to set is a dead end."""
        key = str((fault.details or {}).get("key", ""))
        if key not in self.aim.keys.looped:
            self._dead_end(step, str(fault))
            return None
        if key not in settable:
            self._dead_end(step, f"{fault} No text tells anybody to set it before.")
        return {key: self.aim.keys.value(key)}

    def _dead(self, step: Step, why: str) -> bool:
        self._dead_end(step.id, why)
        return False

    def _dead_end(self, step: str, why: str) -> None:
        self.taken.dead_ends.setdefault(step, DeadEnd(step=step, why=why))


def _is_inside(after: Cursor | None, before: Cursor, depth: int) -> bool:
    """Tell whether a move stayed in the loop at a depth, in the same round of those outside."""
    if after is None:
        return False
    return (
        after.at[: depth + 1] == before.at[: depth + 1]
        and after.passes[:depth] == before.passes[:depth]
        and len(after.at) > depth + 1
    )


def _decides(step: Step) -> bool:
    return step.output_contract is not None and step.output_contract.ref.endswith("loop_control")


def _checked(step: Step, failing: str) -> tuple[CheckResult, ...]:
    return tuple(
        CheckResult(check=check.id, exit_code=int(check_way(check.id) == failing))
        for check in step.checks
    )


def _refused(
    workflow: Workflow, step: Step, branch: Branch, variables: JsonObject
) -> tuple[Submission | None, str]:
    """Return what is refused in one way and passes else, and the way of the check that fails."""
    right = passing(workflow, step, variables, "stop")
    good = right or Submission(notes=PLAIN)
    match branch.way:
        case branches.NOTES_MISSING:
            return Submission(artifacts=good.artifacts), ""
        case branches.NOTES_WRONG:
            return Submission(notes=failing_notes(step, variables), artifacts=good.artifacts), ""
        case branches.OUTPUT_MISSING:
            return Submission(notes=good.notes), ""
        case branches.OUTPUT_WRONG:
            kept = assessed(workflow, step) or ()
            made = (*kept, wrong_artifact(workflow, step))
            return Submission(notes=good.notes, artifacts=made), ""
        case _ if branch.consequence is not None:
            levels = assessed(workflow, step, branch.consequence)
            others = tuple(each for each in good.artifacts if not _is_assessment(each))
            return Submission(notes=good.notes, artifacts=(*(levels or ()), *others)), ""
        case _:
            return right, branch.way


def _is_assessment(artifact: Json) -> bool:
    return isinstance(artifact, dict) and artifact.get("kind") == "wr.assessment"

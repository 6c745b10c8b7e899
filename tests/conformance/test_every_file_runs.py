"""Every workflow file runs to its end, whatever an agent sends on the way.

Each file is driven through many arms drawn by a seed: contexts of odd and even kinds, outputs
missing, wrong or right, loops gone on with or left, contexts changed and removed in mid-run. In
each arm the session ends within its bound, complete or refused with a code; each step met lies
behind the one before; each block can be answered so that the step is left; and each step can be
told.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import pytest

import headway
from headway.domain.commands import Advance, Start
from headway.domain.compiler.reading import Document
from headway.domain.compiler.templates import routine_template_id
from headway.domain.context import merged_context
from headway.domain.cursor import Place, locate
from headway.domain.errors import Code, PreconditionFailed
from headway.domain.events import AdvanceBlocked, Opened, SessionCompleted, StepAdvanced
from headway.domain.ids import AttemptId, next_attempt
from headway.domain.loops import variables_at
from headway.domain.rendering.metrics import is_last_step
from headway.domain.rendering.prompt import StepView, render_step
from headway.domain.state import Outcome
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import (
    ByCount,
    ByItems,
    Compare,
    Item,
    Loop,
    Step,
    Workflow,
)
from tests.conformance.traces import HERE, SHARED, require_shared
from tests.support.decided import Decided, compile_text, read_documents, workflow_files
from tests.support.satisfying import assessment, passing_artifacts, passing_notes

CI = os.environ.get("CI") == "true"  # noqa: TID251  the promise of this test depends on it
ARMS: Final = 80
BUNDLED: Final = Path(headway.__file__).parent / "workflows"
FOLDERS: Final = (SHARED / "workflows", HERE / "cases", BUNDLED)
RECORDED_FILES: Final = 66

_ODD: Final[tuple[Json, ...]] = (
    None, True, False, 0, 1, 3, 2.5, "", "true", " HIGH ", "no", "7", [], ["a", None], [[1]],
    {}, {"key": "value"}, "other",
)  # fmt: skip
_JUNK: Final[tuple[Json, ...]] = (
    None, 3, "text", [], {}, {"kind": 1}, {"kind": "other"}, {"kind": "wr.loop_control"},
    {"kind": "wr.loop_control", "decision": "perhaps"}, {"kind": "wr.assessment"},
    {"kind": "wr.loop_control", "decision": "stop", "loopId": "no-such-loop"},
    {"kind": "wr.gate_verdict", "version": "1"}, {"kind": "wr.review_verdict", "findings": {}},
)  # fmt: skip


def files() -> list[Path]:
    return [path for folder in FOLDERS if folder.is_dir() for path in workflow_files(folder)]


@cache
def routines() -> dict[str, Document]:
    named = {
        routine_template_id(str(document.root["id"])): document
        for folder in FOLDERS
        if folder.is_dir()
        for document in read_documents(folder).values()
    }
    return {name: document for name, document in named.items() if name}


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_runs_to_its_end_in_every_arm(path: Path) -> None:
    text = path.read_bytes()
    beside = SHARED.is_dir() or BUNDLED in path.parents
    if b"templateCall" in text and not beside:
        pytest.skip("the routine it calls is not beside this checkout")
    workflow = compile_text(text, routines(), path.name)
    ends = {Arm(workflow, drawn(f"{path.stem} {number}")).run() for number in range(ARMS)}
    assert "complete" in ends


def drawn(seed: str) -> Random:
    return Random(seed)  # noqa: S311  chance by rule, so that a failure comes again


def test_the_recorded_files_are_there() -> None:
    require_shared(ci=CI)
    assert len(list(FOLDERS[0].rglob("*.json"))) == RECORDED_FILES


@dataclass
class Arm:
    """One run of a workflow, every choice taken by chance."""

    workflow: Workflow
    chance: Random

    def __post_init__(self) -> None:
        self.session = Decided(workflow=self.workflow)
        self.keys = _condition_keys(self.workflow)
        self.inputs = _loop_inputs(self.workflow.steps)
        self.fed = self.chance.random() < 0.8  # whether a loop that lacks its input gets it

    def run(self) -> str:
        try:
            self.session.start(Start(goal="Try it", context=self._context(0.7)))
        except PreconditionFailed as fault:
            return _coded(fault)
        assert self.session.state.started is not None
        opened = self.session.state.started.opened
        for _ in range(_bound(self.workflow.steps) + 1):
            if opened is None:
                assert isinstance(self.session.events[-1], SessionCompleted)
                return "complete"
            self._tell(opened)
            outcome = self._leave(opened)
            if isinstance(outcome, PreconditionFailed):
                return _coded(outcome)
            if outcome.opened is not None:
                assert _address(opened) < _address(outcome.opened), "order is not monotonic"
            opened = outcome.opened
        raise AssertionError("the run is longer than its workflow allows")

    def _leave(self, opened: Opened) -> StepAdvanced | PreconditionFailed:
        """Fail at the step now and then, then satisfy it; a satisfied step must be left."""
        attempt = opened.attempt
        place, variables = self._view(opened)
        for _ in range(self.chance.choice([0, 0, 1, 3])):
            outcome = self._send(attempt, place.step, variables, good=False)
            if not isinstance(outcome, AdvanceBlocked):
                return outcome
            assert outcome.retryable
            assert outcome.blockers
            again = self.session.advance(Advance(attempt=attempt, notes="again"))
            assert again == outcome, "an attempt has one outcome"
            attempt = next_attempt(attempt)
        outcome = self._send(attempt, place.step, variables, good=True)
        assert not isinstance(outcome, AdvanceBlocked), (place.step.id, outcome.blockers)
        return outcome

    def _send(
        self, attempt: AttemptId, step: Step, variables: JsonObject, *, good: bool
    ) -> StepAdvanced | AdvanceBlocked | PreconditionFailed:
        delta = self._context(0.2) if self.chance.random() < 0.4 else None
        seen = {**variables, **(delta or {})}
        notes = passing_notes(step, seen) if good else self.chance.choice([None, "", " ", "x"])
        artifacts = tuple(self._right(step) if good else self._wrong(step))
        for _ in range(len(self.inputs) + 1):
            command = Advance(attempt=attempt, notes=notes, artifacts=artifacts, context=delta)
            try:
                return _kept(self.session.advance(command))
            except PreconditionFailed as fault:
                key = (fault.details or {}).get("key")
                if not self.fed or key not in self.inputs:
                    return fault
                delta = {**(delta or {}), str(key): self.inputs[str(key)]}
        raise AssertionError("a loop asks for the same input again and again")

    def _right(self, step: Step) -> list[Json]:
        word = self.chance.choice(["continue", "stop"])
        return passing_artifacts(self.workflow, step, word, self.chance)

    def _wrong(self, step: Step) -> list[Json]:
        made = self.chance.sample(_JUNK, self.chance.randint(0, 3))
        if self.chance.random() < 0.5:
            made += [
                assessment(each, set(), self.chance)
                for each in self.workflow.assessments
                if each.id in step.assessment_refs
            ]
        return made

    def _context(self, share: float) -> dict[str, Json]:
        """Return values for some of the keys that conditions and loops look at."""
        made: dict[str, Json] = {}
        for key, values in self.keys.items():
            if self.chance.random() < share:
                made[key] = self.chance.choice([*values, *values, self.chance.choice(_ODD)])
        for key, value in self.inputs.items():
            if self.chance.random() < share:
                made[key] = self.chance.choice([value, value, value, self.chance.choice(_ODD)])
        return made

    def _view(self, opened: Opened) -> tuple[Place, JsonObject]:
        place = locate(self.workflow, opened.cursor)
        context = merged_context(opened.context, self.session.state.folds)
        return place, variables_at(place.loops, context)

    def _tell(self, opened: Opened) -> None:
        place, variables = self._view(opened)
        view = StepView(
            workflow=self.workflow,
            step=place.step,
            variables=variables,
            loops=place.loops,
            resumed=self.chance.random() < 0.1,
            last=is_last_step(self.workflow, opened.cursor.at),
        )
        told = render_step(view)
        assert told.title
        assert told.prompt


def _kept(outcome: Outcome) -> StepAdvanced | AdvanceBlocked:
    assert isinstance(outcome, StepAdvanced | AdvanceBlocked), "an advisory gate opened"
    return outcome


def _coded(fault: PreconditionFailed) -> str:
    assert fault.code is Code.PRECONDITION_FAILED
    assert str(fault)
    return fault.code.value


def _address(opened: Opened) -> tuple[int, ...]:
    """Return where a step stands, in the order of the work: index, pass, index, pass, index."""
    cursor = opened.cursor
    inner = [part for pair in zip(cursor.at, cursor.passes, strict=False) for part in pair]
    return (*inner, cursor.at[-1])


def _bound(items: tuple[Item, ...]) -> int:
    return sum(
        1 if isinstance(item, Step) else item.max_iterations * _bound(item.body) for item in items
    )


def _loop_inputs(items: tuple[Item, ...]) -> dict[str, Json]:
    """Return a right value for each context key that a loop counts or goes through."""
    found: dict[str, Json] = {}
    for item in items:
        if isinstance(item, Loop):
            match item.source:
                case ByCount(count=str(key)):
                    found[key] = 2
                case ByItems(key=key):
                    found[key] = [{"name": "one"}, {"name": "two"}]
                case _:
                    pass
            found |= _loop_inputs(item.body)
    return found


def _condition_keys(workflow: Workflow) -> dict[str, list[Json]]:
    """Return the context keys that conditions look at, each with the values they look for."""
    found: dict[str, list[Json]] = {}
    for leaf in _leaves(workflow.steps):
        values = leaf.value if leaf.operator == "in" else [leaf.value]
        found.setdefault(leaf.var, ["other", True]).extend(
            values if isinstance(values, list) else []
        )
    return found


def _leaves(part: object) -> Iterator[Compare]:
    """Yield every comparison of a compiled part, wherever conditions may stand."""
    if isinstance(part, Compare):
        yield part
    elif isinstance(part, tuple | list):
        for each in part:
            yield from _leaves(each)
    elif isinstance(part, Value):
        for name in type(part).__struct_fields__:
            yield from _leaves(getattr(part, name))

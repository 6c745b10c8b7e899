"""Recorded runs against the pure decider: every call, without a store, a clock or a file."""

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from headway.domain.blockers import wire_pointer
from headway.domain.commands import Advance, Start
from headway.domain.compiler.reading import Document
from headway.domain.conditions import holds
from headway.domain.context import merged_context
from headway.domain.cursor import locate
from headway.domain.errors import Fault
from headway.domain.events import AdvanceBlocked, GateOpened, Opened
from headway.domain.ids import AttemptId, next_attempt
from headway.domain.loops import variables_at
from headway.domain.state import Outcome
from tests.conformance.traces import HERE, SHARED, Trace, own_traces, require_shared, shared_traces
from tests.support.decided import Decided, compile_text, routines_in

routines = cache(routines_in)

CI = os.environ.get("CI") == "true"  # noqa: TID251  the promise of this test depends on it


@pytest.mark.parametrize("trace", own_traces(), ids=lambda trace: trace.name)
def test_a_hand_made_case_is_decided_as_recorded(trace: Trace) -> None:
    assert_agreed(trace, routines(HERE / "cases"))


@pytest.mark.parametrize("trace", shared_traces(), ids=lambda trace: trace.name)
def test_a_recorded_run_is_decided_as_recorded(trace: Trace) -> None:
    assert_agreed(trace, routines(SHARED / "workflows"))


def test_the_recorded_runs_are_there() -> None:
    require_shared(ci=CI)
    assert len(shared_traces()) == 115


def assert_agreed(trace: Trace, routines: Mapping[str, Document]) -> None:
    session = Decided(workflow=compile_text(trace.file.read_bytes(), routines))
    answers: list[AttemptId | None] = []  # the attempt each answer tells to go on with
    for number, call in enumerate(trace.calls):
        seen, following = answer(session, call["send"], answers)
        assert seen == call["expect"], f"{trace.name} call {number}"
        answers.append(following)


def answer(
    session: Decided, send: Mapping[str, Any], answers: list[AttemptId | None]
) -> tuple[dict[str, Any], AttemptId | None]:
    if "start" in send:
        session.start(Start(goal=send["start"]["goal"]))
        assert session.state.started is not None
        opened = session.state.started.opened
        return shown(session, opened), opened.attempt if opened else None
    attempt = answers[int(send["after"][1:])]
    if attempt is None:
        return {"error": "TOKEN_INVALID_FORMAT"}, None  # there is no token to ask with
    command = Advance(
        attempt=attempt,
        notes=send.get("notes"),
        artifacts=tuple(send.get("artifacts", ())),
        context=send.get("context"),
    )
    try:
        return told(session, session.advance(command))
    except Fault as fault:
        return {"error": fault.code.value}, attempt


def told(session: Decided, outcome: Outcome) -> tuple[dict[str, Any], AttemptId | None]:
    assert not isinstance(outcome, GateOpened)
    if isinstance(outcome, AdvanceBlocked):
        seen = shown(session, session.state.nodes[outcome.node].opened)
        seen["kind"] = "blocked"
        seen["blockers"] = sorted(
            [blocker.code, json.dumps(wire_pointer(blocker.pointer), sort_keys=True)]
            for blocker in outcome.blockers
        )
        return seen, next_attempt(outcome.attempt)
    return shown(session, outcome.opened), outcome.opened.attempt if outcome.opened else None


def shown(session: Decided, opened: Opened | None) -> dict[str, Any]:
    if opened is None:
        return {"kind": "complete", "stepId": None}
    place = locate(session.workflow, opened.cursor)
    context = merged_context(opened.context, session.state.folds)
    asked = place.step.confirmation
    confirm = asked is not None and holds(asked.when, variables_at(place.loops, context))
    return {"kind": "ok", "stepId": place.step.id} | ({"confirm": True} if confirm else {})

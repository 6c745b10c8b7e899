"""Preferences (D13), gaps, loop limits and the circuit breaker (D6, points 15 and 16)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.application.change_preferences import change_preferences
from headway.application.requests import ChangePreferences, Preferences, Reply
from headway.domain.commands import Start
from headway.domain.errors import Code, PreconditionFailed
from headway.domain.events import PreferencesChanged, SessionStarted
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Step
from headway.ports.sessions import SessionQuery, SessionSummary
from tests.support.building import Conversation, workflow
from tests.support.front_door import FrontDoor, open_front_door

BOLD = {"autonomy": "full_auto_never_stop", "riskPolicy": "conservative"}
CAREFUL = {"autonomy": "guided", "riskPolicy": "conservative"}
NEVER_STOP = Preferences(autonomy="full_auto_never_stop")


def advised(**fields: Json) -> JsonObject:
    says_ok: JsonObject = {"type": "contains", "value": "ok", "message": "Say ok."}
    return {
        "id": "strict",
        "name": "Strict",
        "description": "Notes that must say ok.",
        "version": "1.0.0",
        "steps": [
            {"id": "one", "title": "One", "prompt": "Do.", "validationCriteria": [says_ok]},
            {"id": "two", "title": "Two", "prompt": "Do."},
        ],
        **fields,
    }


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        opened.write("strict.json", advised())
        yield opened


def summary(door: FrontDoor) -> SessionSummary:
    (found,) = door.engine.sessions.find(SessionQuery()).rows
    return found


def changed(door: FrontDoor, **fields: str) -> Reply:
    request = ChangePreferences(**{"session": summary(door).session, **fields})  # type: ignore[arg-type]  # tests name fields
    return change_preferences(door.engine, request)


def bold(door: FrontDoor, **fields: str) -> Reply:
    return changed(door, autonomy="full_auto_never_stop", **fields)


def test_a_recommendation_is_shown_and_never_adopted(door: FrontDoor) -> None:
    wanted: JsonObject = {
        "recommendedAutonomy": "full_auto_never_stop",
        "recommendedRiskPolicy": "aggressive",
    }
    door.write("strict.json", advised(recommendedPreferences=wanted))
    begun = door.start("strict")
    assert begun["preferences"] == CAREFUL
    assert "full_auto_never_stop" in str(begun["briefing"])
    assert door.advance(begun["continueToken"], "no")["kind"] == "blocked"


def test_a_start_records_who_chose_the_preferences(door: FrontDoor) -> None:
    door.start("strict")
    door.start("strict", preferences=NEVER_STOP)  # type: ignore[arg-type]  # a value
    starts = [r.event for r in door.events() if isinstance(r.event, SessionStarted)]
    assert sorted(event.preferences_source for event in starts) == ["caller", "default"]


def test_preferences_bolder_than_advised_leave_a_gap_whoever_chose_them(door: FrontDoor) -> None:
    door.write("strict.json", advised(recommendedPreferences={"recommendedAutonomy": "guided"}))
    door.start("strict")
    told = bold(door)
    assert "goes further than the recommended guided" in str(told["warnings"])
    kinds = [type(record.event).__name__ for record in door.events()]
    assert kinds == ["SessionStarted", "PreferencesChanged", "GapRecorded"]


def test_never_stop_records_gaps_and_the_session_ends_with_them(door: FrontDoor) -> None:
    begun = door.start("strict", preferences=NEVER_STOP)  # type: ignore[arg-type]  # a value
    passed = door.advance(begun["continueToken"], "no")
    assert passed["kind"] == "ok"
    assert "critical" in str(passed["warnings"])
    assert door.advance(passed["continueToken"])["isComplete"] is True
    assert summary(door).status == "complete_with_gaps"


def test_every_attempt_on_a_step_sees_a_change_and_so_do_the_steps_after_it(
    door: FrontDoor,
) -> None:
    first = door.start("strict")["continueToken"]
    blocked = door.advance(first, "no")
    minted = [door.rehydrate(first)["continueToken"] for _ in range(2)]
    told = bold(door)
    assert (told["changed"], told["preferences"], told["before"]) == (True, BOLD, CAREFUL)
    late = door.rehydrate(first)["continueToken"]
    for token in (blocked["retryContinueToken"], *minted, late):
        assert door.rehydrate(token)["preferences"] == BOLD
        passed = door.advance(token, "no")
        assert (passed["kind"], passed["preferences"]) == ("ok", BOLD)


def test_a_recorded_outcome_keeps_its_bytes_when_preferences_change(door: FrontDoor) -> None:
    first = door.start("strict")["continueToken"]
    blocked = door.advance(first, "no")
    assert blocked["preferences"] == CAREFUL
    bold(door)
    assert door.advance(first, "ok") == blocked
    passed = door.advance(blocked["retryContinueToken"], "ok")
    changed(door, autonomy="guided")
    assert door.advance(blocked["retryContinueToken"]) == passed
    assert passed["preferences"] == BOLD
    last = door.advance(passed["continueToken"])
    assert (last["isComplete"], last["preferences"]) == (True, CAREFUL)
    assert door.advance(passed["continueToken"]) == last


def test_a_branch_keeps_its_preferences_when_those_of_another_change(door: FrontDoor) -> None:
    first = door.start("strict")["continueToken"]
    fork = door.rehydrate(first)["continueToken"]
    here = door.advance(first, "ok")
    there = door.advance(fork, "ok")
    change_preferences(
        door.engine,
        ChangePreferences(token=str(here["continueToken"]), risk_policy="aggressive"),
    )
    assert door.rehydrate(there["continueToken"])["preferences"] == CAREFUL
    assert door.rehydrate(here["continueToken"])["preferences"] == {
        "autonomy": "guided",
        "riskPolicy": "aggressive",
    }


def test_what_is_in_force_already_is_not_recorded_again(door: FrontDoor) -> None:
    door.start("strict")
    bold(door)
    before = door.events()
    assert bold(door)["changed"] is False
    assert changed(door)["preferences"] == BOLD
    assert door.events() == before
    (event,) = (r.event for r in before if isinstance(r.event, PreferencesChanged))
    assert event.source == "operator"


def test_the_preferences_of_a_step_that_was_left_stay(door: FrontDoor) -> None:
    first = door.start("strict")["continueToken"]
    second = door.advance(first, "ok")["continueToken"]
    request = ChangePreferences(token=str(first), autonomy="full_auto_never_stop")
    with door.refused(Code.PRECONDITION_FAILED, "step_left"):
        change_preferences(door.engine, request)
    door.advance(second)
    with door.refused(Code.PRECONDITION_FAILED, "step_left"):
        bold(door)
    with door.refused(Code.VALIDATION_ERROR, "session_missing"):
        change_preferences(door.engine, ChangePreferences(autonomy="guided"))
    with door.refused(Code.NOT_FOUND):
        change_preferences(door.engine, ChangePreferences(session="sess_none"))
    with door.refused(Code.TOKEN_INVALID_FORMAT):
        change_preferences(door.engine, ChangePreferences(token="ct_no"))


def test_ten_blocks_in_a_row_end_a_chain_and_a_rehydrate_is_the_way_out(door: FrontDoor) -> None:
    token = door.start("strict")["continueToken"]
    for _ in range(10):
        token = door.advance(token, "no")["retryContinueToken"]
    with door.refused(Code.PRECONDITION_FAILED, "circuit_breaker") as fault:
        door.advance(token, "ok")
    assert "rehydrate" in fault.remedy
    fresh = door.rehydrate(token)["continueToken"]
    assert door.advance(fresh, "ok")["kind"] == "ok"


def test_three_blocks_in_a_row_end_a_chain_of_a_run() -> None:
    told = Conversation(workflow(Step(id="a", title="A")), Start(goal="Try it", autonomous=True))
    for _ in range(3):
        told.send(told.tip(), notes=None)
    with pytest.raises(PreconditionFailed) as fault:
        told.send(told.tip())
    assert fault.value.details == {"kind": "circuit_breaker", "blocks": 3, "max": 3}
    opened = told.opened()
    assert opened is not None
    assert told.send(told.rehydrate(opened.node)).step == "a"


@pytest.mark.parametrize(("more", "warned"), [(True, True), (False, False)])
def test_a_loop_limit_warns_only_when_the_loop_would_have_gone_on(
    door: FrontDoor, *, more: bool, warned: bool
) -> None:
    again: JsonObject = {
        "type": "while",
        "condition": {"var": "more", "equals": True},
        "maxIterations": 2,
    }
    loop: JsonObject = {
        "id": "again",
        "type": "loop",
        "title": "Again",
        "loop": again,
        "body": [{"id": "try", "title": "Try", "prompt": "Do."}],
    }
    after: JsonObject = {"id": "after", "title": "After", "prompt": "Do."}
    door.write("strict.json", advised(steps=[loop, after]))
    reply = door.start("strict", context={"more": True})
    reply = door.advance(reply["continueToken"])
    reply = door.advance(reply["continueToken"], context={"more": more})
    pending = reply["pending"]
    assert isinstance(pending, dict)
    assert pending["stepId"] == "after"
    assert ("LOOP_LIMIT_REACHED" in str(reply.get("warnings"))) is warned

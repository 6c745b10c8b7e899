"""Enforced gates (D11): the session waits for a person, and goes on as the person says.

The decider comes in through the verbs, as the command line does; the agent through its token alone.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headway.application.change_preferences import change_preferences
from headway.application.decide_gate import RATIONALE_BYTES_MAX, decide_gate
from headway.application.list_gates import list_gates
from headway.application.requests import (
    ChangePreferences,
    DecideGate,
    Preferences,
    Reply,
    ShowGate,
    StartWorkflow,
)
from headway.application.show_gate import show_gate
from headway.domain.errors import Code, PreconditionFailed
from headway.domain.events import GateDecided, StepAdvanced
from headway.domain.values import Json, JsonObject
from headway.mcp.tools import tool_list
from headway.ports.sessions import SessionQuery
from tests.support.front_door import FrontDoor, open_front_door

ANY = SessionQuery()
NEVER_STOP = Preferences(autonomy="full_auto_never_stop")


def gated(kind: Json, **step: Json) -> JsonObject:
    return {
        "id": "gated",
        "name": "Gated",
        "description": "A step that a person approves, and one after it.",
        "version": "1.0.0",
        "steps": [
            {
                "id": "plan",
                "title": "Plan",
                "prompt": "Plan it.",
                "requireConfirmation": kind,
                **step,
            },
            {"id": "build", "title": "Build", "prompt": "Build it."},
        ],
    }


HUMAN: JsonObject = {"kind": "human_approval"}
JUDGED: JsonObject = {"kind": "coordinator_eval"}


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path, HEADWAY_GATES="enforce") as opened:
        opened.write("gated.json", gated(HUMAN))
        yield opened


def waiting(door: FrontDoor) -> list[Reply]:
    gates = list_gates(door.engine, 50)["gates"]
    assert isinstance(gates, list)
    return [dict(gate) for gate in gates if isinstance(gate, dict)]


def answered(door: FrontDoor, gate: Json, *, approve: bool, because: str = "") -> Reply:
    shown = show_gate(door.engine, ShowGate(gate=str(gate)))
    request = DecideGate(
        gate=str(gate),
        approve=approve,
        decided_by="ann",
        shown=str(shown["shown"]),
        rationale=because,
    )
    return decide_gate(door.engine, request)


def asked(door: FrontDoor, token: Json = None) -> tuple[Json, Reply]:
    """Hand in the step that is gated; return its token and the reply."""
    token = token or door.start("gated")["continueToken"]
    reply = door.advance(token, "The plan.", ({"kind": "plan", "n": 1},), {"size": "large"})
    assert reply["kind"] == "gate_checkpoint"
    return token, reply


def step_of(reply: Reply) -> str:
    pending = reply["pending"]
    assert isinstance(pending, dict)
    return str(pending["stepId"])


def test_by_default_a_confirmation_advises_and_nothing_waits(tmp_path: Path) -> None:
    with open_front_door(tmp_path) as door:
        door.write("gated.json", gated(HUMAN))
        begun = door.start("gated")
        assert begun["nextIntent"] == "await_user_confirmation"
        assert step_of(door.advance(begun["continueToken"])) == "build"
        assert waiting(door) == []


def test_the_answer_is_the_same_until_somebody_decides(door: FrontDoor) -> None:
    token, reply = asked(door)
    assert reply["showCommand"] == f"headway gates show {reply['gateId']}"
    assert door.advance(token, "Another plan.") == reply
    assert [gate["gateId"] for gate in waiting(door)] == [reply["gateId"]]


def test_a_decider_is_shown_all_that_is_to_be_judged(door: FrontDoor) -> None:
    long = "A long plan. " * 10_000
    token = door.start("gated")["continueToken"]
    reply = door.advance(token, long, ({"text": long},), {"size": "large"})
    shown = show_gate(door.engine, ShowGate(gate=str(reply["gateId"])))
    assert (shown["title"], shown["stepId"], shown["status"]) == ("Plan", "plan", "open")
    assert "Plan it." in str(shown["prompt"])
    assert shown["notes"] == long
    assert shown["artifacts"] == [{"text": long}]
    assert shown["context"] == {"size": "large"}
    assert shown["shown"] == reply["shown"]


def test_once_approved_the_same_token_answers_with_the_next_step(door: FrontDoor) -> None:
    token, reply = asked(door)
    told = answered(door, reply["gateId"], approve=True, because="Sound.")
    assert (told["verdict"], told["nextStep"]) == ("approved", "Build")
    after = door.advance(token)
    assert (after["kind"], step_of(after)) == ("ok", "build")
    assert door.advance(token) == after
    assert waiting(door) == []
    assert door.advance(after["continueToken"])["isComplete"] is True
    context = door.rehydrate(token)
    assert "The plan." in str(context)


def test_once_rejected_the_same_token_answers_with_the_reason_and_it_is_asked_again(
    door: FrontDoor,
) -> None:
    token, reply = asked(door)
    answered(door, reply["gateId"], approve=False, because="Too large.")
    blocked = door.advance(token)
    assert blocked["kind"] == "blocked"
    assert "GATE_REJECTED" in str(blocked["blockers"])
    assert "Too large." in str(blocked["blockers"])
    assert waiting(door) == []
    _, again = asked(door, blocked["retryContinueToken"])
    assert again["gateId"] != reply["gateId"]
    answered(door, again["gateId"], approve=True)
    assert step_of(door.advance(blocked["retryContinueToken"])) == "build"
    assert door.advance(token) == blocked


def warned(reply: Reply) -> list[JsonObject]:
    told = reply.get("warnings", [])
    assert isinstance(told, list)
    return [each for each in told if isinstance(each, dict)]


def rejected(door: FrontDoor, because: str, token: Json = None) -> Json:
    """Have the gated step rejected; return the token to hand it in with again."""
    token, reply = asked(door, token)
    answered(door, reply["gateId"], approve=False, because=because)
    return door.advance(token)["retryContinueToken"]


def test_whoever_takes_up_a_rejected_step_is_told_all_that_was_said_and_by_whom(
    door: FrontDoor,
) -> None:
    why = "Too large: " + "split it, and say where. " * 100
    retry = rejected(door, why)
    (warning,) = warned(door.rehydrate(retry))
    assert (warning["kind"], warning["decidedBy"]) == ("GATE_REJECTED", "ann")
    assert warning["rationale"] == why.strip()
    assert f"ann did not approve what was handed in on this step: {why.strip()}" in str(
        warning["message"]
    )
    assert "token" not in str(warning["message"])
    shown = show_gate(door.engine, ShowGate(gate=str(warning["gateId"])))
    assert shown["status"] == "rejected"


def test_a_rejection_is_told_however_the_step_is_reached(door: FrontDoor) -> None:
    first = door.start("gated")["continueToken"]
    retry = rejected(door, "Too large.", first)
    fresh = door.rehydrate(retry)["continueToken"]
    found = [warned(door.rehydrate(token)) for token in (first, retry, fresh, retry)]
    assert [[each["kind"] for each in told] for told in found] == [["GATE_REJECTED"]] * 4
    assert all(told == found[0] for told in found)


def test_a_later_refusal_is_told_beside_the_rejection_which_it_does_not_answer(
    door: FrontDoor,
) -> None:
    retry = rejected(door, "Too large.")
    empty = door.advance(retry, notes=None)
    assert empty["kind"] == "blocked"
    rejection, refusal = warned(door.rehydrate(empty["retryContinueToken"]))
    assert "Too large." in str(rejection["message"])
    assert refusal["kind"] == "STEP_REFUSED"
    assert "This step needs notes, and none were handed in." in str(refusal["message"])
    assert "token" not in str(refusal["message"])
    last = rejected(door, "Still too large.", empty["retryContinueToken"])
    (newest,) = warned(door.rehydrate(last))
    assert newest["rationale"] == "Still too large."


def test_a_rejection_is_told_no_more_once_it_was_answered(door: FrontDoor) -> None:
    retry = rejected(door, "Too large.")
    _, again = asked(door, retry)
    assert [each["kind"] for each in warned(door.rehydrate(retry))] == ["GATE_OPEN"]
    answered(door, again["gateId"], approve=True)
    build = door.advance(retry)["continueToken"]
    assert warned(door.rehydrate(retry)) == []
    assert warned(door.rehydrate(build)) == []


def test_a_rejection_without_a_reason_names_who_rejected(door: FrontDoor) -> None:
    (warning,) = warned(door.rehydrate(rejected(door, "")))
    assert str(warning["message"]).startswith(
        "ann did not approve what was handed in on this step.\n"
    )


def test_an_answer_to_something_else_than_was_shown_changes_nothing(door: FrontDoor) -> None:
    _, reply = asked(door)
    other = "sha256:" + "0" * 64
    with door.refused(Code.PRECONDITION_FAILED, "gate_shown_differs") as fault:
        request = DecideGate(gate=str(reply["gateId"]), approve=True, decided_by="ann", shown=other)
        decide_gate(door.engine, request)
    assert str(reply["shown"]) not in str(fault.details)
    assert len(waiting(door)) == 1


@pytest.mark.parametrize(
    ("by", "because", "kind"),
    [("  ", "", "decided_by"), ("a" * 300, "", "decided_by"), ("ann", "é" * 5_000, "rationale")],
)
def test_who_decides_and_why_have_bounds(door: FrontDoor, by: str, because: str, kind: str) -> None:
    assert len(because.encode()) == 0 or len(because.encode()) > RATIONALE_BYTES_MAX
    _, reply = asked(door)
    request = DecideGate(
        gate=str(reply["gateId"]),
        approve=True,
        decided_by=by,
        shown=str(reply["shown"]),
        rationale=because,
    )
    with door.refused(Code.VALIDATION_ERROR, kind):
        decide_gate(door.engine, request)


@pytest.mark.parametrize("name", ["gate_", "gate_zzz", "gate_" + "a" * 20, "nonsense", "\0", ""])
def test_a_gate_nobody_opened_is_not_found(door: FrontDoor, name: str) -> None:
    with door.refused(Code.NOT_FOUND):
        show_gate(door.engine, ShowGate(gate=name))


def test_a_gate_is_named_by_a_beginning_that_no_other_has(door: FrontDoor) -> None:
    _, reply = asked(door)
    name = str(reply["gateId"])
    for short in (name[:12], name.removeprefix("gate_")[:8]):
        assert show_gate(door.engine, ShowGate(gate=short))["gateId"] == name
    asked(door)
    with door.refused(Code.VALIDATION_ERROR):
        show_gate(door.engine, ShowGate(gate="gate_"))


def test_of_many_deciders_one_wins_and_the_others_are_told_who_and_how(door: FrontDoor) -> None:
    token, reply = asked(door)
    name, shown = str(reply["gateId"]), str(reply["shown"])

    def decide(number: int) -> str:
        request = DecideGate(
            gate=name, approve=number % 2 == 0, decided_by=f"person {number}", shown=shown
        )
        try:
            return f"{decide_gate(door.engine, request)['verdict']} {request.decided_by}"
        except PreconditionFailed as fault:
            told = fault.details
            return f"lost to {told['verdict']} {told['decidedBy']} ({told['kind']})"

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(decide, range(8)))
    (winner,) = (each for each in told if not each.startswith("lost"))
    assert told.count(f"lost to {winner} (gate_decided)") == 7
    events = [record.event for record in door.events()]
    assert sum(isinstance(event, GateDecided) for event in events) == 1
    assert door.advance(token)["kind"] == ("ok" if winner.startswith("approved") else "blocked")
    decision = show_gate(door.engine, ShowGate(gate=name))["decision"]
    assert isinstance(decision, dict)
    assert f"{decision['verdict']} {decision['decidedBy']}" == winner


def test_a_gate_on_a_branch_that_is_not_the_tip_is_found_and_answered(door: FrontDoor) -> None:
    token, first = asked(door)
    forked, second = asked(door, door.rehydrate(token)["continueToken"])
    assert {gate["gateId"] for gate in waiting(door)} == {first["gateId"], second["gateId"]}
    answered(door, second["gateId"], approve=True)
    assert [gate["gateId"] for gate in waiting(door)] == [first["gateId"]]
    answered(door, first["gateId"], approve=True)
    assert waiting(door) == []
    for each in (token, forked):
        assert step_of(door.advance(each)) == "build"


def test_a_gate_stays_open_over_a_restart(tmp_path: Path) -> None:
    with open_front_door(tmp_path, HEADWAY_GATES="enforce") as door:
        door.write("gated.json", gated(HUMAN))
        token, reply = asked(door)
    with open_front_door(tmp_path) as door:  # the session keeps the mode it was started with
        assert door.advance(token) == reply
        answered(door, reply["gateId"], approve=True)
    with open_front_door(tmp_path) as door:
        assert step_of(door.advance(token)) == "build"


@pytest.mark.parametrize("kind", [JUDGED, True])
def test_what_a_model_is_to_judge_waits_for_a_person_where_there_is_none(
    door: FrontDoor, kind: Json
) -> None:
    door.write("gated.json", gated(kind))
    _, reply = asked(door)
    assert reply["gateKind"] == "coordinator_eval"
    assert len(waiting(door)) == 1


def test_a_run_that_never_stops_records_a_gap_for_a_judge_and_waits_for_a_person(
    door: FrontDoor,
) -> None:
    door.write("gated.json", gated(JUDGED))
    begun = door.start("gated", preferences=NEVER_STOP)  # type: ignore[arg-type]  # a value
    passed = door.advance(begun["continueToken"])
    assert step_of(passed) == "build"
    assert "GATE_NOT_JUDGED" in str(passed["warnings"])
    door.advance(passed["continueToken"])
    (summary,) = door.engine.sessions.find(ANY).rows
    assert summary.status == "complete_with_gaps"
    door.write("gated.json", gated(HUMAN))
    begun = door.start("gated", preferences=NEVER_STOP)  # type: ignore[arg-type]  # a value
    assert door.advance(begun["continueToken"])["kind"] == "gate_checkpoint"


def test_a_gate_with_a_condition_waits_only_when_it_holds(door: FrontDoor) -> None:
    when: JsonObject = {"kind": "human_approval", "condition": {"var": "risky", "equals": True}}
    door.write("gated.json", gated(when))
    token = door.start("gated")["continueToken"]
    assert step_of(door.advance(token, context={"risky": False})) == "build"
    token = door.start("gated")["continueToken"]
    assert door.advance(token, context={"risky": True})["kind"] == "gate_checkpoint"


def test_no_tool_of_an_agent_answers_a_gate_and_no_context_makes_it_a_run(door: FrontDoor) -> None:
    names = [tool.name for tool in tool_list()]
    assert len(names) == 7
    assert not [name for name in names if "gate" in name]
    token = door.start("gated")["continueToken"]
    with door.refused(Code.VALIDATION_ERROR):
        door.advance(token, context={"is_autonomous": True})
    with door.refused(Code.VALIDATION_ERROR):
        request = StartWorkflow(
            workflow_id="gated",
            workspace_path=str(door.workspace),
            goal="Try it",
            context={"is_autonomous": True},
        )
        door.verbs.start_workflow(request)


def test_preferences_changed_while_a_gate_waits_count_from_its_decision_on(
    door: FrontDoor,
) -> None:
    token, reply = asked(door)
    session = str(waiting(door)[0]["sessionId"])
    change_preferences(
        door.engine, ChangePreferences(session=session, autonomy="full_auto_never_stop")
    )
    assert door.advance(token) == reply
    answered(door, reply["gateId"], approve=True)
    after = door.advance(token)
    assert after["preferences"] == {
        "autonomy": "full_auto_never_stop",
        "riskPolicy": "conservative",
    }
    advanced = [r.event for r in door.events() if isinstance(r.event, StepAdvanced)]
    assert advanced[0].gate is not None

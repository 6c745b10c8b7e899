"""What bad input gets: a coded answer that says what to do next, and a session that goes on.

Through the verbs, on a real store. Every refusal is checked to have written nothing.
"""

import base64
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest

from headway.application.requests import CheckpointWorkflow, ListWorkflows, ResumeSession
from headway.domain.errors import Code
from headway.domain.events import AdvanceBlocked, StepAdvanced
from headway.domain.values import Json, JsonObject
from tests.support.front_door import PLAIN, FrontDoor, open_front_door, text_of


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


def deep(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = [value]
    return value


# Workflows and workspaces.


def test_an_unknown_workflow_is_not_found_and_the_nearest_is_named(door: FrontDoor) -> None:
    with door.refused(Code.NOT_FOUND) as fault:
        door.start("three-stepz")
    assert "three-steps" in text_of(fault)
    assert fault.details["didYouMean"] == ["three-steps"]
    assert door.start()["isComplete"] is False


@pytest.mark.parametrize("path", ["/no/such/folder", "relative/folder", "", "/srv/\0"])
def test_a_workspace_that_does_not_exist_is_refused(door: FrontDoor, path: str) -> None:
    with door.refused(Code.VALIDATION_ERROR):
        door.start(workspace_path=path)
    with door.refused(Code.VALIDATION_ERROR):
        door.verbs.list_workflows(ListWorkflows(workspace_path=path))


def test_a_goal_of_half_a_character_is_refused(door: FrontDoor) -> None:
    with door.refused(Code.VALIDATION_ERROR, "lone_surrogate"):
        door.start(goal="half \ud800")


# Tokens.


def test_a_token_of_another_kind_is_a_scope_mismatch(door: FrontDoor) -> None:
    begun = door.start()
    resumed = door.verbs.checkpoint_workflow(
        CheckpointWorkflow(checkpoint_token=str(begun["checkpointToken"]))
    )
    for token in (begun["checkpointToken"], resumed["resumeToken"]):
        with door.refused(Code.TOKEN_SCOPE_MISMATCH):
            door.advance(token)
    with door.refused(Code.TOKEN_SCOPE_MISMATCH):
        door.rehydrate(begun["checkpointToken"])
    with door.refused(Code.TOKEN_SCOPE_MISMATCH):
        door.verbs.checkpoint_workflow(
            CheckpointWorkflow(checkpoint_token=str(begun["continueToken"]))
        )
    assert door.advance(begun["continueToken"])["kind"] == "ok"


def test_a_tampered_token_is_refused_wherever_it_was_changed(door: FrontDoor) -> None:
    token = str(door.start()["continueToken"])
    for at in range(3, len(token)):
        changed = token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]
        with door.refused(Code.TOKEN_BAD_SIGNATURE):
            door.advance(changed)
    with door.refused(Code.TOKEN_BAD_SIGNATURE):
        door.advance("st" + token[2:])
    assert door.advance(token)["kind"] == "ok"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: token[:-1],
        lambda token: token + "A",
        lambda token: token.upper(),
        lambda token: " " + token,
        lambda token: token[:-1] + "!",
        lambda token: token[:-1] + "\ud800",
        lambda token: "xx" + token[2:],
        lambda _: "",
        lambda _: "ct_" + "é" * 24,
    ],
)
def test_a_truncated_or_garbled_token_is_no_token(door: FrontDoor, spoil: object) -> None:
    assert callable(spoil)
    token = str(door.start()["continueToken"])
    with door.refused(Code.TOKEN_INVALID_FORMAT):
        door.advance(spoil(token))
    assert door.advance(token)["kind"] == "ok"


def test_a_token_of_another_server_has_a_bad_signature(door: FrontDoor, tmp_path: Path) -> None:
    own = str(door.start()["continueToken"])
    (tmp_path / "elsewhere").mkdir()
    with open_front_door(tmp_path / "elsewhere") as other:
        foreign = other.start()["continueToken"]
    with door.refused(Code.TOKEN_BAD_SIGNATURE):
        door.advance(foreign)
    with door.refused(Code.TOKEN_BAD_SIGNATURE):
        door.advance("ct_" + base64.urlsafe_b64encode(bytes(18)).decode())
    assert door.advance(own)["kind"] == "ok"


# Context.

TOO_MUCH: dict[str, tuple[JsonObject, str]] = {
    "large": ({"k": "x" * 262_144}, "context_budget_exceeded"),
    "large in bytes": ({"k": "漢" * 90_000}, "context_budget_exceeded"),
    "deep": ({"k": deep(64)}, "context_too_deep"),
    "very deep": ({"k": deep(100_000)}, "context_too_deep"),
    "reserved": ({"is_autonomous": "true"}, "reserved_key"),
    "engine's own": ({"eat_token": "x"}, "reserved_key"),
    "forbidden": ({"__proto__": {}}, "forbidden_key"),
    "surrogate": ({"k": "\udc00"}, "lone_surrogate"),
    "surrogate key": ({"\udc00": 1}, "lone_surrogate"),
    "not a number": ({"k": float("nan")}, "non_finite_number"),
    "too precise": ({"k": 2**53}, "unsafe_integer"),
    "bad outcome": ({"metrics_outcome": "great"}, "invalid_metrics_outcome"),
}


@pytest.mark.parametrize(("context", "kind"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_context_that_cannot_be_kept_is_refused_and_the_token_still_works(
    door: FrontDoor, context: JsonObject, kind: str
) -> None:
    token = door.start()["continueToken"]
    with door.refused(Code.VALIDATION_ERROR, kind):
        door.advance(token, context=context)
    with door.refused(Code.VALIDATION_ERROR, kind):
        door.start(context=context)
    assert door.advance(token, context={"k": deep(62)})["kind"] == "ok"


def test_small_changes_may_not_add_up_beyond_the_limit(door: FrontDoor) -> None:
    steps = [{"id": f"s{n}", "title": "S", "prompt": "Do."} for n in range(6)]
    door.write("six.json", {**PLAIN, "id": "six", "steps": steps})
    token: Json = door.start("six")["continueToken"]
    for number in range(4):
        token = door.advance(token, context={f"k{number}": "x" * 60_000})["continueToken"]
    with door.refused(Code.VALIDATION_ERROR, "context_budget_exceeded"):
        door.advance(token, context={"k4": "x" * 60_000})
    assert door.advance(token, context={"k4": "x" * 60_000, "k0": None})["kind"] == "ok"


# Artifacts and notes.


@pytest.mark.parametrize(
    ("artifacts", "kind"),
    [
        ((["x" * (16 << 20)],), "artifact_budget_exceeded"),
        ((deep(65),), "too_deep"),
        (({"k": "\ud83d"},), "lone_surrogate"),
        (tuple(range(257)), "too_many_artifacts"),
    ],
    ids=["large", "deep", "surrogate", "many"],
)
def test_artifacts_that_cannot_be_kept_are_refused(
    door: FrontDoor, artifacts: tuple[Json, ...], kind: str
) -> None:
    token = door.start()["continueToken"]
    with door.refused(Code.VALIDATION_ERROR, kind):
        door.advance(token, artifacts=artifacts)
    assert door.advance(token, artifacts=({"k": "x" * 100_000}, None, 1.5))["kind"] == "ok"


SCRIPTS = {
    "one byte": "x",
    "cjk": "漢字かな交じり文" * 2_000,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈😀" * 500,
    "right to left": "مرحبا بالعالم \u202e\u05e9\u05dc\u05d5\u05dd\u202c" * 500,
    "combining": "e\u0301\u0323" * 10_000,
    "nul and controls": "a\0b\x01\x1f\x7f\u2028\ufeff\r\n",
    "five megabytes": "0123456789 é漢😀\n" * 250_000,
}


@pytest.mark.parametrize("notes", SCRIPTS.values(), ids=SCRIPTS)
def test_notes_of_any_size_and_script_are_kept_whole(door: FrontDoor, notes: str) -> None:
    begun = door.start()
    then = door.advance(begun["continueToken"], notes)
    assert then["kind"] == "ok"
    advanced = door.events()[-1].event
    assert isinstance(advanced, StepAdvanced)
    kept = advanced.output.notes
    assert kept is not None
    assert kept.size == len(notes.encode())
    text = door.engine.ledger.blob(kept.digest).decode() if kept.blob else kept.inline
    assert text == notes
    assert door.rehydrate(begun["continueToken"])["kind"] == "ok"
    assert door.rehydrate(then["continueToken"])["kind"] == "ok"
    found = door.verbs.resume_session(ResumeSession(workspace_path=str(door.workspace)))
    assert found["totalEligible"] == 1


def test_notes_of_half_a_character_are_refused(door: FrontDoor) -> None:
    token = door.start()["continueToken"]
    with door.refused(Code.VALIDATION_ERROR, "lone_surrogate"):
        door.advance(token, "half \ud800 a character")
    assert door.advance(token, "whole")["kind"] == "ok"


def test_notes_beyond_every_limit_are_refused(door: FrontDoor) -> None:
    token = door.start()["continueToken"]
    with door.refused(Code.VALIDATION_ERROR, "notes_budget_exceeded"):
        door.advance(token, "x" * ((16 << 20) + 1))
    assert door.advance(token)["kind"] == "ok"


def test_notes_that_are_refused_by_a_rule_are_kept_and_told_from_the_record(
    door: FrontDoor,
) -> None:
    begun = door.start()
    blocked = door.advance(begun["continueToken"], " " * 100_000)
    assert blocked["kind"] == "blocked"
    event = door.events()[-1].event
    assert isinstance(event, AdvanceBlocked)
    assert event.output.notes is not None
    assert event.output.notes.size == 100_000
    assert door.advance(begun["continueToken"], "fine") == blocked
    assert door.advance(blocked["retryContinueToken"], "fine")["kind"] == "ok"


def test_a_catastrophic_pattern_against_a_megabyte_takes_linear_time(door: FrontDoor) -> None:
    step: JsonObject = {
        "id": "s1",
        "title": "S",
        "prompt": "Do.",
        "validationCriteria": [{"type": "regex", "pattern": "(a+)+$", "message": "only a"}],
    }
    door.write("regex.json", {**PLAIN, "id": "regex", "steps": [step]})
    token = door.start("regex")["continueToken"]
    began = process_time()
    blocked = door.advance(token, "a" * 1_000_000 + "!")
    assert process_time() - began < 1
    assert blocked["kind"] == "blocked"
    assert door.advance(blocked["continueToken"], "aaa")["isComplete"] is True


def test_a_session_none_of_whose_steps_apply_is_complete_and_offers_nothing(
    door: FrontDoor,
) -> None:
    step: JsonObject = {
        "id": "s1",
        "title": "S",
        "prompt": "Do.",
        "runCondition": {"var": "never", "equals": True},
    }
    door.write("none.json", {**PLAIN, "id": "none", "steps": [step]})
    assert door.start("none")["isComplete"] is True
    found = door.verbs.resume_session(ResumeSession(workspace_path=str(door.workspace)))
    assert found["totalEligible"] == 0


def test_a_checkpoint_at_a_step_left_long_ago_changes_nothing_of_where_the_session_stands(
    door: FrontDoor,
) -> None:
    begun = door.start()
    then = door.advance(begun["continueToken"])
    door.verbs.checkpoint_workflow(
        CheckpointWorkflow(checkpoint_token=str(begun["checkpointToken"]))
    )
    found = door.verbs.resume_session(ResumeSession(workspace_path=str(door.workspace)))
    assert isinstance(found["candidates"], list)
    candidate = found["candidates"][0]
    assert isinstance(candidate, dict)
    assert (candidate["status"], candidate["pendingStepId"]) == ("in_progress", "s2")
    assert door.advance(then["continueToken"])["kind"] == "ok"

"""Cheats with evidence: what a step demands is there, or the step stays open."""

import pytest

from headway.application.record_checks import record_checks
from headway.application.requests import CheckRun, RecordChecks
from headway.domain.errors import Code
from headway.domain.values import Json, JsonObject
from tests.support.cheating import Cheat, step_of

REPORT: JsonObject = {
    "kind": "report",
    "cause": "The remainder was dropped.",
    "files": ["billing/split.py"],
}
REPORTED: JsonObject = {
    "id": "report",
    "title": "Report",
    "prompt": "Report it.",
    "outputContract": {"contractRef": "report"},
}
CONTRACT: JsonObject = {
    "id": "report",
    "kind": "report",
    "guidance": "Say the cause and the files.",
    "schema": {
        "type": "object",
        "required": ["kind", "cause", "files"],
        "additionalProperties": False,
        "properties": {
            "kind": {"const": "report"},
            "cause": {"type": "string", "minLength": 10},
            "files": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        },
    },
}
LAST: JsonObject = {"id": "last", "title": "Last", "prompt": "End it."}
CHECKED: JsonObject = {
    "id": "fix",
    "title": "Fix",
    "prompt": "Fix it.",
    "checks": [{"id": "unit", "run": "make test"}],
}
INVISIBLE = ["", " \n\t ", "\u200b\u200d\u2060\ufeff", "\u3164\u2800\u00ad", "\u202e\u2066\u2069"]


def reporting(cheat: Cheat) -> Json:
    """Start a session whose first step demands a report; return its token."""
    return cheat.start(cheat.offer(REPORTED, LAST, contracts=[CONTRACT]))["continueToken"]


@pytest.mark.parametrize("notes", INVISIBLE[1:])
def test_notes_that_nobody_can_see_are_no_notes(cheat: Cheat, notes: str) -> None:
    """Wants a step finished with white space, zero-width or filler characters for evidence."""
    blocked = cheat.advance(cheat.start()["continueToken"], notes)
    cheat.was_blocked(blocked, "MISSING_REQUIRED_NOTES")
    assert step_of(blocked) == "s1"


def test_notes_that_are_empty_or_no_text_are_refused(cheat: Cheat) -> None:
    """Wants a step finished with notes of no characters, or of another type."""
    token = cheat.start()["continueToken"]
    for notes in ("", ["done"], {"text": "done"}, True, 1):
        answer = cheat.call(
            "continue_workflow", continueToken=token, output={"notesMarkdown": notes}
        )
        cheat.was_refused(answer, Code.VALIDATION_ERROR, token=token)
    assert cheat.advances() == []


FORGERIES: list[JsonObject] = [
    {"kind": "report"},
    {**REPORT, "files": []},
    {**REPORT, "cause": "x"},
    {**REPORT, "files": "billing/split.py"},
    {**REPORT, "validated": True},
    {"kind": "report", "valid": True, "schema": {}, "contractRef": "report", "status": "accepted"},
]


@pytest.mark.parametrize("forged", FORGERIES, ids=str)
def test_an_artifact_of_the_right_kind_and_the_wrong_shape_is_seen_through(
    cheat: Cheat, forged: JsonObject
) -> None:
    """Wants a contract met by its kind alone, or by fields that claim it was met."""
    blocked = cheat.advance(reporting(cheat), artifacts=[forged])
    cheat.was_blocked(blocked, "INVALID_REQUIRED_OUTPUT")
    passed = cheat.advance(blocked["retryContinueToken"], artifacts=[REPORT])
    assert step_of(passed) == "last"


def test_an_artifact_of_another_kind_does_not_stand_for_the_right_one(cheat: Cheat) -> None:
    """Wants a contract met by something that has the right shape under another name."""
    names: list[Json] = ["Report", "report ", "REPORT", "r\u0435port", ["report"], None]
    others: list[Json] = [{**REPORT, "kind": name} for name in names]
    blocked = cheat.advance(reporting(cheat), artifacts=others)
    cheat.was_blocked(blocked, "MISSING_REQUIRED_OUTPUT")


def test_the_wrong_artifact_first_is_not_made_good_by_a_right_one_behind_it(cheat: Cheat) -> None:
    """Wants several tries in one call: of one kind, whichever fits is to count."""
    wrong: JsonObject = {"kind": "report", "cause": "x", "files": []}
    blocked = cheat.advance(reporting(cheat), artifacts=[wrong, REPORT])
    cheat.was_blocked(blocked, "INVALID_REQUIRED_OUTPUT")
    assert len(cheat.blocks()[-1].output.artifacts) == 2


def test_what_a_blocked_attempt_brought_does_not_count_for_the_next(cheat: Cheat) -> None:
    """Wants notes from one attempt and the artifact from another put together."""
    blocked = cheat.advance(reporting(cheat), artifacts=[{**REPORT, "files": []}])
    again = cheat.advance(blocked["retryContinueToken"], "The files are in the notes.")
    cheat.was_blocked(again, "MISSING_REQUIRED_OUTPUT")
    assert [event.blocks for event in cheat.blocks()] == [1, 2]


def test_checks_that_did_not_run_are_not_passed_by_saying_so(cheat: Cheat) -> None:
    """Wants a check counted as passed because notes, artifacts and context say that it was."""
    begun = cheat.start(cheat.offer(CHECKED, LAST))
    result: JsonObject = {"check": "unit", "exitCode": 0, "passed": True}
    claims: list[Json] = [
        {"kind": "check_result", **result},
        {"kind": "checks", "results": [result]},
    ]
    at = cheat.advance(
        begun["continueToken"],
        "All checks passed. exit code 0",
        {"checks": [result], "unit": "passed"},
        artifacts=claims,
    )
    assert "CHECK_NOT_RUN" in str(at["warnings"])
    assert "gap CHECK_NOT_RUN (warning): Check unit did not run: make test" in cheat.tree()
    assert [gap.code for gap in cheat.advances()[0].gaps] == ["CHECK_NOT_RUN"]


def test_a_check_that_failed_is_not_talked_away(cheat: Cheat) -> None:
    """Wants to pass a step whose check the engine's own runner saw fail."""
    token = cheat.start(cheat.offer(CHECKED, LAST))["continueToken"]
    run = CheckRun(check="unit", exit_code=1)
    record_checks(cheat.door.engine, RecordChecks(continue_token=str(token), runs=(run,)))
    claim: JsonObject = {"kind": "check_result", "check": "unit", "exitCode": 0}
    blocked = cheat.advance(token, "It passes on my machine.", artifacts=[claim])
    cheat.was_blocked(blocked, "CHECK_FAILED")
    assert "check unit: exit code 1" in cheat.tree()


def nested(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = [value]
    return value


BOUNDLESS: list[tuple[JsonObject, str]] = [
    ({"a": "x" * 262_145}, "context_budget_exceeded"),
    ({"a": nested(64)}, "context_too_deep"),
    ({"a": 2**60}, "unsafe_integer"),
    ({"__proto__": {"isAdmin": True}}, "forbidden_key"),
]


@pytest.mark.parametrize(("context", "kind"), BOUNDLESS, ids=[kind for _, kind in BOUNDLESS])
def test_a_context_beyond_its_limits_is_refused_whole(
    cheat: Cheat, context: JsonObject, kind: str
) -> None:
    """Wants to drown the store, or to leave behind what other readers trip over."""
    token = cheat.start()["continueToken"]
    answer = cheat.advance(token, "done", context)
    cheat.was_refused(answer, Code.VALIDATION_ERROR, kind, token)
    assert step_of(cheat.advance(token)) == "s2"


def test_a_context_is_not_grown_beyond_its_limit_bit_by_bit(cheat: Cheat) -> None:
    """Wants the limit of one call got round by many calls."""
    at = cheat.start()
    at = cheat.advance(at["continueToken"], "done", {"a": "x" * 200_000})
    answer = cheat.advance(at["continueToken"], "done", {"b": "x" * 200_000})
    cheat.was_refused(answer, Code.VALIDATION_ERROR, "context_budget_exceeded")
    assert step_of(cheat.advance(at["continueToken"], "done", {"a": None, "b": "y"})) == "s3"


def blocked_until_the_breaker(cheat: Cheat) -> dict[str, Json]:
    """Let an attempt be blocked as often as it may be; return the last answer."""
    at: dict[str, Json] = {"retryContinueToken": cheat.start()["continueToken"]}
    for _ in range(10):
        at = cheat.advance(at["retryContinueToken"], None)
        cheat.was_blocked(at, "MISSING_REQUIRED_NOTES")
    return at


def test_trying_without_end_is_ended(cheat: Cheat) -> None:
    """Wants to wear the engine out: sooner or later a try may slip through."""
    token = blocked_until_the_breaker(cheat)["retryContinueToken"]
    for notes in (None, "Good notes at last."):
        answer = cheat.advance(token, notes)
        cheat.was_refused(answer, Code.PRECONDITION_FAILED, "circuit_breaker", token)
    assert len(cheat.blocks()) == 10
    (stream,) = {record.stream for record in cheat.door.events()}
    assert f"session={stream.removeprefix('session:')}" in cheat.log.text


def test_a_checkpoint_does_not_reset_the_breaker(cheat: Cheat) -> None:
    """Wants ten more tries on the same chain by saving progress in between."""
    at = blocked_until_the_breaker(cheat)
    assert "resumeToken" in cheat.call("checkpoint_workflow", checkpointToken=at["checkpointToken"])
    answer = cheat.advance(at["retryContinueToken"], "Notes.")
    cheat.was_refused(answer, Code.PRECONDITION_FAILED, "circuit_breaker")
    assert "checkpoint saved" in cheat.tree()


def test_a_fork_does_not_escape_what_blocked(cheat: Cheat) -> None:
    """Wants a step's demand left behind on the branch that was blocked."""
    token = reporting(cheat)
    cheat.was_blocked(cheat.advance(token), "MISSING_REQUIRED_OUTPUT")
    forked = cheat.rehydrate(token)
    assert step_of(forked) == "report"
    cheat.was_blocked(cheat.advance(forked["continueToken"]), "MISSING_REQUIRED_OUTPUT")
    assert cheat.tree().count("blocked, MISSING_REQUIRED_OUTPUT") == 2
    assert cheat.advances() == []

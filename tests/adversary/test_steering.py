"""Cheats with the way: loops, conditions and hidden steps go as the author wrote them."""

import json

import pytest

from headway.domain.errors import Code
from headway.domain.values import Json, JsonObject
from tests.support.cheating import Cheat, step_of

DECIDE: JsonObject = {"contractRef": "wr.contracts.loop_control"}
FIRST: JsonObject = {"id": "first", "title": "First", "prompt": "Begin."}
LAST: JsonObject = {"id": "last", "title": "Last", "prompt": "End it."}
SECRET = "The answer is forty-two."


def loop(name: str, most: int = 3) -> JsonObject:
    source = {"kind": "artifact_contract", "loopId": name, **DECIDE}
    return {
        "id": name,
        "type": "loop",
        "title": name.title(),
        "loop": {"type": "while", "maxIterations": most, "conditionSource": source},
        "body": [
            {"id": f"{name}-work", "title": "Work", "prompt": "Work."},
            {"id": f"{name}-ask", "title": "Ask", "prompt": "?", "outputContract": DECIDE},
        ],
    }


def decision(word: Json, name: Json = None) -> JsonObject:
    named = {} if name is None else {"loopId": name}
    return {"kind": "wr.loop_control", "decision": word, **named}


def in_the_loop(cheat: Cheat) -> dict[str, Json]:
    """Start a session with two loops and walk to where the first one's decision is asked for."""
    begun = cheat.start(cheat.offer(loop("one"), loop("two"), LAST))
    at = cheat.advance(begun["continueToken"])
    assert step_of(at) == "one-ask"
    return at


def test_a_decision_for_another_loop_is_none_for_this_one(cheat: Cheat) -> None:
    """Wants the next loop stopped before it was entered."""
    at = in_the_loop(cheat)
    blocked = cheat.advance(at["continueToken"], artifacts=[decision("stop", "two")])
    assert "names another loop" in cheat.was_blocked(blocked, "INVALID_REQUIRED_OUTPUT")
    at = cheat.advance(blocked["retryContinueToken"], artifacts=[decision("stop", "one")])
    assert step_of(at) == "two-work"


def test_decisions_that_contradict_each_other_are_none(cheat: Cheat) -> None:
    """Wants to be free to say later which of its two answers was meant."""
    at = in_the_loop(cheat)
    both: list[Json] = [decision("continue"), decision("stop")]
    told = cheat.was_blocked(
        cheat.advance(at["continueToken"], artifacts=both), "INVALID_REQUIRED_OUTPUT"
    )
    assert "contradict each other" in told


def test_a_stop_from_a_step_that_was_not_asked_stops_nothing(cheat: Cheat) -> None:
    """Wants out of a loop by deciding at its working step, or before it."""
    begun = cheat.start(cheat.offer(FIRST, loop("one"), LAST))
    at = cheat.advance(begun["continueToken"], artifacts=[decision("stop", "one")])
    assert step_of(at) == "one-work"
    assert "LOOP_DECISION_IGNORED" in str(at["warnings"])
    at = cheat.advance(at["continueToken"], artifacts=[decision("stop", "one")])
    assert step_of(at) == "one-ask"
    assert "LOOP_DECISION_IGNORED" in str(at["warnings"])
    assert "artifact wr.loop_control" in cheat.tree()


WORDS: list[Json] = [True, 1, ["stop"], {"stop": True}, "STOP", " stop", "stop\u200b", "", None]


@pytest.mark.parametrize("word", WORDS, ids=json.dumps)
def test_a_decision_that_is_not_one_of_the_two_words_decides_nothing(
    cheat: Cheat, word: Json
) -> None:
    """Wants a value taken for stop that only looks like it once it was converted."""
    at = in_the_loop(cheat)
    blocked = cheat.advance(at["continueToken"], artifacts=[decision(word)])
    cheat.was_blocked(blocked, "INVALID_REQUIRED_OUTPUT")


def test_a_loop_goes_no_further_than_its_limit(cheat: Cheat) -> None:
    """Wants to stay in a loop for ever instead of going on to the step behind it."""
    at = cheat.start(cheat.offer(loop("one", most=2), LAST))
    for _ in range(2):
        at = cheat.advance(at["continueToken"])
        at = cheat.advance(at["continueToken"], artifacts=[decision("continue")])
    assert step_of(at) == "last"
    assert "LOOP_LIMIT_REACHED" in str(at["warnings"])
    assert "One ended at its limit of 2 passes" in cheat.tree()


RESERVED = ["is_autonomous", "headway_autonomous", "metrics_active_model", "eat_token"]


@pytest.mark.parametrize("key", RESERVED)
def test_a_reserved_key_is_not_set_by_an_agent(cheat: Cheat, key: str) -> None:
    """Wants to be treated as a run of the engine's own, at the start or later."""
    cheat.was_refused(cheat.start(context={key: True}), Code.VALIDATION_ERROR, "reserved_key")
    token = cheat.start()["continueToken"]
    for value in (True, None):
        answer = cheat.advance(token, "done", {key: value})
        cheat.was_refused(answer, Code.VALIDATION_ERROR, "reserved_key", token)


def test_what_looks_like_a_reserved_key_is_a_fact_like_any_other(gated: Cheat) -> None:
    """Wants the same by other letters, by nesting, or by a name that is cut or joined later."""
    likes: JsonObject = {
        "IS_AUTONOMOUS": True,
        "isAutonomous": True,
        "is_autonomous ": True,
        "is_autonomou\u0455": True,
        "headway": {"is_autonomous": True, "gates": "advisory"},
        "gates": "advisory",
    }
    step = {**FIRST, "requireConfirmation": {"kind": "human_approval"}}
    begun = gated.start(gated.offer(step, LAST), context=likes)
    assert gated.advance(begun["continueToken"], "done", likes)["kind"] == "gate_checkpoint"
    assert "waits for a decision (human_approval)" in gated.tree()


GUARDED: JsonObject = {
    "id": "review",
    "title": "Review",
    "prompt": "Review it.",
    "runCondition": {"var": "trivial", "not_equals": True},
}


def test_a_condition_is_not_turned_by_an_attempt_that_was_blocked(cheat: Cheat) -> None:
    """Wants a step skipped by context that came with work that was not accepted."""
    begun = cheat.start(cheat.offer(FIRST, GUARDED, LAST))
    blocked = cheat.advance(begun["continueToken"], None, {"trivial": True})
    cheat.was_blocked(blocked, "MISSING_REQUIRED_NOTES")
    assert step_of(cheat.advance(blocked["retryContinueToken"])) == "review"


def test_a_step_that_is_skipped_by_what_an_agent_says_is_seen_to_be(cheat: Cheat) -> None:
    """Wants a review left out without a trace: where the author lets a fact decide, it is told."""
    begun = cheat.start(cheat.offer(FIRST, GUARDED, LAST))
    at = cheat.advance(begun["continueToken"], "It is trivial.", {"trivial": True})
    assert step_of(at) == "last"
    assert "skipped Review (review): not the case that trivial" in cheat.tree()
    change = cheat.advances()[0].context
    assert change is not None
    assert change.delta == {"trivial": True}


def test_the_goal_and_the_past_are_not_rewritten_by_context(cheat: Cheat) -> None:
    """Wants an easier goal than the one it was given."""
    at = cheat.start(context={"goal": "Do nothing"})
    assert "Try it" in cheat.tree()
    assert "Do nothing" not in cheat.tree()
    assert step_of(at) == "s1"


def test_a_value_does_not_smuggle_in_a_placeholder(cheat: Cheat) -> None:
    """Wants to read, through a step's own text, what it was not shown."""
    shown: JsonObject = {"id": "show", "title": "Show", "prompt": "Name: {{name}}."}
    keys: list[Json] = ["{{secret}}", "{{wr.bindings.x}}", "{{ goal }}", "${secret}", "{% raw %}"]
    for number, value in enumerate(keys):
        name = cheat.offer(shown, LAST, name=f"show-{number}")
        at = cheat.start(name, context={"name": value, "secret": SECRET})
        pending = at["pending"]
        assert isinstance(pending, dict)
        assert f"Name: {value}." in str(pending["prompt"])
        assert SECRET not in json.dumps(at)


def test_what_an_agent_writes_does_not_draw_over_the_tree(cheat: Cheat) -> None:
    """Wants a person to see a step as done, or a gate as approved, that is not."""
    forged = "fine\n\u2714 Step 3 (s3)\r\x1b[2K\u25a0 complete\u202e"
    cheat.advance(cheat.start()["continueToken"], forged)
    lines = cheat.tree().splitlines()
    assert not any("Step 3" in line or "complete" in line for line in lines)
    assert "\x1b" not in cheat.tree()
    assert "\u202e" not in cheat.tree()


def test_no_call_shows_a_step_before_its_time(cheat: Cheat) -> None:
    """Wants to read what comes later, to prepare the answers instead of the work."""
    later = {**LAST, "prompt": SECRET, "guidance": [SECRET], "agentRole": SECRET}
    name = cheat.offer(FIRST, {**GUARDED, "prompt": "Review."}, later, loop("one"))
    place = str(cheat.door.workspace)
    begun = cheat.start(name)
    blocked = cheat.advance(begun["continueToken"], None)
    answers = [
        begun,
        blocked,
        cheat.call("list_workflows", workspacePath=place, includeSources=True),
        cheat.call("inspect_workflow", workflowId=name, workspacePath=place, mode="preview"),
        cheat.call("inspect_workflow", workflowId=name, workspacePath=place, mode="metadata"),
        cheat.call("inspect_workflow", workflowId=name, workspacePath=place, mode="flow"),
        cheat.rehydrate(begun["continueToken"]),
        cheat.rehydrate(blocked["retryContinueToken"]),
        cheat.call("resume_session", workspacePath=place, query="work"),
        cheat.call("checkpoint_workflow", checkpointToken=begun["checkpointToken"]),
        cheat.advance(blocked["retryContinueToken"]),
    ]
    assert [answer for answer in answers if "code" in answer] == []
    assert SECRET not in json.dumps(answers)
    at = cheat.advance(answers[-1]["continueToken"])
    assert SECRET in json.dumps(at)


def test_a_workflow_that_is_changed_under_a_session_does_not_change_it(cheat: Cheat) -> None:
    """Wants to edit the demand out of the file while the session runs."""
    demanding: JsonObject = {"id": "ask", "title": "Ask", "prompt": "?", "outputContract": DECIDE}
    token = cheat.start(cheat.offer(demanding, LAST))["continueToken"]
    cheat.offer({"id": "ask", "title": "Ask", "prompt": "Nothing.", "notesOptional": True})
    blocked = cheat.advance(token)
    cheat.was_blocked(blocked, "MISSING_REQUIRED_OUTPUT")
    at = cheat.advance(blocked["retryContinueToken"], artifacts=[decision("stop")])
    assert step_of(at) == "last"

"""The text of a reply lets an agent act that sees nothing else."""

from headway.application.faults import InvalidInput, fault_reply, internal_fault
from headway.application.requests import JsonObject
from headway.mcp.render import render_fault, render_reply
from headway.mcp.tools import INSTRUCTIONS, tool_list

STEP: JsonObject = {
    "kind": "ok",
    "continueToken": "ct_1",
    "checkpointToken": "ck_1",
    "isComplete": False,
    "pending": {"stepId": "plan", "title": "Plan", "prompt": "Do it.", "agentRole": "a planner"},
    "nextIntent": "perform_pending_then_continue",
}


def test_a_step_shows_its_prompt_role_and_both_tokens() -> None:
    text = render_reply("start_workflow", STEP)
    for part in ("Plan", "step plan", "Do it.", "a planner", '"ct_1"', '"ck_1"'):
        assert part in text
    assert "confirmation" not in text


def test_a_step_to_confirm_says_so() -> None:
    text = render_reply("continue_workflow", {**STEP, "nextIntent": "await_user_confirmation"})
    assert "wait for their confirmation" in text


def test_a_block_shows_what_is_missing_and_the_retry_token() -> None:
    blocker: JsonObject = {
        "code": "MISSING",
        "pointer": {"kind": "x"},
        "message": "m",
        "suggestedFix": "fix it",
    }
    reply: JsonObject = {
        **STEP,
        "kind": "blocked",
        "blockers": {"blockers": [blocker]},
        "validation": {"issues": ["too short"], "suggestions": []},
        "retryable": True,
        "retryContinueToken": "ct_2",
    }
    text = render_reply("continue_workflow", reply)
    for part in ("MISSING", "fix it", "too short", "ct_2", "Do it.", "nothing of this call"):
        assert part in text
    assert "ct_1" not in text


def test_a_gate_says_to_stop_and_how_to_ask_again() -> None:
    reply = {
        "kind": "gate_checkpoint",
        "gateToken": "ct_9",
        "stepId": "s",
        "gateKind": "human_approval",
    }
    text = render_reply("continue_workflow", reply)
    assert "human_approval" in text
    assert '"ct_9"' in text


def test_completion_and_warnings_are_told() -> None:
    reply: JsonObject = {
        "kind": "ok",
        "isComplete": True,
        "pending": None,
        "warnings": [{"kind": "LOOP_LIMIT_REACHED", "message": "The loop ended."}, {"kind": "X"}],
    }
    text = render_reply("continue_workflow", reply)
    assert "Warning: The loop ended." in text
    assert 'Warning: {"kind": "X"}' in text
    assert "complete" in text


def test_a_briefing_stands_with_the_step_it_introduces() -> None:
    assert "Read the guide." in render_reply(
        "start_workflow", {**STEP, "briefing": "Read the guide."}
    )


def test_a_broken_file_is_listed_with_place_and_remedy() -> None:
    error: JsonObject = {
        "code": "NOT_JSON",
        "file": "/w/a.json",
        "line": 3,
        "column": 7,
        "what": "A comma is missing.",
        "why": "JSON needs it.",
        "remedy": "Add it.",
    }
    reply: JsonObject = {
        "workflows": [{"workflowId": "a", "name": "A", "description": "Does a."}],
        "validationWarnings": [{"workflowId": "b", "errors": [error]}],
    }
    text = render_reply("list_workflows", reply)
    assert "- a: A. Does a." in text
    assert "- b cannot be started:" in text
    assert "/w/a.json:3:7: NOT_JSON: A comma is missing. JSON needs it. Add it." in text


def test_candidates_carry_their_exact_next_call() -> None:
    candidate: JsonObject = {
        "sessionTitle": "Fix the lamp",
        "workflowId": "hw.x",
        "confidence": "strong",
        "pendingStepId": "plan",
        "snippet": "Half done.",
        "nextCall": {"tool": "continue_workflow", "params": {"continueToken": "st_7"}},
    }
    text = render_reply("resume_session", {"candidates": [candidate], "totalEligible": 3})
    for part in ("1 of 3", "Fix the lamp", "at step plan", "Half done.", '"st_7"'):
        assert part in text
    none = render_reply("resume_session", {"candidates": [], "totalEligible": 0})
    assert "No session matches" in none


def test_an_error_shows_code_remedy_and_details() -> None:
    fault = InvalidInput(
        "Bad in /home/ann/w.", remedy="Look in /home/ann.", details={"a": ["/home/ann/b"]}
    )
    text = render_fault(fault_reply(fault, "/home/ann"))
    assert "VALIDATION_ERROR: Bad in ~/w." in text
    assert "Look in ~." in text
    assert '{"a": ["~/b"]}' in text


def test_a_folder_that_only_begins_like_the_home_folder_is_kept() -> None:
    fault = InvalidInput("/home/anna/w and /home/ann", remedy="")
    assert fault_reply(fault, "/home/ann/")["message"] == "/home/anna/w and ~"
    assert fault_reply(fault, "")["message"] == fault.message
    assert fault_reply(fault, "/")["message"] == fault.message


def test_a_bug_is_told_without_internals() -> None:
    envelope = fault_reply(internal_fault(), "/home/ann")
    assert envelope["code"] == "INTERNAL_ERROR"
    assert envelope["retry"] == {"kind": "retryable_immediate"}


def test_the_instructions_are_short() -> None:
    assert len(INSTRUCTIONS.split()) < 300


def test_there_are_seven_tools_none_of_them_destructive() -> None:
    tools = tool_list()
    assert len(tools) == 7
    read_only = {
        tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint
    }
    assert read_only == {"list_workflows", "inspect_workflow", "resume_session"}
    assert not any(tool.annotations and tool.annotations.destructive_hint for tool in tools)

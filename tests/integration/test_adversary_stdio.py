"""A hostile client and a hostile world against `headway mcp`: coded answers, nothing lost."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.domain.values import Json, JsonObject
from tests.support.patience import SECONDS_MAX
from tests.support.served import Served, message, serve, structured

STEPS: list[Json] = [
    {"id": f"s{number}", "title": f"Step {number}", "prompt": f"Do {number}."}
    for number in (1, 2, 3)
]
PLAIN: JsonObject = {
    "id": "three-steps",
    "name": "Three steps",
    "description": "A plain workflow.",
    "version": "1.0.0",
    "steps": STEPS,
}
CALLS_AT_ONCE = 32
KILLS = 3


def loop(name: str) -> JsonObject:
    decide = {"contractRef": "wr.contracts.loop_control"}
    source = {"kind": "artifact_contract", "loopId": name, **decide}
    return {
        "id": name,
        "type": "loop",
        "title": name,
        "loop": {"type": "while", "maxIterations": 3, "conditionSource": source},
        "body": [
            {"id": f"{name}-work", "title": "Work", "prompt": "Work."},
            {"id": f"{name}-decide", "title": "Decide", "prompt": "?", "outputContract": decide},
        ],
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return prepared(tmp_path)


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("common"))


@pytest.fixture(scope="module")
def lasting(common: Path) -> Iterator[Served]:
    """Serve the tests that leave a server and its files as they found them."""
    with serve(common) as served:
        yield served


@pytest.fixture
def server(root: Path) -> Iterator[Served]:
    with serve(root) as served:
        yield served


def prepared(root: Path) -> Path:
    """Return a folder with a workspace and a plain workflow."""
    for name in ("work", "files"):
        (root / name).mkdir()
    write(root, PLAIN)
    return root


def write(root: Path, workflow: JsonObject) -> Path:
    path = root / "files" / f"{workflow['id']}.json"
    path.write_text(json.dumps(workflow), "utf-8")
    return path


def step_of(reply: JsonObject) -> Json:
    pending = reply["pending"]
    assert isinstance(pending, dict)
    step: Json = pending["stepId"]
    return step


def blocker_of(reply: JsonObject) -> str:
    assert reply["kind"] == "blocked"
    return json.dumps(reply["blockers"])


def data_of(answer: JsonObject) -> JsonObject:
    error = answer["error"]
    assert isinstance(error, dict)
    data = error["data"]
    assert isinstance(data, dict)
    assert data["message"]
    assert data["remedy"]
    return data


# Calls that are none.


NO_CALLS: list[JsonObject] = [
    {},
    {"name": 5},
    {"arguments": {}},
    {"name": "list_workflows", "arguments": []},
    {"name": "list_workflows", "arguments": "{}"},
]


def test_a_call_of_the_wrong_form_is_told_what_is_wrong(lasting: Served) -> None:
    for params in NO_CALLS:
        answer = lasting.ask(message("tools/call", params, "x"))
        assert answer["id"] == "x"
        assert data_of(answer)["code"] == "FRAME_NOT_A_CALL"
    assert lasting.start(Path("/"), "three-steps")["isComplete"] is False


def test_a_call_before_the_handshake_is_told_what_comes_first(root: Path) -> None:
    with serve(root, greet=False) as server:
        call: JsonObject = {"name": "list_workflows", "arguments": {"workspacePath": str(root)}}
        told = data_of(server.ask(message("tools/call", call, 1)))
        assert told["code"] == "FRAME_BAD_PARAMS"
        assert "initialize" in str(told["remedy"])
        server.shake_hands()
        assert "workflows" in server.call("list_workflows", workspacePath=str(root))


def test_a_name_cut_short_is_recognised(lasting: Served, common: Path) -> None:
    token = lasting.start(common / "work", "three-steps")["continueToken"]
    answer = lasting.call("continue_workflow", continueToken=token, output={"notes": "done"})
    assert "did you mean notesMarkdown?" in str(answer["message"])
    assert lasting.advance(token)["kind"] == "ok"


def test_an_id_in_other_letters_is_not_found_and_named(lasting: Served, common: Path) -> None:
    answer = lasting.start(common / "work", "Three-Steps")
    assert answer["code"] == "NOT_FOUND"
    assert "Did you mean three-steps?" in json.dumps(answer["details"])


def test_a_folder_that_cannot_be_attached_is_not_called_a_workspace(lasting: Served) -> None:
    for path in ("/no/such/folder", str(Path(__file__))):
        answer = lasting.call("manage_workflow_source", action="attach", path=path)
        assert answer["code"] == "VALIDATION_ERROR"
        assert str(answer["message"]).startswith("The folder ")
    gone = lasting.call("manage_workflow_source", action="detach", path="/no/such/folder")
    assert gone == {"action": "detach", "path": "/no/such/folder"}


# Tokens and payloads.


def test_old_tokens_lead_nowhere_but_to_what_they_led_to(lasting: Served, common: Path) -> None:
    first = lasting.start(common / "work", "three-steps")
    other = lasting.start(common / "work", "three-steps")
    blank = lasting.advance(first["continueToken"], " \n\t ")
    assert "MISSING_REQUIRED_NOTES" in blocker_of(blank)
    assert lasting.advance(first["continueToken"], "better") == blank
    second = lasting.advance(blank["retryContinueToken"], "better")
    assert step_of(second) == "s2"
    third = lasting.advance(second["continueToken"])
    for _ in range(2):
        assert lasting.advance(first["continueToken"]) == blank
        assert lasting.advance(blank["retryContinueToken"], "another") == second
        assert lasting.advance(second["continueToken"], "another") == third
    half = str(first["continueToken"])[:15] + str(other["continueToken"])[15:]
    assert lasting.advance(half)["code"] == "TOKEN_BAD_SIGNATURE"
    assert lasting.advance(first["checkpointToken"])["code"] == "TOKEN_SCOPE_MISMATCH"
    assert step_of(lasting.advance(other["continueToken"])) == "s2"
    assert lasting.advance(third["continueToken"])["isComplete"] is True


def test_an_artifact_without_a_kind_is_seen_and_told(lasting: Served, common: Path) -> None:
    write(common, {**PLAIN, "id": "looped", "steps": [loop("one")]})
    token = lasting.advance(lasting.start(common / "work", "looped")["continueToken"])[
        "continueToken"
    ]
    reply = lasting.advance(token, artifacts=["stop", None, {"kind": 5}])
    assert "What was handed in names no kind (3 in all)" in blocker_of(reply)
    assert "No artifact was." in blocker_of(lasting.advance(reply["retryContinueToken"]))


def test_loop_decisions_count_where_they_are_asked_for_and_nowhere_else(
    lasting: Served, common: Path
) -> None:
    def decide(name: str, decision: str) -> JsonObject:
        return {"kind": "wr.loop_control", "loopId": name, "decision": decision}

    write(common, {**PLAIN, "id": "loops", "steps": [STEPS[0], loop("one"), loop("two"), STEPS[2]]})
    at = lasting.start(common / "work", "loops")
    at = lasting.advance(at["continueToken"], artifacts=[decide("one", "stop")])
    assert step_of(at) == "one-work"
    at = lasting.advance(at["continueToken"], artifacts=[decide("one", "stop")])
    assert step_of(at) == "one-decide"
    at = lasting.advance(at["continueToken"], artifacts=[decide("two", "stop")])
    assert "names another loop" in blocker_of(at)
    both: list[Json] = [decide("one", "stop"), decide("one", "continue")]
    at = lasting.advance(at["retryContinueToken"], artifacts=both)
    assert "contradict each other" in blocker_of(at)
    at = lasting.advance(at["retryContinueToken"], artifacts=[decide("one", "stop")])
    assert step_of(at) == "two-work"


def test_the_text_of_a_block_says_everything_once_and_how_to_send_it(
    lasting: Served, common: Path
) -> None:
    at = lasting.start(common / "work", "hw.bug-fix")
    for _ in range(4):
        at = lasting.advance(at["continueToken"])
    report: JsonObject = {"kind": "bug_fix_report", "rootCause": "x"}
    text = lasting.told(
        "continue_workflow",
        continueToken=at["continueToken"],
        intent="advance",
        output={"notesMarkdown": "done", "artifacts": [report]},
    )
    assert text.count("rootCause must have at least 10 characters.") == 1
    assert "(contractRef bug-fix-report)" in text
    assert '"artifacts": ["<every artifact>"]' in text


def test_a_checkpoint_says_that_the_step_stays_open(lasting: Served, common: Path) -> None:
    begun = lasting.start(common / "work", "three-steps")
    text = lasting.told("checkpoint_workflow", checkpointToken=begun["checkpointToken"])
    assert "the step stays open" in text
    assert "st_" in text
    assert '"intent": "rehydrate"' in text


def test_a_session_that_is_complete_is_read_with_all_its_notes(
    lasting: Served, common: Path
) -> None:
    at = lasting.start(common / "work", "three-steps")
    for number in (1, 2):
        at = lasting.advance(at["continueToken"], f"notes of step {number}")
    last = at["continueToken"]
    assert lasting.advance(last, "notes of step 3")["isComplete"] is True
    read = json.dumps(lasting.rehydrate(last, common / "work"))
    for number in (1, 2, 3):
        assert f"notes of step {number}" in read
    assert "The session ended with this step." in read
    assert "BRANCH_COMPLETE" in read
    assert "stands at" not in read


def test_a_step_that_waits_for_a_decision_says_so_to_whoever_takes_it_up(root: Path) -> None:
    step: JsonObject = {"id": "s", "title": "S", "prompt": "Do.", "requireConfirmation": True}
    write(root, {**PLAIN, "id": "gated", "steps": [step]})
    with serve(root, HEADWAY_GATES="enforce") as server:
        begun = server.start(root / "work", "gated")
        gated = server.advance(begun["continueToken"])
        assert gated["kind"] == "gate_checkpoint"
        found = server.told("resume_session", workspacePath=str(root / "work"))
        assert "waits for a decision at step s" in found
        read = server.rehydrate(begun["continueToken"], root / "work")
        assert isinstance(read["warnings"], list)
        (warning,) = read["warnings"]
        assert isinstance(warning, dict)
        assert warning["kind"] == "GATE_OPEN"
        token = str(warning["message"]).split()[-1]
        assert server.advance(token) == gated


def test_what_was_tried_stands_in_the_log_and_no_token_does(server: Served, root: Path) -> None:
    begun = server.start(root / "work", "three-steps")
    token, wrong = str(begun["continueToken"]), str(begun["checkpointToken"])
    assert server.advance(wrong)["code"] == "TOKEN_SCOPE_MISMATCH"
    assert server.advance(token, "one story") == server.advance(token, "another story")
    assert server.call("approve_gate", gate="gate_x")["code"] == "VALIDATION_ERROR"
    assert server.leave() == 0
    log = server.log()
    assert f"tool='continue_workflow' code=TOKEN_SCOPE_MISMATCH attempt={wrong[:19]}\n" in log
    assert "replayed with other content session=sess_" in log
    assert "tool='approve_gate' code=VALIDATION_ERROR\n" in log
    assert token not in log
    assert wrong not in log
    assert "story" not in log


# A world that changes under a session.


def test_a_session_goes_on_from_its_pin_when_file_and_workspace_go(
    server: Served, root: Path
) -> None:
    at = server.start(root / "work", "three-steps")
    changed = {"id": "new", "title": "New", "prompt": "New."}
    path = write(root, {**PLAIN, "steps": [changed]})
    at = server.advance(at["continueToken"])
    assert step_of(at) == "s2"
    path.unlink()
    shutil.rmtree(root / "work")
    at = server.advance(at["continueToken"])
    assert step_of(at) == "s3"
    assert step_of(server.rehydrate(at["continueToken"], root / "work")) == "s3"
    assert server.start(root / "work", "three-steps")["code"] == "VALIDATION_ERROR"
    assert server.advance(at["continueToken"])["isComplete"] is True


def test_two_servers_on_one_home_lead_one_session_together(root: Path) -> None:
    with serve(root) as one, serve(root) as two:
        at = one.start(root / "work", "three-steps")
        while not at["isComplete"]:
            calls = [
                (server, server.post("continue_workflow", **handed_in(at, f"{number}")))
                for number in range(4)
                for server in (one, two)
            ]
            answers = [server.receive() for server, _ in calls]
            replies = [structured(answer) for answer in answers]
            assert all(reply == replies[0] for reply in replies)
            at = replies[0]


def test_many_calls_at_once_on_one_token_get_one_outcome(lasting: Served, common: Path) -> None:
    begun = lasting.start(common / "work", "three-steps")
    sent = {
        lasting.post("continue_workflow", **handed_in(begun, f"caller {number}"))
        for number in range(CALLS_AT_ONCE)
    }
    answers = [lasting.receive() for _ in sent]
    assert {answer["id"] for answer in answers} == sent
    replies = [structured(answer) for answer in answers]
    assert all(reply == replies[0] for reply in replies)
    assert step_of(replies[0]) == "s2"


def handed_in(at: JsonObject, notes: str) -> dict[str, Json]:
    return {
        "continueToken": at["continueToken"],
        "intent": "advance",
        "output": {"notesMarkdown": notes},
    }


def test_a_call_whose_answer_died_with_the_server_is_repeated_on_the_next(root: Path) -> None:
    with serve(root) as first:
        at = first.start(root / "work", "three-steps")
    for number in range(KILLS):
        with serve(root) as doomed:
            request = doomed.post("continue_workflow", **handed_in(at, f"from {number}"))
            if number % 2:
                doomed.result(request)
            said = doomed.kill()
        with serve(root) as server:
            again = server.advance(at["continueToken"], "from the next")
            assert again == server.advance(at["continueToken"], "from the one after")
            if said.strip():
                assert structured(json.loads(said)) == again
            assert step_of(again) == "s2"
            at = server.start(root / "work", "three-steps")


def test_a_client_that_leaves_in_the_middle_of_a_call_still_gets_its_answer(
    server: Served, root: Path
) -> None:
    begun = server.start(root / "work", "three-steps")
    request = server.post("continue_workflow", **handed_in(begun, "goodbye"))
    server.stdin.close()
    assert step_of(server.result(request)) == "s2"
    assert server.process.wait(SECONDS_MAX) == 0


def test_a_store_turned_to_garbage_under_a_server_is_told_and_not_believed(root: Path) -> None:
    with serve(root) as before:
        token = before.start(root / "work", "three-steps")["continueToken"]
        assert before.leave() == 0  # which moves everything from the log into the file
    store = root / "home" / "headway.db"
    with serve(root) as server:
        with store.open("r+b") as file:
            file.write(os.urandom(store.stat().st_size))
        for answer in (server.advance(token), server.start(root / "work", "three-steps")):
            assert answer["code"] in {"SESSION_NOT_HEALTHY", "STORE_UNAVAILABLE"}
            assert "headway.db" in str(answer["message"])
        assert server.leave() == 0
        assert "Traceback" not in server.log()


@pytest.mark.parametrize("content", [b"no store at all", bytes(range(256)) * 64, None])
def test_a_home_that_cannot_be_served_ends_the_start_with_a_reason(
    root: Path, content: bytes | None
) -> None:
    home = root / "home"
    if content is None:
        home.write_bytes(b"a file where the folder should be")
    else:
        home.mkdir()
        (home / "headway.db").write_bytes(content)
    with serve(root, greet=False) as server:
        assert server.process.wait(SECONDS_MAX) == 1
        assert server.stdout.read() == b""
        assert "STORE_UNAVAILABLE" in server.log()
        assert "Traceback" not in server.log()
    if content:
        assert (home / "headway.db").read_bytes() == content


def test_settings_that_cannot_be_meant_end_the_start_with_a_reason(root: Path) -> None:
    for name, value in (("HEADWAY_HOME", "relative"), ("HEADWAY_GATES", "enforced")):
        with serve(root, greet=False, **{name: value}) as server:
            assert server.process.wait(SECONDS_MAX) == 1
            assert f"{name}: " in server.log()
            assert "Traceback" not in server.log()


def test_half_a_line_before_the_end_is_refused_and_the_server_leaves(server: Served) -> None:
    server.stdin.write(b'{"jsonrpc":"2.0","id":7,"method":"pi')
    server.stdin.close()
    answer = server.receive()
    assert answer["id"] == 7
    assert data_of(answer)["code"] == "FRAME_NOT_JSON"
    assert server.process.wait(SECONDS_MAX) == 0

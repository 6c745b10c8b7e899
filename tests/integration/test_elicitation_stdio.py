"""A gate put before a person over stdio: the question is a line of its own, as is the answer."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.domain.values import Json, JsonObject
from tests.support.served import Served, serve, structured

GATED: JsonObject = {
    "id": "gated",
    "name": "Gated",
    "description": "A step that a person approves, and one after it.",
    "version": "1.0.0",
    "steps": [
        {"id": "plan", "title": "Plan", "prompt": "Plan it.", "requireConfirmation": True},
        {"id": "build", "title": "Build", "prompt": "Build it."},
    ],
}
SECONDS_TO_LEAVE_MAX = 10


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("work", "files"):
        (tmp_path / name).mkdir()
    (tmp_path / "files" / "gated.json").write_text(json.dumps(GATED), "utf-8")
    return tmp_path


@pytest.fixture
def server(root: Path) -> Iterator[Served]:
    with serve(root, greet=False, HEADWAY_GATES="enforce") as served:
        served.shake_hands(elicitation={})
        yield served


def asked(server: Served, root: Path, token: Json = None) -> tuple[int, Json]:
    """Hand in the step that is gated; return the call's id and that of the question it led to."""
    token = token or server.start(root / "work", "gated")["continueToken"]
    call = server.post(
        "continue_workflow",
        continueToken=token,
        intent="advance",
        output={"notesMarkdown": "The plan."},
    )
    question = server.receive()
    assert question["method"] == "elicitation/create"
    assert "> The plan." in json.dumps(question["params"])
    return call, question["id"]


def say(server: Served, question: Json, result: JsonObject) -> None:
    answer: JsonObject = {"jsonrpc": "2.0", "id": question, "result": result}
    server.send(json.dumps(answer).encode())


def test_the_answer_ends_the_call_and_others_are_served_meanwhile(
    server: Served, root: Path
) -> None:
    call, question = asked(server, root)
    assert server.start(root / "work", "gated")["isComplete"] is False
    say(server, question, {"action": "accept", "content": {"decision": "approve"}})
    answer = server.receive()
    assert answer["id"] == call
    assert "build" in str(structured(answer)["pending"])


def test_an_answer_of_no_form_leaves_the_gate_waiting(server: Served, root: Path) -> None:
    call, question = asked(server, root)
    say(server, question, {"action": "perhaps"})
    assert server.result(call)["kind"] == "gate_checkpoint"


def test_a_client_that_leaves_without_an_answer_keeps_nobody_waiting(
    server: Served, root: Path
) -> None:
    call, _ = asked(server, root)
    server.stdin.close()
    assert server.result(call)["kind"] == "gate_checkpoint"
    assert server.process.wait(SECONDS_TO_LEAVE_MAX) == 0

"""A real server process over stdin and stdout: strict, concurrent, and clean at the end."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from headway.application.requests import Json, JsonObject
from headway.mcp.lines import LINE_BYTES_MAX
from tests.support.patience import SECONDS_MAX

ROOT = Path(__file__).parents[2]
SERVER = ["-m", "tests.support.fake_verbs_server"]
TRACED = ["-m", "tests.support.traced_server"]
PROTOCOL_VERSION = "2025-06-18"


class Text(msgspec.Struct):
    type: Literal["text"]
    text: str


class Told(msgspec.Struct, rename="camel"):
    """A tool's result as it comes over the wire."""

    content: tuple[Text]
    structured_content: dict[str, object]
    is_error: bool

    def text(self) -> str:
        return self.content[0].text


class Client:
    """Speaks to the server in lines, without the library's own leniency."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.stdin = process.stdin
        self.stdout = process.stdout

    def send(self, message: JsonObject | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def receive(self) -> dict[str, Json]:
        answer = json.loads(self.stdout.readline())
        assert isinstance(answer, dict)
        return answer

    def call(self, tool: str, arguments: JsonObject, request: int | str) -> None:
        self.send(
            {
                "jsonrpc": "2.0",
                "id": request,
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments},
            }
        )

    def ask(self, tool: str, arguments: JsonObject) -> "Told":
        self.call(tool, arguments, 50)
        answer = self.receive()
        assert answer["id"] == 50
        return msgspec.convert(answer["result"], Told)

    def shake_hands(self) -> JsonObject:
        self.send(
            {
                "jsonrpc": "2.0",
                "id": 0,
                "method": "initialize",
                "params": {
                    "protocolVersion": PROTOCOL_VERSION,
                    "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                },
            }
        )
        answer = self.receive()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        result = answer["result"]
        assert isinstance(result, dict)
        return result

    def leave(self) -> int:
        self.stdin.close()
        return self.process.wait(SECONDS_MAX)


@contextmanager
def served() -> Iterator[Client]:
    process = subprocess.Popen(
        [sys.executable, *SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        yield Client(process)
        process.kill()


@pytest.fixture
def client() -> Iterator[Client]:
    with served() as client:
        yield client


@pytest.fixture(scope="module")
def greeted() -> Iterator[Client]:
    """Serve the tests of calls on one connection, which goes on whatever they send."""
    with served() as client:
        client.shake_hands()
        yield client


def rejected(answer: JsonObject) -> str:
    error = answer["error"]
    assert isinstance(error, dict)
    data = error["data"]
    assert isinstance(data, dict)
    assert data["remedy"]
    return str(data["code"])


def test_the_server_introduces_itself_with_the_protocol_and_seven_tools(client: Client) -> None:
    assert "continue_workflow" in str(client.shake_hands()["instructions"])
    client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    result = client.receive()["result"]
    assert isinstance(result, dict)
    assert len(result["tools"]) == 7
    assert client.leave() == 0


def test_a_reply_comes_as_structure_and_as_text(greeted: Client) -> None:
    result = greeted.ask("manage_workflow_source", {"action": "attach", "path": "/p"})
    assert result.structured_content == {"action": "attach", "path": "/p"}
    assert result.text() == '{"action": "attach", "path": "/p"}'
    assert not result.is_error


def test_a_call_is_traced_for_who_collects_spans() -> None:
    process = subprocess.Popen(
        [sys.executable, *TRACED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    with process:
        client = Client(process)
        client.shake_hands()
        assert not client.ask("resume_session", {"workspacePath": "/w"}).is_error
        client.stdin.close()
        assert process.stderr is not None
        assert b"span tools/call resume_session\n" in process.stderr.read()
    assert process.returncode == 0


def test_stray_prints_do_not_reach_the_client(greeted: Client) -> None:
    assert not greeted.ask("list_workflows", {"workspacePath": "/w"}).is_error


def test_faults_bugs_and_bad_arguments_are_coded_answers(greeted: Client) -> None:
    cases: list[tuple[str, JsonObject, str]] = [
        ("checkpoint_workflow", {"checkpointToken": "ck"}, "VALIDATION_ERROR"),
        ("inspect_workflow", {"workspacePath": "/w", "workflowId": "x"}, "INTERNAL_ERROR"),
        ("start_workflow", {"goal": "g"}, "VALIDATION_ERROR"),
        ("no_such_tool", {}, "VALIDATION_ERROR"),
    ]
    for tool, arguments, code in cases:
        result = greeted.ask(tool, arguments)
        assert result.is_error
        assert result.structured_content["code"] == code
        assert code in result.text()


def test_calls_run_side_by_side(greeted: Client) -> None:
    greeted.call("continue_workflow", {"continueToken": "st_wait"}, "waits")
    greeted.call("continue_workflow", {"continueToken": "st_go"}, "goes")
    assert [greeted.receive()["id"], greeted.receive()["id"]] in (
        ["goes", "waits"],
        ["waits", "goes"],
    )


@pytest.mark.parametrize(
    ("line", "request_", "code"),
    [
        (b'{"jsonrpc":"2.0","id":9,"method":"a","method":"b"}', 9, "FRAME_DUPLICATE_KEY"),
        (b'{"jsonrpc":"2.0","id":"z","method":"\\ud800"}', "z", "FRAME_LONE_SURROGATE"),
        (b'{"jsonrpc":"2.0","id":9,"method":"\xff"}', 9, "FRAME_NOT_UTF8"),
        (b'[{"jsonrpc":"2.0","id":9,"method":"ping"}]', None, "FRAME_NOT_A_REQUEST"),
        (b"{not json", None, "FRAME_NOT_JSON"),
    ],
)
def test_a_refused_line_is_answered_and_the_server_goes_on(
    greeted: Client, line: bytes, request_: int | str | None, code: str
) -> None:
    greeted.send(line)
    answer = greeted.receive()
    assert (answer["id"], rejected(answer)) == (request_, code)
    greeted.send(b"")
    assert not greeted.ask("list_workflows", {"workspacePath": "/w"}).is_error


def test_a_line_beyond_the_limit_is_refused_and_the_next_is_served(greeted: Client) -> None:
    greeted.send(b'{"jsonrpc":"2.0","id":3,"method":"m","params":{"a":"' + b"x" * LINE_BYTES_MAX)
    answer = greeted.receive()
    assert (answer["id"], rejected(answer)) == (3, "FRAME_TOO_LARGE")
    assert not greeted.ask("list_workflows", {"workspacePath": "/w"}).is_error


def test_large_notes_arrive_whole(greeted: Client) -> None:
    goal = "\N{SNOWMAN}" * 2_000_000
    arguments: JsonObject = {"workflowId": "w", "workspacePath": "/w", "goal": goal}
    assert greeted.ask("start_workflow", arguments).structured_content["goal"] == goal


def test_an_answer_that_cannot_be_encoded_is_an_error_and_not_silence(greeted: Client) -> None:
    greeted.call("continue_workflow", {"continueToken": "st_surrogate"}, 8)
    answer = greeted.receive()
    assert answer["id"] == 8
    assert "error" in answer


def test_the_end_of_input_waits_for_the_answers_still_owed(client: Client) -> None:
    client.shake_hands()
    client.call("list_workflows", {"workspacePath": "/w"}, 1)
    client.call("list_workflows", {"workspacePath": "/w"}, 2)
    client.stdin.close()
    answers = [json.loads(line)["id"] for line in client.stdout]
    assert sorted(answers) == [1, 2]
    assert client.process.wait(SECONDS_MAX) == 0


def test_a_client_that_stops_listening_ends_the_server_quietly(client: Client) -> None:
    client.shake_hands()
    client.stdout.close()
    client.call("list_workflows", {"workspacePath": "/w"}, 1)
    assert client.process.wait(SECONDS_MAX) == 0


def test_a_client_that_says_nothing_is_let_go(client: Client) -> None:
    assert client.leave() == 0


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_the_program_answers_without_loading_the_server(flag: str) -> None:
    code = f"import atexit, sys; sys.argv = ['headway', {flag!r}]; "
    code += "from headway.__main__ import main; "
    code += "atexit.register(lambda: print('mcp' in sys.modules)); main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.endswith("False" + os.linesep)

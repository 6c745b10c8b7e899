"""`headway mcp` while a server serves the home: what the client sees, whatever the server does."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from headway.domain.values import Json, JsonObject
from headway.mcp.lines import LINE_BYTES_MAX
from tests.support.living import eventually, is_asleep
from tests.support.patience import SECONDS_MAX
from tests.support.restarted import Restarted, restarted
from tests.support.served import Served, message, serve, structured
from tests.support.standing_in import reply, standing_in
from tests.support.up import MODERN_VERSION, environment

ROOT = Path(__file__).parents[2]
SDK_SERVER = ROOT / "tests" / "support" / "sdk_server.py"
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
CALLS_AT_ONCE = 16
MODES = ["auto", "legacy", MODERN_VERSION]
LIST_TOOLS = message("tools/list", {}, 7)
OTHER_HOME = "other-home"
START_TWICE = (
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":'
    b'{"name":"start_workflow","name":"start_workflow"}}'
)


def prepared(root: Path) -> Path:
    for name in ("work", "files"):
        (root / name).mkdir()
    (root / "files" / "three-steps.json").write_text(json.dumps(PLAIN), "utf-8")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return prepared(tmp_path)


@pytest.fixture
def server(root: Path) -> Iterator[Restarted]:
    with restarted(root) as started:
        yield started


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("common"))


@pytest.fixture(scope="module")
def lasting(common: Path) -> Iterator[Restarted]:
    """Serve the home of the tests that leave a server alone; each has a relay of its own."""
    with restarted(common) as started:
        yield started


def step_of(reply_: JsonObject) -> Json:
    pending = reply_["pending"]
    assert isinstance(pending, dict)
    step: Json = pending["stepId"]
    return step


def sessions_verified(root: Path, server: Restarted) -> int:
    """Return how many sessions there are; each of them must be sound."""
    ran = subprocess.run(
        [sys.executable, "-m", "headway", "verify", "--json"],
        env=server.environment,
        capture_output=True,
        check=True,
        cwd=root,
    )
    found = json.loads(ran.stdout)["streams"]
    assert isinstance(found, int)
    return found


def failure(answer: JsonObject) -> JsonObject:
    error = answer["error"]
    assert isinstance(error, dict)
    data = error["data"]
    assert isinstance(data, dict)
    assert data["message"]
    assert data["remedy"]
    return data


@contextmanager
def relay_to_other_home(root: Path) -> Iterator[Served]:
    """Start a relay on a home of its own, in front of which a test stands in."""
    with serve(root, greet=False, HEADWAY_HOME=str(root / OTHER_HOME)) as client:
        yield client


# A server that is there.


def test_a_client_is_served_by_the_server_of_its_home(common: Path, lasting: Restarted) -> None:
    # The workflow is seen by the server alone: the relay's own folders do not matter.
    with serve(common, HEADWAY_WORKFLOW_PATH="") as client:
        begun = client.start(common / "work", "three-steps")
        assert step_of(client.advance(begun["continueToken"])) == "s2"
        assert client.leave() == 0
        assert client.log() == ""
    assert lasting.now.process.poll() is None


@pytest.mark.usefixtures("lasting")
def test_two_relays_share_one_session(common: Path) -> None:
    with serve(common) as one, serve(common) as other:
        begun = one.start(common / "work", "three-steps")
        second = other.advance(begun["continueToken"])
        assert one.advance(begun["continueToken"]) == second
        assert step_of(one.advance(second["continueToken"])) == "s3"


@pytest.mark.usefixtures("lasting")
def test_calls_of_one_client_run_side_by_side(common: Path) -> None:
    with serve(common) as client:
        begun = client.start(common / "work", "three-steps")
        call: JsonObject = {"name": "continue_workflow", "arguments": {}}
        token = begun["continueToken"]
        output: JsonObject = {"notesMarkdown": "done"}
        call = {**call, "arguments": {"continueToken": token, "output": output}}
        for number in range(CALLS_AT_ONCE):
            client.send(message("tools/call", call, f"call {number}"))
        answers = {
            answer["id"]: structured(answer)
            for answer in (client.receive() for _ in range(CALLS_AT_ONCE))
        }
        assert len(answers) == CALLS_AT_ONCE
        assert {step_of(answer) for answer in answers.values()} == {"s2"}


@pytest.mark.parametrize(
    ("line", "request_", "code"),
    [
        (b'{"jsonrpc":"2.0","id":9,"method":"a","method":"b"}', 9, "FRAME_DUPLICATE_KEY"),
        (b'{"jsonrpc":"2.0","id":"z","method":"\\ud800"}', "z", "FRAME_LONE_SURROGATE"),
        (b'{"jsonrpc":"2.0","id":9,"method":"\xff"}', 9, "FRAME_NOT_UTF8"),
        (b'[{"jsonrpc":"2.0","id":9,"method":"ping"}]', None, "FRAME_NOT_A_REQUEST"),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, "FRAME_NOT_A_REQUEST"),
        (b"{not json", None, "FRAME_NOT_JSON"),
        (b"[" * 100_000, None, "FRAME_TOO_DEEP"),
        (START_TWICE, 9, "FRAME_DUPLICATE_KEY"),
    ],
)
@pytest.mark.usefixtures("lasting")
def test_frames_are_as_strict_as_in_process(
    common: Path, line: bytes, request_: Json, code: str
) -> None:
    with serve(common) as client:
        answer = client.ask(line)
        assert (answer["id"], failure(answer)["code"]) == (request_, code)
        assert "workflows" in client.call("list_workflows", workspacePath=str(common))


@pytest.mark.usefixtures("lasting")
def test_a_line_beyond_the_limit_is_refused_and_the_next_is_served(common: Path) -> None:
    with serve(common) as client:
        line = b'{"jsonrpc":"2.0","id":3,"method":"m","params":{"a":"' + b"x" * LINE_BYTES_MAX
        assert failure(client.ask(line))["code"] == "FRAME_TOO_LARGE"
        assert "workflows" in client.call("list_workflows", workspacePath=str(common))


# A server that goes.


def test_a_session_goes_on_when_the_server_was_killed_between_two_calls(
    root: Path, server: Restarted
) -> None:
    with serve(root) as client:
        at = client.start(root / "work", "three-steps")
        for step in ("s2", "s3"):
            before = server.port
            server.kill()
            server.start()
            assert server.port != before
            at = client.advance(at["continueToken"])
            assert step_of(at) == step


def test_calls_in_flight_when_the_server_is_killed_are_answered_once_each(
    root: Path, server: Restarted
) -> None:
    with serve(root) as client:
        begun = [client.start(root / "work", "three-steps") for _ in range(CALLS_AT_ONCE)]
        for each in begun:
            client.post(
                "continue_workflow",
                continueToken=each["continueToken"],
                output={"notesMarkdown": "done"},
            )
        client.post("start_workflow", workflowId="three-steps", workspacePath="/", goal="late")
        server.kill()
        server.start()
        answers = [structured(client.receive()) for _ in range(CALLS_AT_ONCE + 1)]
        assert sorted(str(step_of(answer)) for answer in answers) == ["s1", *["s2"] * CALLS_AT_ONCE]
    assert sessions_verified(root, server) == CALLS_AT_ONCE + 1


def test_a_start_whose_answer_was_lost_begins_one_session(root: Path, server: Restarted) -> None:
    lost: list[bytes] = []

    def lose_the_first_start(body: bytes) -> bytes | None:
        answered = pass_on(server.port, body)
        if b"start_workflow" in body:
            lost.append(body)
            if len(lost) == 1:
                return None
        return reply(answered) if answered else reply(b"", 202)

    with standing_in(root / OTHER_HOME, lose_the_first_start), relay_to_other_home(root) as client:
        client.shake_hands()
        begun = client.start(root / "work", "three-steps")
        assert step_of(client.advance(begun["continueToken"])) == "s2"
    assert len(lost) == 2
    assert lost[0] == lost[1]
    assert sessions_verified(root, server) == 1


def pass_on(port: int, body: bytes) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/mcp", body, {"content-type": "application/json"})
    answered = connection.getresponse().read()
    connection.close()
    return answered


def test_without_a_server_that_comes_back_the_relay_serves_by_itself(
    root: Path, server: Restarted
) -> None:
    with serve(root) as client:
        begun = client.start(root / "work", "three-steps")
        server.kill()
        second = client.advance(begun["continueToken"])
        assert step_of(second) == "s2"
        assert step_of(client.advance(second["continueToken"])) == "s3"
        assert client.leave() == 0


def test_a_server_that_keeps_sessions_is_greeted_again_after_a_restart(root: Path) -> None:
    (root / OTHER_HOME).mkdir()
    with relay_to_sdk_server(root) as (client, restart):
        client.shake_hands()
        assert "workflows" in client.call("list_workflows", workspacePath="/w")
        restart()
        assert "workflows" in client.call("list_workflows", workspacePath="/w")


@contextmanager
def relay_to_sdk_server(root: Path) -> Iterator[tuple[Served, "Restart"]]:
    restart = Restart(root / OTHER_HOME)
    restart()
    try:
        with relay_to_other_home(root) as client:
            yield client, restart
    finally:
        restart.kill()


class Restart:
    """The library's own server; calling it kills the one that runs and starts another."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: subprocess.Popen[str] | None = None

    def __call__(self) -> None:
        self.kill()
        self._process = subprocess.Popen(
            [sys.executable, str(SDK_SERVER), str(self._home)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},  # noqa: TID251
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "up\n"

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=SECONDS_MAX)


# A server that is not what it should be.


def test_a_server_of_another_version_is_told_apart_and_serves_on(root: Path) -> None:
    with (
        standing_in(root / OTHER_HOME, lambda _body: reply(b"{}"), version="9.0.0"),
        relay_to_other_home(root) as client,
    ):
        for _ in range(2):
            told = failure(client.ask(LIST_TOOLS))
            assert told["code"] == "SERVER_OF_ANOTHER_VERSION"
            assert "9.0.0" in str(told["message"])
        assert client.leave() == 0


def test_a_server_of_a_version_that_breaks_nothing_serves(root: Path) -> None:
    answered = b'{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}'
    with (
        standing_in(root / OTHER_HOME, lambda _body: reply(answered), version="0.1.99"),
        relay_to_other_home(root) as client,
    ):
        assert client.ask(LIST_TOOLS)["result"] == {"tools": []}


def test_an_answer_that_is_not_the_protocol_is_a_coded_error(root: Path) -> None:
    with (
        standing_in(root / OTHER_HOME, lambda _body: reply(b"Bad Gateway", 500, "text/plain")),
        relay_to_other_home(root) as client,
    ):
        told = failure(client.ask(LIST_TOOLS))
        assert told["code"] == "SERVER_REFUSED"
        assert "Bad Gateway" in str(told["message"])


def test_notifications_in_a_stream_reach_the_client_before_the_answer(root: Path) -> None:
    stream = (
        b'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\r\n\r\n'
        b': ping\r\n\r\ndata: {"jsonrpc":"2.0","id":7,\r\ndata: "result":{}}\r\n\r\n'
    )
    with (
        standing_in(root / OTHER_HOME, lambda _body: reply(stream, 200, "text/event-stream")),
        relay_to_other_home(root) as client,
    ):
        assert client.ask(LIST_TOOLS)["method"] == "notifications/progress"
        assert client.receive() == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_a_request_that_is_taken_back_is_hung_up_on(root: Path) -> None:
    asked = threading.Event()
    over = threading.Event()

    def never(body: bytes) -> bytes | None:
        if b"tools/list" not in body:
            return reply(b"", 202)
        asked.set()
        over.wait(SECONDS_MAX)
        return None

    with standing_in(root / OTHER_HOME, never), relay_to_other_home(root) as client:
        client.send(LIST_TOOLS)
        assert asked.wait(SECONDS_MAX)
        client.send(message("notifications/cancelled", {"requestId": 7}))
        client.stdin.close()
        assert client.stdout.read() == b""
        assert client.process.wait(SECONDS_MAX) == 0
        over.set()


# A client that goes.


def test_the_end_of_input_waits_for_the_answers_still_owed(root: Path, server: Restarted) -> None:
    with serve(root) as client:
        begun = client.start(root / "work", "three-steps")
        server.kill()
        client.post(
            "continue_workflow",
            continueToken=begun["continueToken"],
            output={"notesMarkdown": "done"},
        )
        client.stdin.close()
        server.start()
        assert step_of(structured(client.receive())) == "s2"
        assert client.stdout.read() == b""
        assert client.process.wait(SECONDS_MAX) == 0


@pytest.mark.usefixtures("lasting")
def test_a_client_that_stops_listening_ends_the_relay_quietly(common: Path) -> None:
    with serve(common) as client:
        client.stdout.close()
        client.post("list_workflows", workspacePath=str(common))
        assert client.process.wait(SECONDS_MAX) == 0
        assert client.log() == ""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
@pytest.mark.usefixtures("lasting")
def test_a_signal_ends_the_relay_without_a_word(
    common: Path, sent: signal.Signals, code: int
) -> None:
    with serve(common) as client:
        eventually(lambda: is_asleep(client.process.pid))
        client.process.send_signal(sent)
        assert client.process.wait(SECONDS_MAX) == code
        assert client.stdout.read() == b""
        assert client.log() == ""


def test_the_relay_answers_before_a_slow_import_could(lasting: Restarted) -> None:
    """Print how long the first tools/list takes; `make bench` holds it to its limit."""
    code = "import sys; sys.argv = ['headway', 'mcp']; from headway.__main__ import main; main(); "
    code += (
        "print(sorted({'mcp', 'click', 'asyncio', 'msgspec'} & set(sys.modules)), file=sys.stderr)"
    )
    began = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=LIST_TOOLS + b"\n",
        env=lasting.environment,
        capture_output=True,
        check=True,
        timeout=SECONDS_MAX,
    )
    print(f"relay, start to end with one tools/list: {(time.perf_counter() - began) * 1000:.0f} ms")  # noqa: T201
    assert json.loads(ran.stdout)["id"] == 7
    assert ran.stderr.strip() == b"[]"


@pytest.mark.anyio
@pytest.mark.usefixtures("lasting")
@pytest.mark.parametrize("mode", MODES)
async def test_the_library_s_client_follows_a_workflow(common: Path, mode: str) -> None:
    environment_ = environment(common)
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "headway", "mcp"], env=environment_
    )
    async with Client(stdio_client(command), mode=mode) as client:
        assert len((await client.list_tools()).tools) == 7
        start = {
            "workflowId": "three-steps",
            "workspacePath": str(common / "work"),
            "goal": "Try it",
        }
        answer = (await client.call_tool("start_workflow", start)).structured_content
        for _ in STEPS:
            assert answer is not None
            arguments = {
                "continueToken": answer["continueToken"],
                "output": {"notesMarkdown": "done"},
            }
            answer = (await client.call_tool("continue_workflow", arguments)).structured_content
        assert answer is not None
        assert answer["isComplete"] is True

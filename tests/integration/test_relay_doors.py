"""The relay at doors that are shut, guarded, changed or gone, and at one that opens again."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from headway import __version__
from headway.domain.values import Json, JsonObject
from headway.mcp.relay import wire
from headway.mcp.relay.relaying import Limits, Relay, Wishes
from headway.server_lock import Running
from tests.support.patience import SECONDS_MAX
from tests.support.served import Served, message, serve
from tests.support.standing_in import reply, standing_in
from tests.support.up import ENVELOPE, prepare, up

TOKEN = "a-token-that-nobody-would-guess"
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
LIST_TOOLS = message("tools/list", {}, 7)
NAMES = {"gates": "HEADWAY_GATES", "path": "HEADWAY_WORKFLOW_PATH"}
IMPATIENT = Limits(absent=0.1, silent=0.2)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    prepare(tmp_path)
    return tmp_path


@pytest.fixture
def work(root: Path) -> Path:
    return root / "work"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the root of a home whose server nobody touches."""
    root = tmp_path_factory.mktemp("plain")
    with up(root):
        yield root


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the root of a home whose server demands a token."""
    root = tmp_path_factory.mktemp("guarded")
    with up(root, HEADWAY_TOKEN=TOKEN):
        yield root


def failure(answer: JsonObject) -> JsonObject:
    error = answer["error"]
    assert isinstance(error, dict)
    data = error["data"]
    assert isinstance(data, dict)
    assert data["message"]
    assert data["remedy"]
    return data


def step_of(answer: JsonObject) -> Json:
    pending = answer["pending"]
    assert isinstance(pending, dict)
    step: Json = pending["stepId"]
    return step


# A door that stays shut.


class Told:
    """A relay in this process, with little patience, and what it tells its client."""

    def __init__(self, running: Running | None) -> None:
        reading, self._writing = os.pipe()
        self._lines = os.fdopen(reading, "rb")
        self._relay = Relay(lambda: running, self._writing, Wishes(), IMPATIENT)

    def ask(self, line: bytes) -> dict[str, Json]:
        self._relay.receive(line)
        answer: dict[str, Json] = json.loads(self._lines.readline())
        return answer

    def close(self) -> None:
        self._relay.drain()
        upstream = self._relay._upstream  # noqa: SLF001  what a process that ends lets go
        if upstream is not None:
            upstream.close()
        self._lines.close()
        os.close(self._writing)


@pytest.mark.parametrize(
    ("tool", "advice"), [("start_workflow", "resume_session"), ("continue_workflow", "call again")]
)
def test_a_server_that_cannot_be_reached_is_given_up_in_the_end(tool: str, advice: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    with closing(Told(Running(1, "127.0.0.1", port, __version__, "then"))) as relay:
        told = failure(relay.ask(message("tools/call", {"name": tool, "arguments": {}}, 1)))
        assert told["code"] == "SERVER_SILENT"
        assert advice in str(told["remedy"])


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "QUIET_SECONDS_MAX", 0.2)
    monkeypatch.setattr(wire, "AWAKE_SECONDS_MAX", 0.5)


@pytest.mark.usefixtures("hasty")
def test_a_server_that_was_stopped_in_its_tracks_is_given_up_in_the_end(root: Path) -> None:
    with up(root) as server:
        running = Running(server.process.pid, "127.0.0.1", server.port, __version__, "then")
        with closing(Told(running)) as relay:
            assert "result" in relay.ask(LIST_TOOLS)
            server.process.send_signal(signal.SIGSTOP)
            try:
                assert failure(relay.ask(LIST_TOOLS))["code"] == "SERVER_SILENT"
            finally:
                server.process.send_signal(signal.SIGCONT)
            assert "result" in relay.ask(LIST_TOOLS)


@pytest.mark.usefixtures("hasty")
def test_a_server_that_takes_long_over_a_call_is_waited_for(root: Path) -> None:
    asked: list[bytes] = []

    def answer(body: bytes) -> bytes:
        asked.append(body)
        if body == LIST_TOOLS:
            while len(asked) < 4:  # it is looked after thrice meanwhile
                time.sleep(0.01)
        return reply(b'{"jsonrpc": "2.0", "id": 7, "result": {"tools": []}}')

    with standing_in(root / "home", answer) as server:
        running = Running(1, "127.0.0.1", server.port, __version__, "then")
        with closing(Told(running)) as relay:
            assert "result" in relay.ask(LIST_TOOLS)
    assert asked.count(LIST_TOOLS) == 1


def test_a_request_that_did_not_arrive_in_time_is_sent_again(root: Path) -> None:
    answers = iter(
        (reply(b"{}", 408), reply(b'{"jsonrpc": "2.0", "id": 7, "result": {"tools": []}}'))
    )
    with standing_in(root / "home", lambda _body: next(answers)) as server:
        running = Running(1, "127.0.0.1", server.port, __version__, "then")
        with closing(Told(running)) as relay:
            assert "result" in relay.ask(LIST_TOOLS)


@pytest.mark.parametrize("handshake", [True, False])
def test_a_home_that_nobody_can_serve_any_more_is_told_so(root: Path, *, handshake: bool) -> None:
    # The client's own settings, which nobody looked at while a server was there, are of no use.
    with up(root) as server, serve(root, greet=handshake, HEADWAY_GATES="perhaps") as client:
        assert "result" in client.ask(LIST_TOOLS)
        server.kill()
        assert failure(client.ask(LIST_TOOLS))["code"] == "SERVER_GONE"
        assert client.leave() == 0


# A door with a guard.


@pytest.fixture
def token_file(root: Path) -> Path:
    file = root / "token"
    file.write_text(f"{TOKEN}\n", "utf-8")
    return file


def test_the_token_in_the_server_s_file_is_found_through_its_lock(
    root: Path, token_file: Path
) -> None:
    with up(root, "--token-file", str(token_file)), serve(root) as client:
        assert "result" in client.ask(LIST_TOOLS)
        assert client.log() == ""
    assert TOKEN not in (root / "home" / "server.lock").read_text("utf-8")


def test_a_token_of_the_client_s_own_goes_before_that_file(root: Path, token_file: Path) -> None:
    with up(root, "--token-file", str(token_file)):
        token_file.unlink()
        with serve(root, HEADWAY_TOKEN=TOKEN) as client:
            assert "result" in client.ask(LIST_TOOLS)


@pytest.mark.parametrize("token", ["", "another-token-than-the-server-has", "mit Umlaut: ä"])
def test_without_the_right_token_the_client_is_told_where_it_belongs(
    guarded: Path, token: str
) -> None:
    with serve(guarded, greet=False, HEADWAY_TOKEN=token) as client:
        told = failure(client.ask(LIST_TOOLS))
        assert told["code"] == "UNAUTHORIZED"
        assert "HEADWAY_TOKEN" in str(told["remedy"])


# A door that changed.


def test_a_server_that_agrees_to_another_version_of_the_protocol_is_not_asked_on(
    root: Path,
) -> None:
    versions = iter(["2025-06-18", "2025-03-26"])

    def answer(body: bytes) -> bytes:
        if b'"initialize"' in body:
            result = {"protocolVersion": next(versions), "capabilities": {}}
            agreed = {"jsonrpc": "2.0", "id": 0, "result": result}
            return reply(json.dumps(agreed).encode(), session="s")
        return reply(b"", 404 if b"tools/list" in body else 202)

    with standing_in(root / "other", answer), serve(root, HEADWAY_HOME=str(root / "other")) as one:
        told = failure(one.ask(LIST_TOOLS))
        assert told["code"] == "PROTOCOL_CHANGED"
        assert "2025-06-18" in str(told["message"])


@pytest.mark.parametrize(
    ("setting", "text"),
    [("gates", "enforce"), ("path", "/elsewhere")],
)
def test_settings_that_do_not_count_beside_the_server_s_are_told_in_the_log(
    plain: Path, setting: str, text: str
) -> None:
    name = NAMES[setting]
    with serve(plain, greet=True, **{name: text}) as client:
        assert "result" in client.ask(LIST_TOOLS)
        assert client.leave() == 0
        assert client.log().count(f"{name} is") == 1
        assert client.log().count("\n") == 1


def test_settings_that_mean_what_the_server_has_are_not_worth_a_word(plain: Path) -> None:
    path = f"~/files{os.pathsep}"
    with serve(plain, HEADWAY_GATES=" Advisory", HEADWAY_WORKFLOW_PATH=path) as client:
        assert client.leave() == 0
        assert client.log() == ""


# A door that is gone, and opens again.


def children(client: Served) -> list[int]:
    """Return the processes that a relay started and that live."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    parent = str(client.process.pid)
    return [int(pid) for pid, of, state in rows if of == parent and not state.startswith("Z")]


def wait_until_alone(client: Served) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while children(client):
        assert time.monotonic() < deadline, "the process that stood in is still there"


@contextmanager
def served_in_process(root: Path) -> Iterator[tuple[Served, Json]]:
    """Yield a client whose server has gone for good, and the token that is open."""
    with up(root) as server, serve(root) as client:
        begun = client.start(root / "work", "three-steps")
        server.kill()
        second = client.advance(begun["continueToken"])
        yield client, second["continueToken"]


def test_a_call_is_answered_when_the_process_that_stood_in_died(root: Path) -> None:
    with served_in_process(root) as (client, token):
        (before,) = children(client)
        os.kill(before, signal.SIGKILL)
        assert step_of(client.advance(token)) == "s3"
        (now,) = children(client)
        assert now != before


def test_a_server_that_comes_late_is_gone_back_to(root: Path) -> None:
    with served_in_process(root) as (client, token), up(root):
        assert step_of(client.advance(token)) == "s3"
        assert "going back to it" in client.log()
        wait_until_alone(client)


def test_a_question_that_is_open_is_answered_before_going_back(root: Path) -> None:
    (root / "files" / "gated.json").write_text(json.dumps(GATED), "utf-8")
    server = up(root, HEADWAY_GATES="enforce")
    with server as first, serve(root, greet=False, HEADWAY_GATES="enforce") as client:
        client.shake_hands(elicitation={})
        begun = client.start(root / "work", "gated")
        first.kill()
        call = client.post(
            "continue_workflow",
            continueToken=begun["continueToken"],
            output={"notesMarkdown": "The plan."},
        )
        question = client.receive()
        assert question["method"] == "elicitation/create"
        with up(root, HEADWAY_GATES="enforce"):
            answer = client.ask(LIST_TOOLS)
            assert answer["id"] == 7
            content: JsonObject = {"action": "accept", "content": {"decision": "approve"}}
            client.send(
                json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": content}).encode()
            )
            assert step_of(client.result(call)) == "build"


# A question to the client's user.


def test_a_gate_is_put_before_the_client_s_user_in_the_newer_era(root: Path) -> None:
    (root / "files" / "gated.json").write_text(json.dumps(GATED), "utf-8")
    meta = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}

    def call(client: Served, tool: str, **more: Json) -> dict[str, Json]:
        answer = client.ask(message("tools/call", {"name": tool, "_meta": meta, **more}, 1))
        result = answer["result"]
        assert isinstance(result, dict)
        return result

    with up(root, HEADWAY_GATES="enforce"), serve(root, greet=False) as client:
        start: JsonObject = {
            "workflowId": "gated",
            "workspacePath": str(root / "work"),
            "goal": "Try it",
        }
        begun = call(client, "start_workflow", arguments=start)["structuredContent"]
        assert isinstance(begun, dict)
        arguments: JsonObject = {
            "continueToken": begun["continueToken"],
            "output": {"notesMarkdown": "The plan."},
        }
        asked = call(client, "continue_workflow", arguments=arguments)
        assert asked["resultType"] == "input_required"
        requests = asked["inputRequests"]
        assert isinstance(requests, dict)
        answers: JsonObject = {
            name: {"action": "accept", "content": {"decision": "approve"}} for name in requests
        }
        again: dict[str, Json] = {"arguments": arguments, "inputResponses": answers}
        if "requestState" in asked:
            again["requestState"] = asked["requestState"]
        decided = call(client, "continue_workflow", **again)["structuredContent"]
        assert isinstance(decided, dict)
        assert step_of(decided) == "build"

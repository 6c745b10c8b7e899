"""MCP over HTTP: both eras side by side, many clients at once, and whatever a client may send."""

import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import CallToolResult

from headway.domain.values import Json, JsonObject
from headway.mcp.http import INLINE_BYTES_MAX
from headway.mcp.refusals import BODY_BYTES_MAX
from tests.support.patience import SECONDS_MAX
from tests.support.up import (
    ENVELOPE,
    FORM,
    HANDSHAKE_VERSION,
    MODERN_VERSION,
    Up,
    call,
    head,
    message,
    structured,
    told,
    up,
)

ROOT = Path(__file__).parents[2]
CLIENTS = 16
STEPS = 3
MODES = ["legacy", MODERN_VERSION, "auto"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("http")


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[Up]:
    with up(root) as server:
        yield server


def modern(method: str, name: str = "", version: str = MODERN_VERSION) -> dict[str, str]:
    """Return the headers of a request of the newer era."""
    named = {"mcp_name": name} if name else {}
    return {"mcp_protocol_version": version, "mcp_method": method, **named}


def enveloped(method: str, params: JsonObject) -> dict[str, Json]:
    return message(method, {**params, "_meta": ENVELOPE})


def content(result: CallToolResult) -> dict[str, Json]:
    assert not result.is_error
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
async def test_the_library_s_client_follows_a_workflow(served: Up, root: Path, mode: str) -> None:
    async with Client(f"{served.url}/mcp", mode=mode) as client:
        if mode != MODERN_VERSION:  # a client that takes the version for granted asks for nothing
            assert client.instructions is not None
            assert "continue_workflow" in client.instructions
        tools = (await client.list_tools()).tools
        assert len(tools) == 7
        assert all(tool.output_schema for tool in tools)
        start = {"workflowId": "three-steps", "workspacePath": str(root / "work"), "goal": "Try it"}
        answer = content(await client.call_tool("start_workflow", start))
        for _ in range(STEPS):
            arguments = {
                "continueToken": answer["continueToken"],
                "intent": "advance",
                "output": {"notesMarkdown": "done"},
            }
            answer = content(await client.call_tool("continue_workflow", arguments))
        assert answer["isComplete"] is True
        refused = await client.call_tool("continue_workflow", {"continueToken": "ct_none"})
        assert refused.is_error


def test_a_session_is_carried_on_across_the_eras(served: Up, root: Path) -> None:
    first = served.start(root / "work")
    arguments: JsonObject = {
        "continueToken": first["continueToken"],
        "intent": "advance",
        "output": {"notesMarkdown": "done"},
    }
    params: JsonObject = {"name": "continue_workflow", "arguments": arguments}
    headers = modern("tools/call", "continue_workflow")
    status, answer = served.send(enveloped("tools/call", params), **headers)
    assert status == 200
    result = answer["result"]
    assert isinstance(result, dict)
    assert result["resultType"] == "complete"
    assert structured(answer) == served.advance(first["continueToken"])


def test_a_handshake_leaves_no_session_that_could_be_lost(served: Up) -> None:
    greeting: JsonObject = {
        "protocolVersion": HANDSHAKE_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    with closing(http.client.HTTPConnection("127.0.0.1", served.port)) as client:
        body = json.dumps(message("initialize", greeting))
        client.request("POST", "/mcp", body, FORM)
        response = client.getresponse()
        answer = json.loads(response.read())
        assert answer["result"]["protocolVersion"] == HANDSHAKE_VERSION
        assert response.getheader("mcp-session-id") is None
        assert response.getheader("content-type") == "application/json"
    # A client that still holds the id a server before this one gave is answered as any other.
    status, _ = served.send(message("ping", {}), mcp_session_id="from-another-life")
    assert status == 200


def test_a_notification_is_taken_without_an_answer(served: Up) -> None:
    note: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert served.send(note) == (202, {})
    assert served.send(note, mcp_protocol_version=MODERN_VERSION) == (202, {})


def test_many_clients_at_once_each_finish_their_session(served: Up, root: Path) -> None:
    def follow(_number: int) -> bool:
        answer = served.start(root / "work")
        for _ in range(STEPS):
            answer = served.advance(answer["continueToken"])
        return answer["isComplete"] is True

    with ThreadPoolExecutor(CLIENTS) as clients:
        assert all(clients.map(follow, range(CLIENTS)))


def test_calls_at_once_on_one_session_queue_and_get_one_answer(served: Up, root: Path) -> None:
    token = served.start(root / "work")["continueToken"]
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(lambda _: served.advance(token), range(CLIENTS)))
    assert answers[0]["kind"] == "ok"
    assert all(answer == answers[0] for answer in answers)


BODIES: dict[str, tuple[bytes, str]] = {
    "not json": (b"{", "FRAME_NOT_JSON"),
    "empty": (b"", "FRAME_NOT_JSON"),
    "a batch": (b"[]", "FRAME_NOT_A_REQUEST"),
    "a key twice": (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}',
        "FRAME_DUPLICATE_KEY",
    ),
    "bad utf-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', "FRAME_NOT_UTF8"),
    "half a pair": (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', "FRAME_LONE_SURROGATE"),
    "too deep": (b"[" * 100_000 + b"]" * 100_000, "FRAME_TOO_DEEP"),
    "a call of nothing": (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}',
        "FRAME_NOT_A_CALL",
    ),
    "large and wrong": (b" " * INLINE_BYTES_MAX + b"{", "FRAME_NOT_JSON"),
}


@pytest.mark.parametrize("headers", [{}, modern("ping")], ids=["handshake", "modern"])
@pytest.mark.parametrize(("body", "code"), BODIES.values(), ids=BODIES)
def test_a_body_that_means_nothing_certain_is_refused(
    served: Up, body: bytes, code: str, headers: dict[str, str]
) -> None:
    status, answer = served.post(body, **headers)
    assert status == 400
    assert told(answer)["code"] == code


def test_a_body_over_the_limit_is_refused_before_it_is_read(served: Up) -> None:
    with served.connect() as client:
        announced = f"content-length: {BODY_BYTES_MAX + 1}\r\ncontent-type: application/json"
        client.sendall(f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{announced}\r\n\r\n".encode())
        answer = http.client.HTTPResponse(client, method="POST")
        answer.begin()
        body = answer.read()
    assert answer.status == 413
    assert told(json.loads(body))["code"] == "FRAME_TOO_LARGE"
    assert served.get("/healthz")[0] == 200


@pytest.mark.parametrize("protocol", ["h2c", "websocket"])
def test_an_offer_to_speak_another_protocol_is_passed_over(served: Up, protocol: str) -> None:
    offer = {"connection": "Upgrade, HTTP2-Settings", "Upgrade": protocol, "http2-settings": "AAQA"}
    status, answer = served.send(
        message("ping", {}), mcp_protocol_version=HANDSHAKE_VERSION, **offer
    )
    assert (status, answer["result"]) == (200, {})


def test_what_is_not_a_post_of_json_is_refused(served: Up) -> None:
    for method in ("GET", "DELETE", "PUT"):
        status, answer = served.ask(method, "/mcp", b"", FORM)
        assert (status, told(answer)["code"]) == (405, "METHOD_NOT_ALLOWED")
    status, answer = served.post(b"{}", content_type="text/plain")
    assert (status, told(answer)["code"]) == (415, "MEDIA_TYPE_UNSUPPORTED")
    status, answer = served.post(b"{}", accept="text/html")
    assert (status, told(answer)["code"]) == (406, "NOT_ACCEPTABLE")


def test_an_unknown_version_is_told_which_ones_there_are(served: Up) -> None:
    status, answer = served.send(message("ping", {}), mcp_protocol_version="1999-01-01")
    data = told(answer)
    assert (status, data["code"]) == (400, "PROTOCOL_VERSION_UNSUPPORTED")
    assert data["requested"] == "1999-01-01"
    supported = data["supported"]
    assert isinstance(supported, list)
    assert {HANDSHAKE_VERSION, MODERN_VERSION} <= set(supported)


def test_an_unknown_method_is_refused_in_both_eras(served: Up) -> None:
    status, answer = served.send(message("no/such", {}))
    assert (status, told(answer)["code"]) == (200, "METHOD_NOT_FOUND")
    status, answer = served.send(enveloped("no/such", {}), **modern("no/such"))
    assert (status, told(answer)["code"]) == (404, "METHOD_NOT_FOUND")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        (modern("tools/call", "list_workflows"), "HEADER_MISMATCH"),
        (modern("ping", "continue_workflow"), "HEADER_MISMATCH"),
        ({}, "HEADER_MISMATCH"),
    ],
    ids=["another name", "another method", "no headers"],
)
def test_headers_that_disagree_with_the_body_are_refused(
    served: Up, headers: dict[str, str], code: str
) -> None:
    params: JsonObject = {"name": "continue_workflow", "arguments": {"continueToken": "ct_x"}}
    status, answer = served.send(enveloped("tools/call", params), **headers)
    assert (status, told(answer)["code"]) == (400, code)


def test_a_request_of_the_newer_era_without_its_envelope_is_refused(served: Up) -> None:
    request = call("list_workflows", {})
    status, answer = served.send(request, **modern("tools/call", "list_workflows"))
    assert (status, told(answer)["code"]) == (400, "FRAME_BAD_PARAMS")


def test_a_routing_header_given_twice_is_refused(served: Up) -> None:
    body = json.dumps(enveloped("ping", {})).encode()
    with closing(http.client.HTTPConnection("127.0.0.1", served.port)) as client:
        client.putrequest("POST", "/mcp")
        for name, text in {**FORM, "mcp-protocol-version": MODERN_VERSION}.items():
            client.putheader(name, text)
        client.putheader("mcp-method", "ping")
        client.putheader("Mcp-Method", "ping")
        client.putheader("content-length", str(len(body)))
        client.endheaders(body)
        answer = json.loads(client.getresponse().read())
    assert told(answer)["code"] == "HEADER_MISMATCH"


def test_arguments_are_judged_as_on_stdio(served: Up) -> None:
    status, answer = served.send(call("start_workflow", {"workflow": "three-steps"}))
    assert status == 200
    fault = structured(answer)
    assert fault["code"] == "VALIDATION_ERROR"
    assert "workflowId" in json.dumps(fault["details"])


@contextmanager
def serve_by_rote() -> Iterator[Up]:
    """Serve verbs that wait for one another, break, and answer what cannot be written."""
    script = [sys.executable, "-m", "tests.support.rote_http_server"]
    with subprocess.Popen(
        script, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield Up(process, {"port": port, "url": f"http://127.0.0.1:{port}"}, Path("/dev/null"))
        process.kill()


@pytest.fixture(scope="module")
def rote() -> Iterator[Up]:
    with serve_by_rote() as server:
        yield server


def test_a_call_that_does_not_end_holds_the_end_no_longer_than_a_second_signal() -> None:
    waiting = json.dumps(call("continue_workflow", {"continueToken": "st_wait"})).encode()
    with serve_by_rote() as server, server.connect() as client:
        client.sendall(head(waiting) + waiting)
        assert server.get("/healthz")[0] == 200  # by now the call was read
        server.process.terminate()
        server.wait_until_refused()
        asked = time.monotonic()
        assert server.stop(signal.SIGINT) == 0
        assert time.monotonic() - asked < SECONDS_MAX / 2


def test_calls_run_side_by_side(rote: Up) -> None:
    with ThreadPoolExecutor(2) as clients:
        waiting = clients.submit(rote.call, "continue_workflow", continueToken="st_wait")
        assert rote.call("continue_workflow", continueToken="st_go")["kind"] == "ok"
        assert waiting.result(SECONDS_MAX)["kind"] == "ok"


def test_a_bug_is_told_without_its_insides(rote: Up) -> None:
    arguments: JsonObject = {"workflowId": "secret-detail", "workspacePath": "/w"}
    status, answer = rote.send(call("inspect_workflow", arguments))
    assert (status, structured(answer)["code"]) == (200, "INTERNAL_ERROR")
    assert "secret-detail" not in json.dumps(answer)


def test_an_answer_that_cannot_be_written_is_an_error_not_a_silence(rote: Up) -> None:
    status, answer = rote.send(call("continue_workflow", {"continueToken": "st_surrogate"}))
    assert (status, told(answer)["code"]) == (200, "INTERNAL_ERROR")

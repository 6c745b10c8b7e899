"""What `headway up` does with clients that begin a request and do not end it.

The server is a real one that waits seconds where another waits a minute.
"""

import json
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from headway.domain.values import Json
from tests.support.living import eventually
from tests.support.up import Up, call, hasty_up, head, prepare, structured

CONNECTIONS = 300
BODY = json.dumps(call("list_workflows", {"workspacePath": "/"})).encode()
CHUNKED = head(b"").replace(b"content-length: 0", b"transfer-encoding: chunked")
RUN = "run_aaaaaaaaaaaaaaaaaaaaaaaaaa"
CHECKED = {
    "id": "checked",
    "name": "Checked",
    "description": "One step with a check.",
    "version": "1.0.0",
    "steps": [
        {
            "id": "fix",
            "title": "Fix",
            "prompt": "Fix it.",
            "checks": [{"id": "slow", "run": "touch begun; until [ -e go ]; do sleep 0.05; done"}],
        }
    ],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slow")


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[Up]:
    with hasty_up(root) as server:
        yield server


def to(path: str) -> bytes:
    return head(BODY).replace(b"/mcp", path.encode(), 1)


UNFINISHED = {
    "line": b"POST /m",
    "head": head(BODY)[:40],
    "mcp: nothing of the body": head(BODY),
    "mcp: part of the body": head(BODY) + BODY[:9],
    "mcp: part of a chunk": CHUNKED + b"20\r\nabc",
    "runs": to("/v1/runs") + b"{",
    "steer": to(f"/v1/runs/{RUN}/steer") + b"{",
    "an upgrade": head(BODY)[:-2] + b"connection: upgrade\r\nupgrade: h2",
    "the second of a connection": head(BODY) + BODY + head(BODY) + BODY[:9],
    "blank lines": b"\r\n\r\n",
}


def test_requests_that_do_not_end_are_told_so_and_their_connections_closed(served: Up) -> None:
    with ExitStack() as opened:
        clients = {name: opened.enter_context(served.connect()) for name in UNFINISHED}
        for name, sent in UNFINISHED.items():
            clients[name].sendall(sent)
        assert [name for name, client in clients.items() if not is_given_up(client)] == []


@pytest.mark.parametrize("begun", [b"", head(BODY)], ids=["head", "body"])
def test_a_request_that_trickles_is_given_up_as_one_that_stands_still(
    served: Up, begun: bytes
) -> None:
    with served.connect() as client:
        client.sendall(begun)
        for each in head(BODY) + BODY:
            client.sendall(bytes([each]))
            if select.select((client,), (), (), 0.05)[0]:
                break
        assert is_given_up(client)


def test_many_that_do_not_end_are_all_given_up_and_keep_nobody_else_waiting(
    served: Up, root: Path
) -> None:
    with ExitStack() as opened:
        clients = [opened.enter_context(served.connect()) for _ in range(CONNECTIONS)]
        for client in clients:
            client.sendall(head(BODY) + BODY[:9])
        token = served.start(root / "work")["continueToken"]
        assert served.advance(token)["kind"] == "ok"
        for client in clients:
            assert is_given_up(client)


def test_what_was_answered_before_it_was_whole_is_closed_without_another_answer(
    served: Up,
) -> None:
    with served.connect() as client:
        client.sendall(to("/healthz").replace(b"POST", b"GET", 1) + BODY[:9])
        assert [told for told, _ in answers(client)] == [200]


def test_a_connection_is_not_kept_for_a_client_that_says_nothing(served: Up) -> None:
    with served.connect() as client:
        assert client.recv(1) == b""


def test_nor_for_one_that_says_nothing_after_a_body_that_nobody_read(served: Up) -> None:
    with served.connect() as client:
        client.sendall(to("/healthz"))
        received = client.recv(65536)
        with suppress(OSError):  # on a machine that is slow enough it is closed by now
            client.sendall(BODY)
        received += rest(client)
        assert [told for told, _ in split(received)] == [405]


@pytest.mark.parametrize("part", [40, len(head(BODY)) + 9], ids=["head", "body"])
def test_a_call_may_take_long_and_so_may_the_next_request_of_its_connection_meanwhile(
    tmp_path: Path, part: int
) -> None:
    work = prepare(tmp_path)
    (tmp_path / "files" / "checked.json").write_text(json.dumps(CHECKED))
    with hasty_up(tmp_path, HEADWAY_CHECKS="run") as server, server.connect() as client:
        handed_in = {
            "continueToken": server.start(work, "checked")["continueToken"],
            "intent": "advance",
            "output": {"notesMarkdown": "done"},
        }
        waiting = json.dumps(call("continue_workflow", handed_in)).encode()
        following = head(BODY) + BODY
        client.sendall(head(waiting))
        assert server.get("/healthz")[0] == 200  # by now the head was read, and its time runs
        client.sendall(waiting + following[:part])
        eventually((work / "begun").exists)
        with server.connect() as other:  # by its end, another's time has passed
            other.sendall(head(BODY))
            assert is_given_up(other)
        client.sendall(following[part:])
        (work / "go").touch()
        (first, done), (second, listed) = answers(client)
    assert (first, structured(done)["kind"]) == (200, "ok")
    assert (second, "workflows" in structured(listed)) == (200, True)


@pytest.mark.parametrize("path", ["/mcp", "/v1/runs"])
def test_a_client_that_leaves_in_the_middle_is_no_error_of_the_server(
    tmp_path: Path, path: str
) -> None:
    with hasty_up(tmp_path) as server:
        with server.connect() as client:
            client.sendall(to(path) + BODY[:9])
            assert is_given_up(client)
        with server.connect() as client:
            client.sendall(to(path) + BODY[:9])
            assert server.get("/healthz")[0] == 200  # by now the beginning was read
        assert server.stop() == 0
        assert "Traceback" not in server.log()
        assert "ERROR" not in server.log()


def is_given_up(client: socket.socket) -> bool:
    """Tell whether that is the last a client is told before the server closes."""
    status, told = answers(client)[-1]
    return (status, told.get("code"), told.get("retry")) == (
        408,
        "REQUEST_TIMEOUT",
        {"kind": "retryable_immediate"},
    )


def answers(client: socket.socket) -> list[tuple[int, dict[str, Json]]]:
    """Return status and content of all that is answered until the server closes."""
    return split(rest(client))


def rest(client: socket.socket) -> bytes:
    received = b""
    with suppress(ConnectionResetError):  # a byte was under way when it was closed
        while chunk := client.recv(65536):
            received += chunk
    return received


def split(received: bytes) -> list[tuple[int, dict[str, Json]]]:
    found = []
    while received:
        first, _, received = received.partition(b"\r\n\r\n")
        line, *fields = first.decode().split("\r\n")
        named = dict(field.split(": ", 1) for field in fields)
        length = int(named["content-length"])
        found.append((int(line.split()[1]), json.loads(received[:length])))
        received = received[length:]
    assert found
    return found

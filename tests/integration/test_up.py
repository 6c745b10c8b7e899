"""`headway up` as a process: one a home, a port, signals, and who is let in."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headway.domain.values import Json
from headway.server_lock import read_lock
from tests.support.cli_reference import documented
from tests.support.living import eventually, heeds, is_alive, runs_command
from tests.support.patience import SECONDS_MAX
from tests.support.up import (
    Up,
    call,
    command,
    environment,
    head,
    structured,
    try_up,
    up,
    up_with_worker,
)

TOKEN = "a-token-of-more-than-16-characters"
IDLE_CONNECTIONS = 1_000


@pytest.fixture(scope="module")
def home_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up")


@pytest.fixture(scope="module")
def served(home_root: Path) -> Iterator[Up]:
    with up(home_root) as server:
        yield server


def test_it_says_where_it_serves_and_so_does_the_lock(served: Up, home_root: Path) -> None:
    running = read_lock(home_root / "home")
    assert running is not None
    assert (running.pid, running.port) == (served.process.pid, served.port)
    assert running.url == served.url
    assert served.get("/healthz") == (200, {"status": "ok"})
    status, about = served.get("/v1/version")
    assert status == 200
    assert about["name"] == "headway"
    assert (about["version"], about["startedAt"]) == (running.version, running.started_at)


def test_a_person_is_told_where_it_serves_and_how_to_stop_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("--port", "0"), env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = "".join(process.stdout.readline() for _ in range(5))
        process.terminate()
        assert process.wait(SECONDS_MAX) == 0
    assert str(tmp_path / "home") in said
    assert re.search(r"http://127\.0\.0\.1:\d+/mcp", said)
    assert re.search(r"http://127\.0\.0\.1:\d+/v1/runs; no worker is begun; headway worker", said)
    assert f"kill {process.pid}" in said


def test_json_says_where_runs_are_and_whether_a_worker_drives_them(
    served: Up, tmp_path: Path
) -> None:
    assert served.said["worker"] is False
    assert set(served.said) == documented("up")
    with up_with_worker(tmp_path) as server:
        assert server.said["worker"] is True
        path = str(server.said["runs"]).removeprefix(server.url)
        assert server.get(path)[0] == 200


def test_while_its_worker_drains_the_doctor_says_that_it_is_stopping(tmp_path: Path) -> None:
    with up_with_worker(tmp_path) as server:
        worker = its_worker(server)
        os.kill(worker, signal.SIGSTOP)
        try:
            server.process.send_signal(signal.SIGTERM)
            while _listens(server.port):
                time.sleep(0.01)
            looked = [
                subprocess.run(
                    [sys.executable, "-m", "headway", word],
                    env=environment(tmp_path),
                    capture_output=True,
                    text=True,
                    timeout=SECONDS_MAX,
                    check=False,
                ).stdout
                for word in ("doctor", "status")
            ]
        finally:
            os.kill(worker, signal.SIGCONT)
        assert server.process.wait(SECONDS_MAX) == 0
    for told in looked:
        words = " ".join(told.split())  # wherever a line ends
        assert "is stopping" in words
        assert "does not answer" not in words


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_a_second_server_on_a_home_is_refused_and_told_where_the_first_is(
    served: Up, home_root: Path
) -> None:
    before = sorted(path.name for path in (home_root / "home").iterdir())
    second = try_up(home_root)
    assert second.returncode == 1
    assert "ALREADY_SERVED" in second.stderr
    assert served.url in second.stderr
    assert str(served.process.pid) in second.stderr
    assert sorted(path.name for path in (home_root / "home").iterdir()) == before
    assert served.get("/healthz")[0] == 200


def test_a_taken_port_moves_on_to_the_next_free_one(tmp_path: Path) -> None:
    with ExitStack() as both:
        first = both.enter_context(up(tmp_path / _made(tmp_path, "one"), port=None))
        second = both.enter_context(up(tmp_path / _made(tmp_path, "two"), port=None))
        assert first.port != second.port
        assert {first.port, second.port} <= set(range(7430, 7450))
        assert second.get("/healthz")[0] == 200


def test_a_taken_port_that_was_asked_for_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        ended = try_up(tmp_path, "--port", str(holder.getsockname()[1]))
    assert ended.returncode == 1
    assert "PORT_TAKEN" in ended.stderr
    assert "--port 0" in ended.stderr
    assert not (tmp_path / "home" / "headway.db").exists()


def test_host_and_port_can_be_settings(tmp_path: Path) -> None:
    with up(tmp_path, port=None, HEADWAY_HOST="localhost", HEADWAY_PORT="0") as server:
        assert server.said["host"] == "localhost"
        assert server.get("/healthz")[0] == 200


def test_an_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    ended = try_up(tmp_path, "--host", "192.0.2.1", HEADWAY_TOKEN=TOKEN)
    assert ended.returncode == 1
    assert "ADDRESS_UNUSABLE" in ended.stderr


def test_a_home_that_cannot_be_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", "utf-8")
    ended = try_up(tmp_path)
    assert ended.returncode == 1
    assert "HOME_UNUSABLE" in ended.stderr


def test_more_than_loopback_needs_a_token(tmp_path: Path) -> None:
    ended = try_up(tmp_path, "--host", "0.0.0.0")  # noqa: S104
    assert ended.returncode == 1
    assert "TOKEN_NEEDED" in ended.stderr
    assert "--token-file" in ended.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("secret", ["short", "with spaces in the middle of it", ""])
def test_a_weak_token_is_refused_without_being_repeated(tmp_path: Path, secret: str) -> None:
    (tmp_path / "token").write_text(secret, "utf-8")
    ended = try_up(tmp_path, "--token-file", str(tmp_path / "token"))
    assert ended.returncode == 1
    assert "at least 16" in ended.stderr
    assert not secret or secret not in ended.stderr


@pytest.mark.parametrize("way", ["file", "setting"])
def test_with_a_token_only_its_bearer_is_answered(tmp_path: Path, way: str) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n", "utf-8")
    words = ("--token-file", str(tmp_path / "token")) if way == "file" else ()
    more = {"HEADWAY_TOKEN": TOKEN} if way == "setting" else {}
    with up(tmp_path, "--host", "0.0.0.0", *words, **more) as server:  # noqa: S104
        assert server.get("/healthz")[0] == 200
        for wrong in ({}, {"authorization": "Bearer nonsense"}, {"authorization": TOKEN}):
            status, answer = server.get("/v1/version", **wrong)
            assert (status, answer["code"]) == (401, "UNAUTHORIZED")
        right = {"authorization": f"Bearer {TOKEN}"}
        assert server.get("/v1/version", **right)[0] == 200
        status, answer = server.send(call("list_workflows", {}), **right)
        assert (status, structured(answer)["code"]) == (200, "VALIDATION_ERROR")
        assert server.send(call("list_workflows", {}))[0] == 401
        assert TOKEN not in server.log() + json.dumps(server.said)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:7430"},
        {"host": ""},
        {"host": "[::1"},
        {"host": "evil.example@127.0.0.1"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "file://localhost"},
        {"origin": "http://["},
        {"origin": "http://localhost.evil.example"},
    ],
    ids=lambda headers: "-".join([*headers, *headers.values()]),
)
def test_a_foreign_host_or_origin_is_refused(served: Up, headers: dict[str, str]) -> None:
    for path in ("/healthz", "/v1/version"):
        status, answer = served.get(path, **headers)
        assert status == 403
        assert answer["code"] == f"{next(iter(headers)).upper()}_NOT_ALLOWED"
    status, answer = served.send(call("list_workflows", {}), **headers)
    assert status == 403
    assert served.get("/healthz", origin="http://localhost:6274")[0] == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
    ],
    ids=["nonsense", "two lengths", "a chunk without a length"],
)
def test_bytes_that_are_no_http_are_answered_with_a_code(served: Up, sent: bytes) -> None:
    with served.connect() as connection:
        connection.sendall(sent)
        told = _answer(connection)
    assert told["code"] == "NOT_HTTP"
    assert "Content-Length" in json.dumps(told["details"])
    assert served.get("/healthz")[0] == 200


def test_what_is_not_there_is_said_with_what_is(served: Up) -> None:
    status, answer = served.get("/nowhere")
    assert (status, answer["code"]) == (404, "NOT_FOUND")
    assert "/healthz" in json.dumps(answer["details"])
    status, answer = served.ask("POST", "/healthz", b"", {})
    assert (status, answer["code"]) == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_with_nothing_left_behind(tmp_path: Path, sign: signal.Signals) -> None:
    with up(tmp_path) as server:
        server.start(tmp_path / "work")
        assert server.stop(sign) == 0
    home = tmp_path / "home"
    assert read_lock(home) is None
    assert not (home / "server.lock").exists()
    assert not (home / "headway.db-wal").exists()  # the store was closed, not dropped


def test_a_call_in_flight_gets_its_answer_while_new_ones_are_refused(tmp_path: Path) -> None:
    with up(tmp_path) as server:
        token = server.start(tmp_path / "work")["continueToken"]
        output = {"notesMarkdown": "done"}
        arguments = {"continueToken": token, "intent": "advance", "output": output}
        body = json.dumps(call("continue_workflow", arguments)).encode()
        with server.connect() as slow:
            slow.sendall(head(body) + body[:40])
            assert server.get("/healthz")[0] == 200  # by now the beginning was read
            server.process.terminate()
            server.wait_until_refused()
            slow.sendall(body[40:])
            answer = _answer(slow)
        assert server.process.wait(SECONDS_MAX) == 0
        assert structured(answer)["kind"] == "ok"
    with up(tmp_path) as again:
        assert again.advance(token) == structured(answer)


def test_a_client_that_never_ends_its_request_holds_the_end_no_longer_than_a_second_signal(
    tmp_path: Path,
) -> None:
    with up(tmp_path) as server, server.connect() as slow:
        slow.sendall(head(b"x" * 100) + b"x")
        assert server.get("/healthz")[0] == 200
        server.process.terminate()
        server.wait_until_refused()
        assert server.stop(signal.SIGINT) == 0


def test_after_a_kill_the_next_start_goes_on_where_it_was(tmp_path: Path) -> None:
    with up(tmp_path) as server:
        token = server.start(tmp_path / "work")["continueToken"]
        second = server.advance(token)
        server.kill()
    assert (tmp_path / "home" / "server.lock").exists()
    assert read_lock(tmp_path / "home") is None
    with up(tmp_path) as again:
        assert again.advance(token) == second
        assert again.advance(second["continueToken"])["kind"] == "ok"


def test_a_thousand_idle_connections_and_one_that_never_reads_stop_nobody(
    served: Up, home_root: Path
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with ExitStack() as opened:
            for _ in range(min(IDLE_CONNECTIONS, hard - 200)):
                opened.enter_context(served.connect())
            deaf = opened.enter_context(served.connect())
            listing = json.dumps(call("list_workflows", {"workspacePath": str(home_root)})).encode()
            deaf.settimeout(0)
            _fill(deaf, head(listing) + listing)
            half = opened.enter_context(served.connect())
            half.sendall(head(listing)[:20])
            assert served.start(home_root / "work")["pending"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_help_tells_the_exit_codes(tmp_path: Path) -> None:
    ended = try_up(tmp_path, "--help")
    assert ended.returncode == 0
    assert "Exit codes:" in ended.stdout
    assert try_up(tmp_path, "--port", "70000").returncode == 2


def _made(root: Path, name: str) -> str:
    (root / name).mkdir()
    return name


def _answer(connection: socket.socket) -> dict[str, Json]:
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    answer = json.loads(received.partition(b"\r\n\r\n")[2])
    assert isinstance(answer, dict)
    return answer


def _fill(connection: socket.socket, request: bytes) -> None:
    """Send requests until the other side takes no more of them: its answers have nowhere to go."""
    waited, rest = 0, b""
    while waited < 3:
        rest = rest or request * 200
        try:
            rest = rest[connection.send(rest) :]  # the next one begins where this one ended
        except BlockingIOError:
            waited += 1
            time.sleep(0.1)


def test_it_begins_a_worker_of_its_own_and_another_when_that_dies(tmp_path: Path) -> None:
    with up_with_worker(tmp_path) as server:
        first = its_worker(server)
        os.kill(first, signal.SIGKILL)
        second = its_worker(server, but=first)
        assert server.get("/healthz")[0] == 200
        assert "another begins in 1 s" in server.log()
        assert server.stop() == 0
        assert not Path(f"/proc/{second}").exists(), "it was told to stop, and did"


def test_its_worker_ends_by_itself_when_the_server_is_killed(tmp_path: Path) -> None:
    with up_with_worker(tmp_path) as server:
        worker = its_worker(server)
        server.kill()
        eventually(lambda: not is_alive(worker))


def its_worker(server: Up, but: int = 0) -> int:
    """Wait for the worker process that a server has begun, other than `but`."""
    children = Path(f"/proc/{server.process.pid}/task")
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        told = " ".join(each.read_text() for each in children.glob("*/children"))
        found = [
            pid
            for pid in map(int, told.split())
            if pid != but and runs_command(pid, "worker") and heeds(pid, signal.SIGTERM)
        ]
        if found:
            (worker,) = found
            return worker
        time.sleep(0.05)
    pytest.fail("there is no worker")

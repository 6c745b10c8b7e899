"""`headway doctor` and `headway status`: real processes on homes sound and broken."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from headway import __version__
from headway.bootstrap import DATABASE_NAME
from headway.server_lock import FILE_NAME, Running, ServerLock
from tests.support.command_line import document, environment, home_of_two, run
from tests.support.patience import SECONDS_MAX
from tests.support.unprivileged import unprivileged


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return home_of_two(tmp_path)


@contextmanager
def served(home: Path) -> Iterator[Running]:
    """Hold the lock of a home and answer its health check."""

    class Healthy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with HTTPServer(("127.0.0.1", 0), Healthy) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        running = Running(
            os.getpid(), "127.0.0.1", server.server_port, __version__, "2026-11-21T12:00:00Z"
        )
        lock = ServerLock(home)
        lock.announce(running)
        try:
            yield running
        finally:
            lock.release()
            server.shutdown()
            thread.join()


def test_the_doctor_and_the_status_make_nothing(tmp_path: Path) -> None:
    home = tmp_path / "none"
    assert run(home, "doctor").returncode == 0
    status = run(home, "status")
    assert status.returncode == 0
    assert "none yet" in status.stdout
    assert not home.exists()


@pytest.mark.parametrize(
    ("below", "told"),
    [
        ("a-file/home", "cannot be made: Not a directory"),
        ("a-file", "cannot be written: Not a directory"),
        ("sealed/deep/home", "cannot be made: Permission denied"),
        ("sealed", "cannot be written: Permission denied"),
        ("closed/deep/home", "cannot be made: Permission denied"),
        ("nowhere", "cannot be made: No such file or directory"),
        ("x" * 300, "cannot be made: File name too long"),
        ("/proc/x/y", "cannot be made: No such file or directory"),
    ],
)
def test_a_home_that_cannot_be_had_is_a_problem_with_what_to_do(
    tmp_path: Path, below: str, told: str
) -> None:
    (tmp_path / "a-file").write_text("x", "utf-8")
    (tmp_path / "sealed").mkdir(mode=0o500)
    (tmp_path / "closed").mkdir(mode=0o000)
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone" / "home")
    folder = tmp_path / below
    ran = subprocess.run(
        unprivileged(sys.executable, "-m", "headway", "doctor", "--json"),
        env=environment(folder),
        cwd=tmp_path,
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    (found,) = [each for each in json.loads(ran.stdout)["findings"] if each["part"] == "home"]
    assert (found["level"], found["told"]) == ("problem", f"{folder} {told}")
    assert "HEADWAY_HOME" in found["remedy"]


def test_a_home_without_a_session_says_how_one_is_begun(tmp_path: Path) -> None:
    home = tmp_path / "none"
    for _ in range(2):  # before there is a store, and then
        assert "`headway run` or an MCP client begins one" in run(home, "status").stdout
        assert run(home, "sessions", "list").returncode == 0
    assert home.exists()


def test_a_file_that_is_no_store_is_a_problem_and_stays_as_it_is(home: Path) -> None:
    (home / DATABASE_NAME).write_bytes(b"not a database, " * 100)
    found = document(home, "doctor", code=1)
    assert found["ok"] is False
    status = document(home, "status", code=1)
    assert status["store"] is None
    assert (home / DATABASE_NAME).read_bytes() == b"not a database, " * 100


def test_a_password_of_few_letters_does_not_spoil_the_words_it_stands_in(home: Path) -> None:
    pytest.importorskip("psycopg")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    url = "postgresql://user:{}@127.0.0.1:" + f"{port}/sessions"
    short = run(home, "doctor", HEADWAY_DATABASE_URL=url.format("on"))
    assert "***" not in short.stdout
    assert "too few to be masked" in " ".join(short.stdout.split())
    long = run(home, "doctor", HEADWAY_DATABASE_URL=url.format("running"))
    assert "Is the server *** on that host" in " ".join(long.stdout.split())


def test_the_doctor_sees_a_server_killed_before_and_one_that_answers(home: Path) -> None:
    with served(home) as running:
        status = document(home, "status")
        server = status["server"]
        assert isinstance(server, dict)
        assert (server["url"], server["answers"]) == (running.url, True)
        assert f"pid {running.pid} at {running.url} answered" in run(home, "doctor").stdout
    (home / FILE_NAME).write_text("{}", "utf-8")
    assert document(home, "status")["server"] is None


def test_a_server_that_does_not_answer_is_told_with_1(home: Path) -> None:
    lock = ServerLock(home)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        lock.announce(Running(os.getpid(), "127.0.0.1", port, __version__, "2026-11-21T12:00:00Z"))
        ran = run(home, "status")
    lock.release()
    assert ran.returncode == 1
    assert "does not answer" in ran.stdout


def test_status_counts_sessions_and_names_the_latest(home: Path) -> None:
    told = run(home, "status").stdout
    assert "sessions  2: 1 in progress, 1 complete" in told
    assert told.index("Mend the door") < told.index("Mend the roof")

"""`server.lock`: one server a home, found by whoever looks, gone with its process."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headway.mcp.relay.entry import relay_if_served
from headway.mcp.relay.relaying import Wishes
from headway.server_lock import FILE_NAME, AlreadyServed, Running, ServerLock, read_lock

RUNNING = Running(
    pid=4711,
    host="127.0.0.1",
    port=7430,
    version="1.2.3",
    started_at="2026-11-21T12:00:00Z",
    token_file="/etc/headway/token",
    settings={"HEADWAY_GATES": "enforce"},
)
HOLDER = """
import sys
from pathlib import Path
from headway.server_lock import Running, ServerLock
lock = ServerLock(Path(sys.argv[1]))
lock.announce(Running(pid=1, host="127.0.0.1", port=7439, version="0", started_at="then"))
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_server(home: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_home_without_a_server_has_none(tmp_path: Path) -> None:
    assert read_lock(tmp_path) is None
    assert read_lock(tmp_path / "not" / "there") is None


def test_a_server_that_listens_is_found_with_all_it_said(tmp_path: Path) -> None:
    lock = ServerLock(tmp_path)
    lock.announce(RUNNING)
    assert read_lock(tmp_path) == RUNNING
    lock.release()


def test_a_server_that_does_not_listen_yet_is_not_found(tmp_path: Path) -> None:
    lock = ServerLock(tmp_path)
    assert read_lock(tmp_path) is None
    lock.release()


def test_a_second_server_is_refused_and_told_where_the_first_is(tmp_path: Path) -> None:
    lock = ServerLock(tmp_path)
    lock.announce(RUNNING)
    with pytest.raises(AlreadyServed) as refused:
        ServerLock(tmp_path)
    assert refused.value.running == RUNNING
    lock.release()


def test_a_second_server_is_refused_before_the_first_listens(tmp_path: Path) -> None:
    lock = ServerLock(tmp_path)
    with pytest.raises(AlreadyServed) as refused:
        ServerLock(tmp_path)
    assert refused.value.running is None
    lock.release()


def test_a_released_home_can_be_served_again(tmp_path: Path) -> None:
    first = ServerLock(tmp_path)
    first.announce(RUNNING)
    first.release()
    assert read_lock(tmp_path) is None
    ServerLock(tmp_path).release()


def test_readers_never_stand_in_the_way_of_a_server(tmp_path: Path) -> None:
    with another_server(tmp_path) as process:
        process.kill()
        process.wait()
        stale = (tmp_path / FILE_NAME).open("rb")
        # A reader holds the shared lock it looked with, as long as it likes.
        fcntl.flock(stale, fcntl.LOCK_SH)
        lock = ServerLock(tmp_path)
        lock.announce(RUNNING)
        assert read_lock(tmp_path) == RUNNING
        lock.release()
        stale.close()


def test_what_a_killed_server_left_is_not_taken_for_a_server(tmp_path: Path) -> None:
    with another_server(tmp_path) as process:
        found = read_lock(tmp_path)
        assert found is not None
        assert found.port == 7439
        process.kill()
        process.wait()
        assert (tmp_path / FILE_NAME).exists()
        assert read_lock(tmp_path) is None
        ServerLock(tmp_path).release()


def test_the_file_is_readable_by_its_owner_alone_and_is_plain_json(tmp_path: Path) -> None:
    lock = ServerLock(tmp_path)
    lock.announce(RUNNING)
    path = tmp_path / FILE_NAME
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text("utf-8")) == {
        "pid": 4711,
        "startedAt": "2026-11-21T12:00:00Z",
        "host": "127.0.0.1",
        "port": 7430,
        "version": "1.2.3",
        "url": "http://127.0.0.1:7430",
        "tokenFile": "/etc/headway/token",
        "settings": {"HEADWAY_GATES": "enforce"},
    }
    lock.release()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:7430"),
        ("0.0.0.0", "http://127.0.0.1:7430"),  # noqa: S104
        ("::", "http://[::1]:7430"),
        ("::1", "http://[::1]:7430"),
        ("box.example", "http://box.example:7430"),
    ],
)
def test_the_address_is_one_a_client_on_this_machine_can_use(host: str, url: str) -> None:
    assert RUNNING._replace(host=host).url == url


def test_a_lock_that_cannot_be_read_leaves_the_client_to_whoever_opens_the_home(
    tmp_path: Path,
) -> None:
    (tmp_path / FILE_NAME).symlink_to(tmp_path / FILE_NAME)
    with pytest.raises(OSError, match="symbolic links"):
        read_lock(tmp_path)
    assert relay_if_served(tmp_path, Wishes()) is False


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_a_lock_of_another_user_is_not_believed(tmp_path: Path) -> None:
    lock = ServerLock(tmp_path)
    lock.announce(RUNNING)
    try:
        os.chown(tmp_path / FILE_NAME, 12_345, 12_345)
        with pytest.raises(PermissionError, match="another user wrote it"):
            read_lock(tmp_path)
        assert relay_if_served(tmp_path, Wishes()) is False
    finally:
        lock.release()

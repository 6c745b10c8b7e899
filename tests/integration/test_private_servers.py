"""The tests' own PostgreSQL: one whose process was killed is ended by the next, and no other is."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.support.crashed_runs import ROOT
from tests.support.postgres import PREFIX, require_programs

USE = """
import sys
from tests.support.postgres import require_server
print(require_server().url, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place for the folders of servers, which a server may look into."""
    require_programs()
    place = Path(tempfile.mkdtemp(prefix="pg-"))  # short: it is in the name of a socket
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


@contextmanager
def user(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Begin a process that has a server of its own until its input ends."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}  # noqa: TID251
    with subprocess.Popen(
        [sys.executable, "-c", USE],
        env={**environment, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.communicate("")


def address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def is_served(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_server_whose_process_was_killed_is_ended_by_the_next_and_one_in_use_is_not(
    folder: Path,
) -> None:
    with user(folder) as living, user(folder) as killed:
        used, left = address(living), address(killed)
        killed.kill()
        killed.wait()
        assert is_served(left)
        with user(folder) as following:
            own = address(following)
            assert [is_served(url) for url in (used, left, own)] == [True, False, True]
            assert len(list(folder.glob(f"{PREFIX}*"))) == 2
    assert list(folder.glob(f"{PREFIX}*")) == []

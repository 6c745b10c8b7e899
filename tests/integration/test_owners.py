"""Owners: which process holds a lease, and that a dead one is told from a living one."""

import os
import signal
import subprocess
import sys

import msgspec
import pytest
from msgspec.structs import replace

from headway.adapters.machine.owners import HostOwners
from headway.domain.ids import RunId, task_id
from headway.domain.runs.events import Owner
from headway.ports.owners import MARK, mark_of
from tests.support.unprivileged import unprivileged

OTHER = (
    "import msgspec; from headway.adapters.machine.owners import HostOwners;"
    "print(msgspec.json.encode(HostOwners().me()).decode(), flush=True); input()"
)


def test_this_process_is_not_gone() -> None:
    owners = HostOwners()
    me = owners.me()
    assert me.pid == os.getpid()
    assert not owners.is_gone(me)
    assert HostOwners().me() == me


def test_another_process_is_gone_once_it_has_ended_and_not_before() -> None:
    owners = HostOwners()
    with subprocess.Popen(
        [sys.executable, "-c", OTHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        other = msgspec.json.decode(process.stdout.readline(), type=Owner)
        assert not owners.is_gone(other)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert owners.is_gone(other), "dead, though its parent has not looked yet"
        process.wait()
        assert owners.is_gone(other)


def test_a_pid_that_was_used_again_is_another_process() -> None:
    owners = HostOwners()
    assert owners.is_gone(replace(owners.me(), started="1"))


def test_nothing_is_known_of_other_machines_and_of_what_a_system_does_not_tell() -> None:
    owners = HostOwners()
    me = owners.me()
    assert not owners.is_gone(replace(me, host="elsewhere"))
    assert not owners.is_gone(replace(me, started=""))
    assert not owners.is_gone(replace(me, boot=""))


HIDING = ("unshare", "--mount", "bash", "-c", 'mount -t proc -o hidepid=2,gid=4321 p /proc && "$@"')
HIDDEN = """
import subprocess, sys, msgspec
from pathlib import Path
from headway.adapters.machine.owners import HostOwners
from headway.domain.runs.events import Owner
with subprocess.Popen(
    [sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
) as process:
    other = msgspec.json.decode(process.stdout.readline(), type=Owner)
    print(Path(f"/proc/{process.pid}").exists(), HostOwners().is_gone(other))
    process.kill()
print(HostOwners().is_gone(other))
"""


def test_a_sealed_process_is_there_though_the_system_hides_it_and_gone_once_it_has_ended() -> None:
    if subprocess.run([*HIDING, "bash", "true"], check=False, capture_output=True).returncode:
        pytest.skip("only root may have /proc hide processes")
    sealed = f"from headway.sealing import keep_to_itself; keep_to_itself(); {OTHER}"
    done = subprocess.run(
        [*HIDING, "bash", *unprivileged(sys.executable, "-c", HIDDEN, sealed)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "False False\nTrue\n", done.stderr


def marked(run: RunId, fence: int, command: str) -> subprocess.Popen[bytes]:
    """Begin a process as the tools of a run do; it prints a line once it is what it will be."""
    process = subprocess.Popen(
        ["bash", "-c", command],
        env={"PATH": os.defpath, MARK: mark_of(run, fence)},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_what_an_earlier_claim_left_running_is_ended_and_nothing_else() -> None:
    run, other = task_id(b"r" * 16), task_id(b"o" * 16)
    left = marked(run, 1, "setsid bash -c 'echo; sleep 60; true' & wait")
    mine = marked(run, 2, "echo; sleep 60; true")
    others = marked(other, 1, "echo; sleep 60; true")
    try:
        assert HostOwners().end_work_of(run, 2) == 3, "the command, its own session, and its sleep"
        assert left.wait(10) in {-signal.SIGKILL, 0}, "killed, or done waiting for what was"
        assert (mine.poll(), others.poll()) == (None, None)
        assert HostOwners().end_work_of(run, 2) == 0
    finally:
        for process in (left, mine, others):
            os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
            with process:
                pass

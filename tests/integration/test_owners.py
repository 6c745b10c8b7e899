"""Owners: which process holds a lease, and that a dead one is told from a living one."""

import os
import subprocess
import sys

import msgspec
from msgspec.structs import replace

from headway.adapters.machine.owners import HostOwners
from headway.domain.runs.events import Owner

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

"""What the doctor finds: each part by itself, in words that say what to do."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from headway import __version__
from headway.adapters.machine.owners import HostOwners
from headway.application.diagnose_home import diagnose_home
from headway.application.findings import Finding
from headway.application.home import Home
from headway.cli.doctor_command import finding_lines
from headway.cli.style import Style
from headway.domain.errors import StoreUnavailable
from headway.domain.runs.events import Owner
from headway.ports.machine import Process
from headway.ports.onlooker import Claim, StoreFacts
from headway.ports.queue import TaskState
from headway.server_lock import Running
from tests.fakes.machine import SOUND, FakeMachine, FakeOnlooker
from tests.fakes.time_and_chance import FakeClock

FOLDER = Path("/home")
DATABASE = FOLDER / "headway.db"
RUNNING = Running(4711, "127.0.0.1", 7430, __version__, "2026-11-21T12:00:00Z")


@pytest.fixture
def machine() -> FakeMachine:
    made = FakeMachine()
    made.modes = {FOLDER: 0o700, DATABASE: 0o600}
    return made


def home(machine: FakeMachine, facts: StoreFacts = SOUND) -> Home:
    return Home(
        folder=FOLDER,
        database=DATABASE,
        worktrees=FOLDER / "worktrees",
        machine=machine,
        onlooker=FakeOnlooker(facts),
        owners=HostOwners(),
        clock=FakeClock(1_800_000_001_000),
    )


def found(home: Home, part: str) -> Finding:
    (finding,) = [each for each in diagnose_home(home) if each.part == part]
    assert bool(finding.remedy) == (finding.level != "ok")
    return finding


def test_where_all_is_well_nothing_is_to_be_done(machine: FakeMachine) -> None:
    findings = diagnose_home(home(machine))
    assert {each.level for each in findings} == {"ok"}
    assert [each.part for each in findings] == [
        "home", "disk", "fsync", "store", "keys", "clock", "git", "bubblewrap", "server", "port",
        "processes",
    ]  # fmt: skip
    assert list(finding_lines(findings, Style()))[-1] == "All is well."


def test_a_home_that_is_not_there_is_no_problem(machine: FakeMachine) -> None:
    machine.modes = {}
    nothing = changed(SOUND, schema=None, sessions={}, keys=0, newest_at=None)
    findings = diagnose_home(home(machine, nothing))
    assert {each.level for each in findings} == {"ok"}
    assert "fsync" not in {each.part for each in findings}


def test_what_others_can_read_is_told_with_the_command_that_closes_it(machine: FakeMachine) -> None:
    machine.modes = {FOLDER: 0o755, DATABASE: 0o644}
    assert found(home(machine), "home").remedy == "chmod 700 /home"
    privacy = found(home(machine), "privacy")
    assert privacy.level == "problem"
    assert "chmod 600 /home/headway.db" in privacy.remedy


@pytest.mark.parametrize(("free", "level"), [(1 << 20, "problem"), (500 << 20, "warning")])
def test_a_disk_that_fills_is_told_before_it_is_full(
    machine: FakeMachine, free: int, level: str
) -> None:
    machine.free_bytes = free
    assert found(home(machine), "disk").level == level


def test_a_slow_disk_is_a_warning_and_one_that_refuses_a_problem(machine: FakeMachine) -> None:
    machine.fsync = 400.0
    assert found(home(machine), "fsync").level == "warning"
    machine.fsync = PermissionError(13, "Permission denied")
    refused = found(home(machine), "fsync")
    assert (refused.level, "Permission denied" in refused.told) == ("problem", True)


def test_a_store_of_a_later_version_and_one_that_cannot_be_read_are_problems(
    machine: FakeMachine,
) -> None:
    assert found(home(machine, changed(SOUND, schema=9)), "store").level == "problem"
    assert "brings it to version 2" in found(home(machine, changed(SOUND, schema=1)), "store").told
    fault = StoreUnavailable("The file is not a store.", remedy="Move it away.")
    broken = found(replace(home(machine), onlooker=FakeOnlooker(fault)), "store")
    assert broken.told == fault.message
    assert (broken.level, broken.remedy) == ("problem", fault.remedy)


def test_an_sqlite_that_must_be_alone_is_a_warning(machine: FakeMachine) -> None:
    alone = changed(SOUND, shares=False, product="SQLite 3.40.1")
    assert "SQLite 3.40.1" in found(home(machine, alone), "sqlite").told


def test_sessions_without_a_key_are_a_problem(machine: FakeMachine) -> None:
    assert found(home(machine, changed(SOUND, keys=0)), "keys").level == "problem"


def test_a_clock_that_was_set_back_is_told_with_how_far(machine: FakeMachine) -> None:
    ahead = changed(SOUND, newest_at=1_800_000_001_000 + 3 * 3_600_000)
    clock = found(home(machine, ahead), "clock")
    assert clock.level == "warning"
    assert "3 hours before the newest event" in clock.told
    long_ago = replace(home(machine), clock=FakeClock(0))
    assert found(long_ago, "clock").level == "problem"


def test_git_and_bubblewrap_are_missed_but_not_needed(machine: FakeMachine) -> None:
    machine.versions = {"git": "git version 2.20.1", "bwrap": "bubblewrap 0.8.0"}
    machine.sandbox = False
    assert "2.31" in found(home(machine), "git").remedy
    assert "user namespaces" in found(home(machine), "bubblewrap").remedy
    machine.versions = {}
    assert found(home(machine), "git").level == "warning"
    assert found(home(machine), "bubblewrap").level == "warning"


def test_a_server_is_asked_and_told_by_how_it_answers(machine: FakeMachine) -> None:
    served = replace(home(machine), running=RUNNING)
    assert found(served, "server").level == "ok"
    assert machine.asked == [("127.0.0.1", 7430, "/healthz")]
    assert "this home's server" in found(served, "port").told
    older = replace(served, running=RUNNING._replace(version="0.0.1"))
    assert found(older, "server").level == "warning"
    machine.answers = None
    assert "is stopping" in found(served, "server").told, "it listens no more"
    machine.taken = {7430}
    silent = found(served, "server")
    assert (silent.level, "kill 4711" in silent.remedy) == ("problem", True)


def test_a_port_that_is_taken_is_a_warning(machine: FakeMachine) -> None:
    machine.taken = {7430}
    assert found(home(machine), "port").level == "warning"


def test_a_server_whose_client_has_gone_is_stale_and_others_are_not(machine: FakeMachine) -> None:
    machine.holding = (
        Process(pid=10, command="python -m headway mcp"),
        Process(pid=11, command="python -m headway up", orphan=True),
    )
    assert "2 with the store open: pid 10, 11" in found(home(machine), "processes").told
    machine.holding = (Process(pid=12, command="python -m headway mcp", orphan=True),)
    assert found(home(machine), "processes").remedy == "kill 12"


def test_a_setting_that_means_nothing_is_passed_on(machine: FakeMachine) -> None:
    odd = replace(home(machine), warnings=("HEADWAY_HOEM is set but means nothing.",))
    assert "HEADWAY_HOEM" in found(odd, "settings").told


def test_findings_are_drawn_with_the_remedy_under_them_and_fit_a_narrow_terminal() -> None:
    findings = (
        Finding(part="disk", level="ok", told="50 GiB free"),
        Finding(part="git", level="warning", told="not found " * 9, remedy="Install git. " * 9),
        Finding(part="store", level="problem", told="broken", remedy="Restore it."),
    )
    lines = list(finding_lines(findings, Style(width=50)))
    assert max(map(len, lines)) <= 50
    assert lines[0] == "✔ disk        50 GiB free"
    assert lines[-1] == "1 problem, 1 warning."
    plain = "\n".join(finding_lines(findings, Style(unicode=False)))
    assert plain.isascii()
    assert "X  store" in plain
    assert any("\x1b[31m" in line for line in finding_lines(findings, Style(colour=True)))


GONE = Owner(host="elsewhere", boot="b", pid=1, started="1")
LATER = 1_800_000_061_000


@pytest.mark.parametrize(
    ("runs", "until", "level", "told"),
    [
        ({"ended": 3}, 0, "ok", "0 driven, 0 waiting"),
        ({"queued": 2}, 0, "warning", "2 waiting, 0 at rest; nobody drives any"),
        ({"claimed": 1}, 1, "warning", "1 lost their worker and wait for another; nobody"),
        ({"claimed": 1, "queued": 2}, LATER, "ok", "1 driven, 2 waiting"),
    ],
)
def test_runs_that_nobody_goes_on_with_are_told(
    machine: FakeMachine, runs: dict[TaskState, int], until: int, level: str, told: str
) -> None:
    claims = (Claim(run="task_a", owner=GONE, lease_until=until),) if "claimed" in runs else ()
    finding = found(home(machine, changed(SOUND, runs=runs, claims=claims)), "runs")
    assert finding.level == level
    assert told in finding.told
    assert ("headway worker" in finding.remedy) == (level == "warning")


def test_what_keeps_runs_from_their_models_is_told(machine: FakeMachine) -> None:
    resting = {"credit_spent": 1, "credential_expired": 12, "turns": 3}
    facts = changed(SOUND, runs={"resting": 16, "queued": 40}, resting=resting)
    finding = found(home(machine, facts), "models")
    assert finding.level == "warning"
    told = "12 runs rest for credential_expired, 1 run rests for credit_spent; "
    assert finding.told.startswith(told)
    assert "`headway runs resume RUN --queue`" in finding.remedy


def test_worktrees_that_no_living_run_needs_are_told(machine: FakeMachine) -> None:
    machine.folders = {FOLDER / "worktrees": ("task_a", "task_b", "task_c")}
    finding = found(home(machine, changed(SOUND, unended=frozenset({"task_b"}))), "worktrees")
    assert finding.told.startswith("2 of runs that are over")
    assert "headway worktrees list" in finding.told

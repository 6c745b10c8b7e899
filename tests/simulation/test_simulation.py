"""Ten thousand simulated events on each run of the tests, and proof that bugs are found."""

from itertools import count
from pathlib import Path

import pytest

from simulation.__main__ import main, tell
from simulation.disks import LINE_BREAKS, SqliteDisk
from simulation.postgres_disk import postgres_server
from simulation.process import Plant, Setting
from simulation.running import run
from tests.simulation.plants import Doubles, Forgets, Loses, Mixes
from tests.support.postgres import require_tcp_url

HISTORY_LINES_MAX = 20
TRIES_MAX = 600  # enough to come below that


@pytest.mark.parametrize("seed", range(1, 6))
def test_every_promise_holds_through_two_thousand_events_of_faults(seed: int) -> None:
    tally, failure = run(seed, 2_000, Setting())
    assert failure is None, tell(failure, seed, "memory")
    assert tally.events >= 2_000
    assert tally.faults.total() > 100


def test_every_promise_holds_on_a_file_that_is_closed_and_opened_again(tmp_path: Path) -> None:
    numbers = count()
    setting = Setting(disk=lambda: SqliteDisk(tmp_path / f"{next(numbers)}.db"))
    tally, failure = run(7, 250, setting)
    assert failure is None, tell(failure, 7, "sqlite")
    assert tally.counts["restarts"]


def test_every_promise_holds_on_a_server_whose_line_is_cut_and_ended() -> None:
    with postgres_server(require_tcp_url()) as server:
        tally, failure = run(3, 250, Setting(disk=server.disk))
    assert failure is None, tell(failure, 3, "postgres")
    assert sum(tally.faults[how] for how in LINE_BREAKS)


def test_one_seed_simulates_the_same_events_every_time() -> None:
    first, _ = run(11, 1_500, Setting())
    again, _ = run(11, 1_500, Setting())
    assert first == again
    other, _ = run(12, 1_500, Setting())
    assert first != other


@pytest.mark.parametrize("plant", [Loses, Forgets, Doubles, Mixes])
def test_a_planted_bug_is_found_and_its_history_cut_to_what_shows_it(plant: Plant) -> None:
    tally, failure = run(1, 20_000, Setting(plant=plant, tries_max=TRIES_MAX))
    assert failure is not None, f"not found in {tally.events} events"
    told = tell(failure, 1, "memory")
    assert len(failure.history) <= HISTORY_LINES_MAX
    assert len(failure.choices) < failure.choices_found
    assert f"--seed 1 --world {failure.world}" in told


def test_a_run_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "5", "--events", "500"]) == 0
    printed = capsys.readouterr().out
    assert "events simulated" in printed
    assert "Every promise held (seed 5)." in printed

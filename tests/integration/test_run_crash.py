"""A run killed with SIGKILL anywhere ends as the undisturbed one does.

Sampled here; `make crash` kills it at every moment there is.
"""

from pathlib import Path

import pytest

from crash.rivals import compete
from tests.support.crashed_runs import Left, crashed_at, stopped_at
from tests.support.postgres import require_url, schema

EVENTS_MIN = 40
SAMPLED = (
    *(f"event:{number}" for number in (3, 9, 24, 40, 48)),
    *("before:1", "after:1", "after:6", "before:13", "after:13"),
    *("uncommitted:2", "uncommitted:21", "committed:33", "uncommitted:54"),
    *("git:5", "gitcut:14", "git:18", "gitcut:20"),
    *("check:1", "checked:1", "committed:51"),  # the last: recorded, and not decided on
)
SAMPLED_ON_POSTGRESQL = (
    *("event:9", "after:7"),
    *("uncommitted:3", "committed:21", "committed:52"),
)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Left:
    return crashed_at(tmp_path_factory.mktemp("calm"))


def same(left: Left, calm: Left) -> None:
    assert (left.outcome, left.tree, left.commits) == (calm.outcome, calm.tree, calm.commits)
    assert left.session == calm.session
    calls = {name: times for name, times in left.effects.items() if name.startswith("call")}
    assert max(calls.values()) == 1, "a tool call was run twice"


def test_the_undisturbed_run_succeeds_with_one_commit(calm: Left) -> None:
    assert (calm.outcome, calm.commits) == ("success", 1)
    assert calm.events >= EVENTS_MIN
    assert calm.session.count("StepAdvanced") == 2
    assert calm.session.count("ChecksRecorded") == calm.checks == 1


@pytest.mark.parametrize("moment", SAMPLED)
def test_a_run_killed_once_ends_as_if_nothing_had_happened(
    moment: str, calm: Left, tmp_path: Path
) -> None:
    same(crashed_at(tmp_path / "run", moment), calm)


@pytest.mark.parametrize("moment", SAMPLED_ON_POSTGRESQL)
def test_a_run_on_postgresql_killed_once_ends_as_if_nothing_had_happened(
    moment: str, calm: Left, tmp_path: Path
) -> None:
    with schema(require_url()) as url:
        same(crashed_at(tmp_path / "run", moment, url=url), calm)


def test_a_run_killed_again_and_again_ends_as_if_nothing_had_happened(
    calm: Left, tmp_path: Path
) -> None:
    moments = [f"event:{number}" for number in (6, 11, 19, 33)]
    same(crashed_at(tmp_path / "run", *moments), calm)


@pytest.mark.parametrize("moment", ["event:12", "event:30"])
def test_a_zombie_that_wakes_after_its_lease_writes_nothing_and_says_so(
    moment: str, calm: Left, tmp_path: Path
) -> None:
    before, after, said = stopped_at(tmp_path / "run", moment)
    same(before, calm)
    assert after == before
    assert said.endswith("lost")


def test_runs_that_two_workers_compete_for_through_kills_and_stops_end_as_if_undisturbed(
    calm: Left, tmp_path: Path
) -> None:
    with schema(require_url()) as url:
        for left in compete(tmp_path / "runs", url, seed=2, runs=3, faults=4):
            same(left, calm)

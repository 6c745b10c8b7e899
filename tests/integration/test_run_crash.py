"""A run killed with SIGKILL anywhere ends as the undisturbed one does.

Sampled here; `make crash` kills it after each event and on both sides of each effect.
"""

from pathlib import Path

import pytest

from tests.support.crashed_runs import Left, crashed_at
from tests.support.postgres import require_url, schema

EVENTS_MIN = 40
SAMPLED = (
    *(f"event:{number}" for number in (3, 4, 5, 7, 9, 12, 17, 24, 31, 40, 48)),
    "before:1",
    "after:1",
    "before:3",
    "after:5",
    "after:6",
    "after:7",
    "before:13",
    "after:13",
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


@pytest.mark.parametrize("moment", SAMPLED)
def test_a_run_killed_once_ends_as_if_nothing_had_happened(
    moment: str, calm: Left, tmp_path: Path
) -> None:
    same(crashed_at(tmp_path / "run", moment), calm)


@pytest.mark.parametrize("moment", ["event:9", "event:33", "after:7", "before:13"])
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

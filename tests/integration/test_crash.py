"""Five kills of a real server under load; `make crash` does fifty, with four times the agents."""

from pathlib import Path

from crash.running import Plan, run

PLAN = Plan(seed=5, kills=5, agents=8, others=1)


def test_nothing_is_lost_or_doubled_when_the_server_is_killed_under_load(tmp_path: Path) -> None:
    said: list[str] = []
    outcome = run(PLAN, tmp_path / "run", said.append)
    assert outcome.problems == []
    assert outcome.tally.counts["kills"] == PLAN.kills
    assert outcome.tally.counts["pauses"] == PLAN.others
    assert outcome.tally.counts["acknowledged advances"] > 0
    assert said

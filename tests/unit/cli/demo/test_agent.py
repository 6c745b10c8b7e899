"""The demo's scripted agent works for real: what its notes quote was printed by real commands."""

import os
from pathlib import Path

import pytest

from headway.cli.demo.agent import ScriptedAgent
from headway.cli.demo.sample import BUGGY, MODULE, make_repository
from headway.cli.demo.shell import DemoFailedError, Shell


@pytest.fixture
def agent(tmp_path: Path) -> ScriptedAgent:
    shell = Shell(tmp_path, dict(os.environ))  # noqa: TID251
    make_repository(shell)
    return ScriptedAgent(shell)


def test_the_agent_finds_and_mends_a_real_bug(agent: ScriptedAgent) -> None:
    assert "\n999\n" in agent.work("reproduce").notes
    assert f"{MODULE}, line 8" in agent.work("diagnose").notes
    fixed = agent.work("fix").notes
    assert "FAILED (failures=1)" in fixed
    assert fixed.index("FAILED") < fixed.index("\nOK\n")
    proved = agent.work("verify").notes
    assert "\n1000\n" in proved
    assert "Ran 5 tests" in proved
    (report,) = agent.work("report").artifacts
    assert report["filesChanged"] == [MODULE, "tests/test_shares.py"]


def test_an_outcome_that_is_not_the_told_one_fails_the_demo(agent: ScriptedAgent) -> None:
    module = agent.shell.folder / MODULE
    module.write_text(module.read_text("utf-8").replace(BUGGY, "    return [total_cents]\n"))
    with pytest.raises(DemoFailedError, match="'1000'; expected were 0 and '999'"):
        agent.work("reproduce")
    with pytest.raises(DemoFailedError, match="'plan'"):
        agent.work("plan")

"""`headway workflows preview`, `graph`, `simulate`: what a workflow is like before it runs."""

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from headway.application.requests import InspectWorkflow
from headway.cli.main import cli
from tests.support.front_door import FrontDoor, open_front_door

SOUND = """\
id: acme.sound
name: Sound
description: Sizes a change and does it.
version: 1.0.0
steps:
  - {id: size, title: Size it, prompt: "Set context key `size`: small or large."}
  - {id: plan, title: Plan it, prompt: Plan., runCondition: {var: size, equals: large}}
  - {id: do, title: Do it, prompt: Do it.}
"""
UNSET = SOUND.replace("acme.sound", "acme.unset").replace("`size`: small or large", "nothing")
BROKEN = SOUND.replace("acme.sound", "acme.broken").replace("prompt:", "promt:")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path / "home"))
    for name, text in (("sound", SOUND), ("unset", UNSET), ("broken", BROKEN)):
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["workflows", *arguments])


@pytest.mark.usefixtures("folder")
def test_a_sound_workflow_is_simulated_whole() -> None:
    told = run("simulate", "sound.yaml")
    assert told.exit_code == 0
    assert told.output.startswith("acme.sound: 8 of 8 branches taken, in ")


@pytest.mark.usefixtures("folder")
def test_what_was_not_taken_is_told_with_its_reason_and_ends_with_1() -> None:
    told = run("simulate", "unset.yaml")
    assert told.exit_code == 1
    assert "Not taken (unset): step plan: met. No text tells anybody to set size." in told.output


@pytest.mark.usefixtures("folder")
def test_programs_get_the_coverage_branch_by_branch() -> None:
    told = json.loads(run("simulate", "unset.yaml", "--seed", "7", "--json").stdout)
    assert (told["workflowId"], told["seed"], told["complete"]) == ("acme.unset", 7, False)
    [step, block] = told["untaken"]
    assert step == {
        "kind": "step", "item": "plan", "way": "met", "verdict": "unset", "reachable": True,
        "why": step["why"], "keys": ["size"],
    }  # fmt: skip
    assert block["kind"] == "block"
    assert {"kind": "step", "item": "plan", "way": "passed over"} in told["taken"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["simulate", "preview", "graph"])
def test_what_cannot_be_told_ends_with_2_and_says_why(command: str) -> None:
    broken, unknown = run(command, "broken.yaml"), run(command, "acme.soundd")
    assert (broken.exit_code, unknown.exit_code) == (2, 2)
    assert "UNKNOWN_KEY" in broken.stderr
    assert "There is no workflow 'acme.soundd' here" in unknown.stderr


@pytest.mark.usefixtures("folder")
def test_a_bundled_workflow_is_named_by_its_id() -> None:
    assert run("simulate", "hw.bug-fix").exit_code == 0
    assert "Make the bug show itself (reproduce)" in run("preview", "hw.bug-fix").output


@pytest.mark.usefixtures("folder")
def test_a_preview_shows_each_step_with_its_size_condition_and_origin() -> None:
    told = run("preview", "sound.yaml").output
    assert "Plan it (plan)" in told
    assert 'met if   size equals "large"' in told
    assert "--- author" in told
    assert "--- engine: notes" in told
    assert told.splitlines()[-1].startswith("3 steps: ")


@pytest.mark.usefixtures("folder")
def test_a_preview_of_one_step_is_of_that_step_alone() -> None:
    told = json.loads(run("preview", "sound.yaml", "--step", "plan", "--json").stdout)
    [step] = told["steps"]
    assert (step["id"], step["madeBy"], step["condition"]) == (
        "plan", "author", 'size equals "large"'
    )  # fmt: skip
    assert step["promptBytes"] == told["promptBytes"]
    assert step["parts"][0] == {"origin": "author", "name": None, "text": "Plan."}
    unknown = run("preview", "sound.yaml", "--step", "pan")
    assert unknown.exit_code == 2
    assert "Its steps are size, plan, do." in unknown.stderr


@pytest.mark.usefixtures("folder")
def test_the_drawing_is_a_picture_or_mermaid() -> None:
    picture = run("graph", "sound.yaml").stdout
    assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - made right here
    assert picture == run("graph", "sound.yaml").stdout
    assert run("graph", "sound.yaml", "--format", "mermaid").stdout.startswith("---\ntitle: ")


def test_an_agent_sees_the_flow_and_not_the_prompts(door: FrontDoor) -> None:
    place = str(door.workspace)
    request = InspectWorkflow(workflow_id="hw.bug-fix", workspace_path=place, mode="flow")
    shown = json.loads(json.dumps(door.verbs.inspect_workflow(request)))["compiled"]
    steps = shown["steps"]
    assert [step["id"] for step in steps][:2] == ["reproduce", "diagnose"]
    assert all(step["promptBytes"] > 0 and "parts" not in step for step in steps)
    assert shown["mermaid"].startswith("---\n")

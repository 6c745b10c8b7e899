"""Broken workflow files: listed with place, reason and remedy, not started, alone in their harm."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.application.requests import ListWorkflows
from headway.domain.errors import Code
from headway.domain.values import Json, JsonObject
from tests.conformance.traces import SHARED, require_shared
from tests.support.front_door import PLAIN, FrontDoor, open_front_door

CI = os.environ.get("CI") == "true"  # noqa: TID251  the promise of this test depends on it
STEP: JsonObject = {"id": "s1", "title": "S", "prompt": "Do."}

TWICE = """{"id": "twice", "name": "x", "description": "x", "version": "1.0.0",
 "steps": [
  {"id": "a", "title": "A", "prompt": "p"},
  {"id": "a", "title": "B", "prompt": "p"}]}"""
LOOK_AHEAD = """{"id": "look-ahead", "name": "x", "description": "x", "version": "1.0.0", "steps": [
{"id": "a", "title": "A", "prompt": "p",
 "validationCriteria": [{"type": "regex",
  "pattern": "(?=a)b", "message": "m"}]}]}"""

# By id: the content, and the line the problem stands on.
BROKEN: dict[str, tuple[str, int]] = {
    "not-json": ('{\n  "id": "not-json",\n  oops\n}', 3),
    "no-version": ('{"id": "no-version", "name": "x", "description": "x", "steps": []}', 1),
    "twice": (TWICE, 4),
    "look-ahead": (LOOK_AHEAD, 4),
    "same-key": ('{"id": "same-key",\n "id": "same-key", "name": "x", "steps": []}', 2),
}


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


def listed(door: FrontDoor) -> tuple[set[str], dict[str, list[dict[str, Json]]]]:
    """Return the ids offered, and the problems by the id they were found under."""
    reply = door.verbs.list_workflows(ListWorkflows(workspace_path=str(door.workspace)))
    offered = {str(item["workflowId"]) for item in objects(reply["workflows"])}
    warnings = objects(reply.get("validationWarnings", []))
    return offered, {str(each["workflowId"]): objects(each["errors"]) for each in warnings}


def objects(value: Json) -> list[dict[str, Json]]:
    assert isinstance(value, list)
    return [each for each in value if isinstance(each, dict)]


def assert_told(problem: dict[str, Json], path: Path) -> None:
    assert str(problem["file"]).endswith(path.name)
    for place in ("line", "column"):
        number = problem[place]
        assert isinstance(number, int)
        assert number >= 1
    for words in ("code", "what", "why", "remedy"):
        assert str(problem[words]).strip(), words


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_where_why_and_how_to_mend_it(door: FrontDoor, name: str) -> None:
    text, line = BROKEN[name]
    path = door.write(f"{name}.json", text)
    offered, broken = listed(door)
    assert name not in offered
    assert "three-steps" in offered
    for problem in broken[name]:
        assert_told(problem, path)
    assert line in [problem["line"] for problem in broken[name]]
    with door.refused(Code.PRECONDITION_FAILED) as fault:
        door.start(name)
    assert fault.details["diagnostics"] == broken[name]
    assert door.start()["isComplete"] is False


def test_a_mended_file_can_be_started_at_once(door: FrontDoor) -> None:
    door.write("mended.json", {**PLAIN, "id": "mended", "steps": []})
    with door.refused(Code.PRECONDITION_FAILED):
        door.start("mended")
    door.write("mended.json", {**PLAIN, "id": "mended", "steps": [STEP]})
    assert door.start("mended")["isComplete"] is False


def test_every_broken_file_of_the_shared_set_is_reported_and_its_neighbours_work(
    door: FrontDoor,
) -> None:
    require_shared(ci=CI)
    files = sorted((SHARED / "invalid").glob("*.json"))
    assert len(files) == 14
    for file in files:
        shutil.copy(file, door.files / file.name)
    offered, broken = listed(door)
    assert "three-steps" in offered
    told = {
        str(problem["file"]).rpartition("/")[2]: name for name in broken for problem in broken[name]
    }
    for file in files:
        name = told[file.name]
        assert name not in offered
        for problem in broken[name]:
            assert_told(problem, file)
        with door.refused(Code.PRECONDITION_FAILED) as fault:
            door.start(name)
        assert fault.details["diagnostics"] == broken[name]
    assert door.start()["isComplete"] is False

"""A workflow edited while a session runs on it: the session keeps its own form, and says so."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import convert

from headway.application.requests import ListWorkflows, Reply
from tests.support.front_door import PLAIN, FrontDoor, open_front_door


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


def warnings_of(reply: Reply) -> list[dict[str, object]]:
    return convert(reply.get("warnings", []), list[dict[str, object]])


def test_an_unchanged_workflow_warns_of_nothing(door: FrontDoor) -> None:
    token = door.start()["continueToken"]
    assert warnings_of(door.rehydrate(token)) == []


def test_an_edited_workflow_is_told_and_the_session_keeps_its_own_steps(door: FrontDoor) -> None:
    started = door.start()
    edited = json.dumps(PLAIN).replace("Step 2", "Quite another step")
    path = door.write("three-steps.json", edited)
    (warning,) = warnings_of(door.rehydrate(started["continueToken"]))
    assert warning["kind"] == "WORKFLOW_DRIFT"
    assert warning["workflowId"] == "three-steps"
    assert warning["pinnedHash"] != warning["currentHash"]
    assert str(path) in str(warning["message"])
    assert "goes on with the form it was started with" in str(warning["message"])
    advanced = door.advance(started["continueToken"])
    assert convert(advanced["pending"], dict[str, object])["title"] == "Step 2"


@pytest.mark.parametrize(("content", "told"), [("{", "broken"), (None, "no longer there")])
def test_a_workflow_that_broke_or_went_is_told_and_the_session_ends_well(
    door: FrontDoor, content: str | None, told: str
) -> None:
    token = door.start()["continueToken"]
    if content is None:
        (door.files / "three-steps.json").unlink()
    else:
        door.write("three-steps.json", content)
    (warning,) = warnings_of(door.rehydrate(token))
    assert warning["currentHash"] is None
    assert told in str(warning["message"])
    for _ in range(2):
        token = door.advance(token)["continueToken"]
    assert door.advance(token)["isComplete"] is True


def test_duplicate_ids_across_sources_are_listed_with_what_decided(door: FrontDoor) -> None:
    own = door.workspace / ".headway" / "workflows" / "mine.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps(PLAIN), "utf-8")
    listed = door.verbs.list_workflows(ListWorkflows(workspace_path=str(door.workspace)))
    items = convert(listed["workflows"], list[dict[str, object]])
    (item,) = (each for each in items if each["workflowId"] == "three-steps")
    assert item["source"] == "path"
    (shadow,) = convert(item["shadows"], list[dict[str, str]])
    assert (shadow["path"], shadow["source"]) == (str(own), "workspace")
    assert "goes before" in shadow["why"]

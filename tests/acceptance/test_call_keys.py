"""A start that carries a call key: sent again, it begins no second session."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headway.application.purge_session import purge_session
from headway.domain.errors import Code
from headway.domain.ids import SessionId
from headway.domain.values import Json, JsonObject
from tests.support.front_door import FrontDoor, open_front_door

KEY = "0123456789abcdef"
CALLERS = 8
OVER_AT_ONCE: JsonObject = {
    "id": "over-at-once",
    "name": "Over at once",
    "description": "Its one step never applies.",
    "version": "1.0.0",
    "steps": [
        {"id": "s", "title": "S", "prompt": "Do.", "runCondition": {"var": "x", "equals": 1}}
    ],
}


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


def test_a_start_sent_again_is_answered_as_it_was(door: FrontDoor) -> None:
    first = door.start(call_key=KEY)
    second = door.advance(first["continueToken"])
    assert door.start(call_key=KEY) == first
    assert door.advance(first["continueToken"]) == second
    assert door.start(call_key=KEY + "!") != first
    assert door.start() != first


def test_a_start_sent_many_times_at_once_begins_one_session(door: FrontDoor) -> None:
    for workflow in ("three-steps", "over-at-once"):
        door.write("over-at-once.json", OVER_AT_ONCE)
        before = len({event.stream for event in door.events()})

        def start(_number: int, workflow: str = workflow) -> Json:
            return door.start(workflow, call_key=KEY + workflow)

        with ThreadPoolExecutor(CALLERS) as pool:
            replies = list(pool.map(start, range(CALLERS)))
        assert all(reply == replies[0] for reply in replies)
        assert len({event.stream for event in door.events()}) == before + 1


def test_a_start_is_answered_again_when_its_file_has_gone(door: FrontDoor) -> None:
    first = door.start(call_key=KEY)
    (door.files / "three-steps.json").unlink()
    assert door.start(call_key=KEY) == first


def test_a_key_is_good_for_one_call_alone(door: FrontDoor) -> None:
    door.start(call_key=KEY)
    with door.refused(Code.VALIDATION_ERROR):
        door.start(call_key=KEY, goal="Something else")


@pytest.mark.parametrize("key", ["", "short", "x" * 129])
def test_a_key_that_could_be_guessed_or_is_too_long_is_refused(door: FrontDoor, key: str) -> None:
    with door.refused(Code.VALIDATION_ERROR):
        door.start(call_key=key)


def test_the_key_of_a_purged_session_does_not_bring_it_back(door: FrontDoor) -> None:
    door.start(call_key=KEY)
    (stream,) = {event.stream for event in door.events()}
    purge_session(door.engine, SessionId(stream.removeprefix("session:")))
    with door.refused(Code.TOKEN_UNKNOWN_NODE):
        door.start(call_key=KEY)

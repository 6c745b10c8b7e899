"""Many callers at once: one token has one outcome, and branches do not hinder each other."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from headway.domain.events import StepAdvanced
from headway.domain.values import Json
from tests.support.front_door import FrontDoor, open_front_door

CALLERS = 16


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


def test_concurrent_calls_with_one_token_get_one_outcome(door: FrontDoor) -> None:
    token = door.start()["continueToken"]

    def call(number: int) -> bytes:
        reply = door.advance(token, f"notes of caller {number}", context={"caller": number})
        return msgspec.json.encode(reply)

    with ThreadPoolExecutor(CALLERS) as pool:
        replies = list(pool.map(call, range(CALLERS)))
    assert len(set(replies)) == 1
    assert [type(record.event) for record in door.events()].count(StepAdvanced) == 1
    assert len(door.events()) == 2


def test_concurrent_advances_on_branches_of_one_session_all_succeed(door: FrontDoor) -> None:
    first = door.start()["continueToken"]
    tokens = [door.rehydrate(first)["continueToken"] for _ in range(CALLERS)]

    def drive(token: Json) -> bool:
        reply = door.advance(token, context={"branch": token})
        while not reply["isComplete"]:
            reply = door.advance(reply["continueToken"])
        return True

    with ThreadPoolExecutor(CALLERS) as pool:
        assert all(pool.map(drive, tokens))
    kinds = [type(record.event).__name__ for record in door.events()]
    assert kinds.count("SessionCompleted") == CALLERS
    assert kinds.count("StepAdvanced") == 3 * CALLERS


def test_concurrent_starts_are_sessions_of_their_own(door: FrontDoor) -> None:
    with ThreadPoolExecutor(CALLERS) as pool:
        tokens = {reply["continueToken"] for reply in pool.map(lambda _: door.start(), range(16))}
    assert len(tokens) == CALLERS

"""What an agent is told although nothing stopped it."""

from collections.abc import Mapping
from pathlib import Path

from headway.application.requests import Json, Reply
from tests.support.front_door import FrontDoor, open_front_door

STOP: Json = {"kind": "wr.loop_control", "decision": "stop"}
DECIDED: Json = {
    "id": "two-loops",
    "name": "Two loops",
    "description": "One that decides, one that is counted",
    "version": "1.0.0",
    "steps": [
        {
            "id": "again",
            "type": "loop",
            "title": "Go round",
            "loop": {"type": "while", "maxIterations": 2},
            "body": [
                {"id": "work", "title": "Work", "prompt": "Work."},
                {
                    "id": "decide",
                    "title": "Decide",
                    "prompt": "Decide.",
                    "outputContract": {"contractRef": "wr.contracts.loop_control"},
                },
            ],
        },
        {"id": "end", "title": "End", "prompt": "End."},
    ],
}


def test_a_loop_decision_that_nobody_asked_for_is_told_to_count_for_nothing(tmp_path: Path) -> None:
    with open_front_door(tmp_path) as door:
        told = started(door)
        told = door.advance(told["continueToken"], artifacts=(STOP,))
        assert kinds(told) == ["LOOP_DECISION_IGNORED"]
        assert step(told) == "decide"
        again = door.advance(told["continueToken"], artifacts=(STOP,))
        assert "warnings" not in again
        assert step(again) == "end"


def test_a_loop_that_ends_at_its_limit_says_so(tmp_path: Path) -> None:
    with open_front_door(tmp_path) as door:
        told = started(door)
        for _ in range(2):
            told = door.advance(told["continueToken"])
            told = door.advance(
                told["continueToken"],
                artifacts=({"kind": "wr.loop_control", "decision": "continue"},),
            )
        assert step(told) == "end"
        assert kinds(told) == ["LOOP_LIMIT_REACHED"]


def started(door: FrontDoor) -> Reply:
    door.write("two-loops.json", DECIDED)  # type: ignore[arg-type]  # an object, as it stands above
    return door.start("two-loops")


def step(reply: Reply) -> Json:
    pending = reply["pending"]
    assert isinstance(pending, Mapping)
    return pending["stepId"]


def kinds(reply: Reply) -> list[Json]:
    warnings = reply["warnings"]
    assert isinstance(warnings, list)
    return [each["kind"] for each in warnings if isinstance(each, Mapping)]

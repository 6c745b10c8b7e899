"""Contracts that users define (D15, point 14) and how deep loops may nest (point 15)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.domain.errors import Code
from headway.domain.values import JsonObject
from tests.support.front_door import PLAIN, FrontDoor, open_front_door

FINDING: JsonObject = {
    "id": "acme.contracts.finding",
    "kind": "acme.finding",
    "schema": {
        "type": "object",
        "required": ["kind", "text"],
        "properties": {"kind": {"const": "acme.finding"}, "text": {"type": "string"}},
    },
    "guidance": "Send what was found.",
}
STEP: JsonObject = {
    "id": "look",
    "title": "Look",
    "prompt": "Look.",
    "outputContract": {"contractRef": "acme.contracts.finding"},
}


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


def nested(levels: int) -> JsonObject:
    body: JsonObject = {"id": "deep", "title": "Deep", "prompt": "Do."}
    for level in range(levels):
        body = {
            "id": f"loop{level}",
            "type": "loop",
            "title": f"Loop {level}",
            "loop": {"type": "for", "count": 1, "maxIterations": 1},
            "body": [body],
        }
    return {**PLAIN, "id": "own", "steps": [body]}


def test_a_contract_of_ones_own_blocks_until_it_is_met(door: FrontDoor) -> None:
    door.write("own.json", {**PLAIN, "id": "own", "contracts": [FINDING], "steps": [STEP]})
    begun = door.start("own")
    assert "Send what was found." in str(begun["pending"])
    blocked = door.advance(begun["continueToken"], artifacts=({"kind": "acme.finding"},))
    assert blocked["kind"] == "blocked"
    found = {"kind": "acme.finding", "text": "a crack"}
    passed = door.advance(blocked["retryContinueToken"], artifacts=(found,))
    assert passed["isComplete"] is True


def test_a_schema_that_points_elsewhere_is_refused_with_its_place(door: FrontDoor) -> None:
    schema = {"$ref": "https://example.com/schema.json"}
    contract = {**FINDING, "schema": schema}
    door.write("own.json", {**PLAIN, "id": "own", "contracts": [contract], "steps": [STEP]})
    with door.refused(Code.PRECONDITION_FAILED) as fault:
        door.start("own")
    assert "own.json" in str(fault.details["diagnostics"])


def test_loops_nest_to_four_and_no_deeper(door: FrontDoor) -> None:
    door.write("own.json", nested(4))
    assert door.advance(door.start("own")["continueToken"])["isComplete"] is True
    door.write("own.json", nested(5))
    with door.refused(Code.PRECONDITION_FAILED):
        door.start("own")

"""The record of what became of the old invariants: complete, and every test it names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
(RECORD,) = (ROOT / "docs" / "adr").glob("0030-*.md")
ROW = re.compile(r"^\| (R?\d+) \| (.+?) \| (.+?) \| (.*?) ?\|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
NUMBERS = [*(str(n) for n in range(1, 36)), *(f"R{n}" for n in range(1, 26))]
ROWS = {number: (here, tests) for number, _, here, tests in ROW.findall(RECORD.read_text("utf-8"))}


def test_every_invariant_has_one_row() -> None:
    assert list(ROWS) == NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
def test_an_invariant_is_tested_unless_it_is_to_come(number: str) -> None:
    here, tests = ROWS[number]
    named = TEST.findall(tests)
    assert bool(named) != here.startswith("to come")
    for file, name in named:
        code = (ROOT / file).read_text("utf-8")
        assert re.search(rf"^(async )?def {name}\(", code, re.MULTILINE), f"{file}::{name}"

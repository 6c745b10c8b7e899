"""Every rule of the linter has a file that breaks it and one that keeps it."""

import re
from pathlib import Path

import pytest

from headway.domain.compiler.codes import CODES
from headway.domain.linting.registry import ALL_CODES, RULES
from tests.linting.linted import linted, read

CASES = Path(__file__).parent / "cases"
NAMES = [rule.code for rule in RULES]
WEIGHTS = {rule.code: rule.severity for rule in RULES}


def test_every_rule_has_a_file_that_breaks_it_and_one_that_keeps_it() -> None:
    there = {
        folder.name: sorted(file.name for file in folder.iterdir()) for folder in CASES.iterdir()
    }
    assert there == {name: ["fail.yaml", "pass.yaml"] for name in NAMES}


@pytest.mark.parametrize("code", NAMES)
def test_the_file_that_breaks_a_rule_is_reported_for_that_alone_with_its_place(code: str) -> None:
    document = read((CASES / code / "fail.yaml").read_text("utf-8"))
    found = linted(document)
    assert {each.code for each in found} == {code}
    lines = document.source.splitlines()
    for each in found:
        assert each.severity == WEIGHTS[code]
        assert (each.line, each.column) > (1, 0)
        assert lines[each.line - 1][each.column - 1 :].strip()  # something stands there
        assert all(sentence.endswith((".", "?")) for sentence in (each.what, each.why, each.remedy))


@pytest.mark.parametrize("code", NAMES)
def test_the_file_that_keeps_a_rule_has_nothing_to_be_said_of_it(code: str) -> None:
    found = linted(read((CASES / code / "pass.yaml").read_text("utf-8")))
    assert [each.text() for each in found] == []


def test_codes_are_told_apart_and_every_rule_says_why_and_what_to_do() -> None:
    assert len({known.code for known in ALL_CODES}) == len(ALL_CODES)
    assert not set(NAMES) & CODES.keys()
    for rule in RULES:
        assert re.fullmatch(r"[A-Z][A-Z_]+", rule.code)
        assert rule.severity in ("warning", "info")  # lint never blocks a start
        assert rule.why.endswith(".")
        assert rule.remedy.endswith((".", ")."))

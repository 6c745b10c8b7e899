"""A phrase that is put in other words for a model of a run is one that is still said somewhere."""

import ast
from functools import cache
from pathlib import Path

import pytest

from headway.domain.blockers import PHRASES_OF_TOKENS
from headway.ports.engine_answers import TOLD_TO_A_MODEL

SOURCE = Path(__file__).parents[2] / "src" / "headway"


@cache
def said() -> list[str]:
    """Return every text in the source but the phrases themselves."""
    phrases = {*PHRASES_OF_TOKENS, *(told for told, _ in TOLD_TO_A_MODEL)}
    return [
        node.value
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value not in phrases
    ]


@pytest.mark.parametrize("phrase", [*PHRASES_OF_TOKENS, *(told for told, _ in TOLD_TO_A_MODEL)])
def test_a_phrase_that_is_replaced_is_said(phrase: str) -> None:
    assert any(phrase in text for text in said())

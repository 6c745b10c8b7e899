"""A slice of the fuzzing in every test run, and proof that it would notice."""

from pathlib import Path
from random import Random

import pytest

from fuzz.cases import Cases
from fuzz.judging import Broken, judge_http, judge_line
from fuzz.running import DOORS, fuzz

SECONDS = 60.0
CASES = 400


@pytest.mark.parametrize("door", DOORS)
def test_whatever_comes_in_is_answered_with_a_code_and_the_server_serves_on(
    door: str, tmp_path: Path
) -> None:
    outcome = fuzz(door, 1, SECONDS, tmp_path, CASES)
    assert outcome.problem is None, outcome.told()
    assert outcome.cases > 0


def test_the_same_seed_draws_the_same_cases() -> None:
    drawn = [
        [cases.http("h") for _ in range(50)]
        for cases in (Cases(Random("a"), [("list_workflows", {"a": "b"})]) for _ in range(2))  # noqa: S311
    ]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "line",
    [
        b"Traceback",
        b"[]",
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x","data":{"code":"X"}}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"x","data":{"code":"X"}}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"isError":true,"structuredContent":{"code":"X"}}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"isError":true,"structuredContent":null}}',
    ],
)
def test_an_answer_that_may_not_be_given_is_noticed(line: bytes) -> None:
    with pytest.raises(Broken):
        judge_line(line)


@pytest.mark.parametrize(
    "response",
    [
        b"nonsense",
        b"HTTP/1.1 500 x\r\n\r\n",
        b"HTTP/1.1 x y\r\n\r\n",
        b"HTTP/1.1 400 x\r\n\r\nNo.",
        b'HTTP/1.1 404 x\r\n\r\n{"code":"NOT_FOUND","details":{}}',
    ],
)
def test_a_response_that_may_not_be_given_is_noticed(response: bytes) -> None:
    with pytest.raises(Broken):
        judge_http(response)

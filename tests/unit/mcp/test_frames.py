"""A line means exactly one message, or it is refused with a reason, to the id it asks under."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.application.requests import Json
from headway.mcp.frames import (
    INVALID_REQUEST,
    NESTING_MAX,
    PARSE_ERROR,
    Frame,
    Rejection,
    find_id,
    over_long,
    read_frame,
)
from headway.mcp.lines import LINE_BYTES_MAX

CALL: dict[str, Json] = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "x"}}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def refused(line: bytes) -> Rejection:
    found = read_frame(line)
    assert isinstance(found, Rejection)
    json.dumps(found.reply(), ensure_ascii=False).encode()
    return found


def nested(depth: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":%s}}' % (
        b"[" * depth + b"]" * depth
    )


@given(st.binary())
@example(b'"' * 1000)
@example(b'{"id":')
def test_random_bytes_are_never_more_than_refused(line: bytes) -> None:
    assert isinstance(read_frame(line), Frame | Rejection)


@given(st.text(alphabet='{}[]":,\\u0dD8 n1eE.-"idj'))
def test_random_near_json_is_never_more_than_refused(text: str) -> None:
    assert isinstance(read_frame(text.encode()), Frame | Rejection)


@given(json_values)
def test_a_whole_message_arrives_as_it_was_sent(value: Json) -> None:
    message: dict[str, Json] = {**CALL, "params": {"name": "x", "arguments": {"v": value}}}
    found = read_frame(json.dumps(message).encode())
    assert found == Frame(message=message, request=7)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"m","method":"n"}', "FRAME_DUPLICATE_KEY"),
        (b'{"jsonrpc":"2.0","id":7,"params":{"a":{"k":1,"k":1}}}', "FRAME_DUPLICATE_KEY"),
        (b'{"id":7,"a":{"\\u006b":1,"k":1}}', "FRAME_DUPLICATE_KEY"),
        (b'{"id":7,"a":"\\ud800"}', "FRAME_LONE_SURROGATE"),
        (b'{"id":7,"a":{"\\uDC00x":1}}', "FRAME_LONE_SURROGATE"),
        (b'{"id":7,"a":"\xed\xa0\x80"}', "FRAME_NOT_UTF8"),
        (b'{"id":7,"a":"\xff"}', "FRAME_NOT_UTF8"),
        (b'{"id":7,"a":"x\x00y"}', "FRAME_NUL_BYTE"),
        (b'{"id":7,"a":NaN}', "FRAME_BAD_NUMBER"),
        (b'{"id":7,"a":-Infinity}', "FRAME_BAD_NUMBER"),
        (b'{"id":7,"a":1e999}', "FRAME_BAD_NUMBER"),
        (b'{"id":7,"a":' + b"9" * 5000 + b"}", "FRAME_BAD_NUMBER"),
        (b'{"id":7,"a":}', "FRAME_NOT_JSON"),
        (b'{"id":7,"a":"tab\there"}', "FRAME_NOT_JSON"),
        (b'{"id":7,"a":' + b"[" * 5000, "FRAME_TOO_DEEP"),
    ],
)
def test_a_doubtful_line_is_refused_to_its_id(line: bytes, code: str) -> None:
    found = refused(line)
    assert (found.code, found.rpc_code, found.request) == (code, PARSE_ERROR, 7)
    assert found.remedy


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b"null",
        b"3",
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"1.0","id":1,"method":"m"}',
        b'{"jsonrpc":"2.0","id":null,"method":"m"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"m"}',
        b'{"jsonrpc":"2.0","id":true,"method":"m"}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":[]}',
    ],
)
def test_what_is_no_single_message_is_an_invalid_request(line: bytes) -> None:
    assert refused(line).rpc_code == INVALID_REQUEST


def test_both_halves_of_a_pair_are_one_character() -> None:
    found = read_frame(b'{"jsonrpc":"2.0","method":"m","params":{"a":"\\ud83d\\ude00"}}')
    assert isinstance(found, Frame)
    assert found.message["params"] == {"a": "\U0001f600"}
    assert found.request is None


def test_nesting_is_allowed_up_to_the_limit_and_refused_beyond() -> None:
    inside = NESTING_MAX - 2  # the message and its params are levels too
    assert isinstance(read_frame(nested(inside)), Frame)
    assert refused(nested(inside + 1)).code == "FRAME_TOO_DEEP"


def test_many_brackets_side_by_side_or_in_texts_are_not_deep() -> None:
    many = json.dumps({**CALL, "params": {"name": "t", "a": [[]] * 5000, "b": '[{"\\' * 5000}})
    assert isinstance(read_frame(many.encode()), Frame)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":"' + b'\\"' * 500_000,
        b'"' * 1_000_001,
        b"[]" * 500_000,
        b"][" * 500_000,
        b"[" * 1_000_000,
        b'{"id":' * 200_000,
    ],
)
def test_a_hostile_line_is_refused_in_reasonable_time(line: bytes) -> None:
    began = time.process_time()
    refused(line)
    assert time.process_time() - began < 5


def test_the_id_is_made_out_wherever_it_stands() -> None:
    assert find_id('{"params":{"id":1,"x":[{"id":2}]},"id":"last"') == "last"
    assert find_id('{"method":"id","id":-3,') == -3


def test_an_id_that_is_not_certain_is_not_used() -> None:
    assert find_id('{"id":1,"id":2}') is None
    assert find_id('{"a":{"id":1}') is None
    assert find_id('{"id":1.5}') is None
    assert find_id('{"id":true}') is None
    assert find_id('{"id":"\\ud800"}') is None


def test_an_over_long_line_is_refused_by_its_beginning() -> None:
    found = over_long(b'{"id":4,"method":"m","params":{"a":"xxx')
    assert (found.request, found.code) == (4, "FRAME_TOO_LARGE")
    assert str(LINE_BYTES_MAX // 2**20) in found.message

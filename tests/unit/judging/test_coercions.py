"""Values read as JavaScript reads them; objects alone print as JSON."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.coercions import json_text, number_text, to_number, to_text, truthy
from headway.domain.values import Json


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-10, "1.5e-10"),
        (-1.25e30, "-1.25e+30"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (2**53, "9007199254740992"),
        (10**400, "Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_numbers_print_with_the_fewest_digits(number: float, text: str) -> None:
    assert number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_number_reads_back_the_same(number: float) -> None:
    assert to_number(number_text(number)) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ("x", "x"),
        (["x", None, [1.0, 2]], "x,,1,2"),
        ([], ""),
        ({"b": 1.0, "a": [None, "é"]}, '{"a":[null,"é"],"b":1}'),
        ([{"a": 1}], '{"a":1}'),
    ],
)
def test_values_print_as_texts(value: Json, text: str) -> None:
    assert to_text(value) == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_text_is_json(value: Json) -> None:
    assert json.loads(json_text(value)) == value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        (" \ufeff\n", 0),
        ("5", 5),
        (" +5.5e1 ", 55),
        (".5", 0.5),
        ("5.", 5),
        ("0x1F", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("-Infinity", -math.inf),
        ("1_000", None),
        ("-0x1", None),
        ("0b2", None),
        ("0x", None),
        ("1e", None),
        ("five", None),
        ("nan", None),
        ("infinity", None),
        ("++Infinity", None),
        ("\u0661", None),
    ],
)
def test_texts_read_as_numbers(text: str, number: float | None) -> None:
    assert to_number(text) == number


def test_a_long_text_that_is_no_number_is_read_at_once() -> None:
    assert to_number("1" * 1_000_000 + "x") is None


@pytest.mark.parametrize("value", [None, False, 0, 0.0, -0.0, "", math.nan])
def test_empty_values_are_false(value: Json) -> None:
    assert not truthy(value)


@pytest.mark.parametrize("value", [True, 1, -1, "0", "false", [], {}])
def test_all_others_are_true(value: Json) -> None:
    assert truthy(value)

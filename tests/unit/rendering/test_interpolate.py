from collections.abc import Mapping
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.rendering.interpolate import SUBSTITUTED_CHARS_MAX, interpolate
from headway.domain.values import Json

CONTEXT: dict[str, Json] = {
    "s": "hello",
    "n": 5,
    "b": True,
    "o": {"k": "v", "deep": {"x": 1.0}, "none": None},
    "arr": [1, "two", {"k": 3}, None],
    "nul": None,
}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s={{s}} n={{n}} b={{b}}", "s=hello n=5 b=true"),
        ("{{ s }}", "hello"),
        (r"\{{s}}", r"\hello"),
        ("{{o.k}}/{{o.deep.x}}", "v/1"),
        ("{{o.deep}}", '{"x":1}'),
        ("{{arr}}", '1,two,{"k":3},'),
        ("{{arr.length}}", "4"),
    ],
)
def test_a_path_with_a_value_is_replaced(text: str, shown: str) -> None:
    assert interpolate(text, CONTEXT) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{miss}}", "[unset: miss]"),
        ("{{miss.a}}", "[unset: miss.a]"),
        ("{{nul}} {{nul.a}}", "[unset: nul] [unset: nul.a]"),
        ("{{o.none}}", "[unset: o.none]"),
        ("{{o.length}}", "[unset: o.length]"),
        ("{{s.a}}", "[unset: s.a] (s is a string: hello)"),
        ("{{s.length}}", "[unset: s.length] (s is a string: hello)"),
        ("{{n.a.b}}", "[unset: n.a.b] (n is a number: 5)"),
        ("{{b.a}}", "[unset: b.a] (b is a boolean: true)"),
        ("{{arr.a}}", '[unset: arr.a] (arr is an array: 1,two,{"k":3},)'),
    ],
)
def test_a_path_without_a_value_leaves_a_mark(text: str, shown: str) -> None:
    assert interpolate(text, CONTEXT) == shown


def test_the_preview_of_a_wrong_value_is_one_short_line() -> None:
    shown = interpolate("{{s.a}}", {"s": "line one\n" + "x" * 500})
    assert shown == "[unset: s.a] (s is a string: line one " + "x" * 48 + "...)"


@pytest.mark.parametrize(
    "text",
    ["{{a-b}}", "{{i + 1}}", "{{wr.bindings.slot}}", "{{}}", "{{1}}", "{s}", "{{s", "{{s.}}"],
)
def test_anything_else_in_braces_stays_as_written(text: str) -> None:
    assert interpolate(text, {"s": "x", "a": 1, "b": 1, "i": 1, "wr": {}}) == text


def test_a_value_is_not_read_again_for_placeholders() -> None:
    assert interpolate("{{a}}", {"a": "{{b}}", "b": "secret"}) == "{{b}}"


def test_many_uses_of_a_long_value_stay_within_a_bound() -> None:
    shown = interpolate("{{a}}" * 1_000, {"a": "x" * 100_000})
    assert shown.count("x") <= SUBSTITUTED_CHARS_MAX
    assert "[left out: a," in shown


def test_hostile_texts_take_linear_time() -> None:
    hostile = ("{{" * 250_000, "{{" + " " * 500_000, "{{a" + ".a" * 250_000, "{{ a " * 100_000)
    started = process_time()
    for text in hostile:
        assert interpolate(text, {}) == text
    assert process_time() - started < 2


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from("ab"), inner),
    max_leaves=12,
)


@given(st.text(st.sampled_from("{} .ablength"), max_size=60) | st.text(), JSON_VALUES)
def test_no_text_and_no_context_is_refused(text: str, value: Json) -> None:
    variables: Mapping[str, Json] = {"a": value, "b": "{{a}}"}
    assert interpolate(text, variables) == interpolate(text, variables)
    assert "{{" not in interpolate("{{a}}", {"a": 1, "b": value})


@given(st.text())
def test_a_text_without_double_braces_is_unchanged(text: str) -> None:
    plain = text.replace("{{", "")
    assert interpolate(plain, {"a": 1}) == plain or "{{" in plain

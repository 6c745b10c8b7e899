"""What callers bring is kept in one canonical form, or refused with a place and a remedy."""

import math
from typing import cast

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import InvalidInput
from headway.domain.json_limits import (
    ARTIFACT_BYTES_MAX,
    CONTEXT_BYTES_MAX,
    DEPTH_MAX,
    canonical,
    check_artifact,
    check_context,
    check_notes,
)
from headway.domain.values import Json, JsonObject

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


@given(VALUES)
def test_the_canonical_form_is_rfc_8785(value: Json) -> None:
    assert canonical(value, "The value") == rfc8785.dumps(value)


def test_astral_keys_sort_by_utf_16() -> None:
    assert canonical({"\ue000": 1, "😀": 2}, "V") == '{"😀":2,"\ue000":1}'.encode()


def nested(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "kind", "where"),
    [
        ({"a": [1, math.nan]}, "non_finite_number", ".a[1]"),
        (-math.inf, "non_finite_number", ""),
        ([2**53], "unsafe_integer", "[0]"),
        ({"k": "\ud800"}, "lone_surrogate", ".k"),
        ({"\ud800": 1}, "lone_surrogate", ""),
        (["é\udc00"], "lone_surrogate", "[0]"),
        ({1: 2}, "invalid_key", ""),
        ({"b": b"x"}, "unsupported_value", ".b"),
    ],
)
def test_what_has_no_one_form_is_refused_with_its_place(
    value: object, kind: str, where: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        canonical(cast("Json", value), "The artifact")
    assert caught.value.details == {"kind": kind, "path": where}
    assert caught.value.message.startswith("The artifact")
    assert caught.value.remedy


def test_depth_is_bounded_without_recursion() -> None:
    assert canonical(nested(DEPTH_MAX), "The value")
    for depth in (DEPTH_MAX + 1, 200_000):
        with pytest.raises(InvalidInput) as caught:
            canonical(nested(depth), "The value")
        assert caught.value.details == {"kind": "too_deep", "measured": 65, "max": 64}


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[Json] = []
    loop += [loop, loop, loop]
    with pytest.raises(InvalidInput, match="contains itself"):
        canonical(loop, "The value")


def test_a_context_is_measured_in_canonical_bytes() -> None:
    assert check_context({"b": 1, "a": "é"}) == len('{"a":"é","b":1}'.encode())


@pytest.mark.parametrize(
    ("delta", "kind"),
    [
        ({"__proto__": 1}, "forbidden_key"),
        ({"is_autonomous": "true"}, "reserved_key"),
        ({"eat_token": ""}, "reserved_key"),
        ({"headway_autonomous": True}, "reserved_key"),
        ({"metrics_outcome": "great"}, "invalid_metrics_outcome"),
        ({"metrics_outcome": ["success"]}, "invalid_metrics_outcome"),
        ({"x": nested(64)}, "context_too_deep"),
        ({"x": "a" * CONTEXT_BYTES_MAX}, "context_budget_exceeded"),
    ],
)
def test_a_context_beyond_its_rules_is_refused(delta: JsonObject, kind: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_context(delta)
    assert caught.value.details["kind"] == kind


def test_a_context_may_report_its_outcome_or_take_it_back() -> None:
    assert check_context({"metrics_outcome": "success"})
    assert check_context({"metrics_outcome": None})


def test_any_json_value_may_be_an_artifact_up_to_its_limit() -> None:
    assert check_artifact([1.0, None]) == b"[1,null]"
    with pytest.raises(InvalidInput) as caught:
        check_artifact("a" * ARTIFACT_BYTES_MAX)
    assert caught.value.details == {
        "kind": "artifact_budget_exceeded",
        "measured": ARTIFACT_BYTES_MAX + 2,
        "max": ARTIFACT_BYTES_MAX,
    }


def test_notes_of_any_script_are_kept_and_half_characters_refused() -> None:
    assert check_notes("é\0😀") == "é\0😀".encode()
    with pytest.raises(InvalidInput) as caught:
        check_notes("ok \ud83d")
    assert caught.value.details == {"kind": "lone_surrogate", "position": 3}

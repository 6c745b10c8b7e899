"""Whether a condition can hold at all: judged by the engine's own evaluator, never by guess."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from headway.domain.compiler.conditions import read_condition
from headway.domain.compiler.reporting import Report
from headway.domain.conditions import holds
from headway.domain.diagnostics import Position
from headway.domain.linting.truth import verdict
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Condition


def condition(value: Json) -> Condition:
    return read_condition(value, (), Report("", lambda *_: Position(line=1, column=1)))


def compares(var: str = "a", **operator: Json) -> JsonObject:
    return {"var": var, **operator}


NEVER: list[JsonObject] = [
    {"and": [compares(equals="x"), compares(equals="y")]},
    {"and": [compares(gt=3), compares(lt=3)]},
    {"and": [compares(gte=3), compares(lt=3)]},
    {"and": [compares(), {"not": compares()}]},
    {"and": [compares(startsWith="ab"), compares(equals="c")]},
    {"and": [compares("a", equals=1), compares("b", equals=2), {"not": compares("a", equals="1")}]},
    compares(equals=[]),  # lists equal nothing
    {"var": "a", "in": []},
    {"or": []},
]
ALWAYS: list[JsonObject] = [
    compares(not_equals=[]),
    {"or": [compares(equals="x"), compares(not_equals="x")]},
    {"or": [compares(), {"not": compares()}]},
    {"and": []},
]
OPEN: list[JsonObject] = [
    compares(),
    compares(equals="x"),
    compares(gt=10**15),
    {"and": [compares(gt=3), compares(lt=4)]},  # 3.5
    {"and": [compares(startsWith="ab"), compares(endsWith="yz"), compares(contains="m")]},
    {"and": [compares(equals="x"), compares("b", equals="y")]},
    {"and": [compares(matches="^x"), compares(equals="y")]},  # a pattern is not looked into
    {"not": compares(contains="x")},
    {},
]


@pytest.mark.parametrize("value", NEVER, ids=str)
def test_what_contradicts_itself_never_holds(value: JsonObject) -> None:
    assert verdict(condition(value)) == "never"


@pytest.mark.parametrize("value", ALWAYS, ids=str)
def test_what_nothing_makes_false_always_holds(value: JsonObject) -> None:
    assert verdict(condition(value)) == "always"


@pytest.mark.parametrize("value", OPEN, ids=str)
def test_what_depends_is_open(value: JsonObject) -> None:
    assert verdict(condition(value)) == "open"


def test_an_unset_variable_makes_what_needs_it_impossible() -> None:
    value = condition({"and": [compares("a", equals="x"), compares("b")]})
    assert verdict(value) == "open"
    assert verdict(value, frozenset({"a"})) == "never"
    assert verdict(condition(compares("a", matches="x")), frozenset({"a"})) == "never"


def test_a_condition_over_very_many_variables_is_left_open() -> None:
    many = {"and": [compares(f"v{n}", equals="x") for n in range(40)]}
    assert verdict(condition(many)) == "open"


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "x", "xy", "1", "True"])
)
LEAVES = st.one_of(
    st.builds(lambda var, key, value: compares(var, **{key: value}), st.sampled_from("ab"),
              st.sampled_from(["equals", "not_equals"]), SCALARS),
    st.builds(lambda var, key, value: compares(var, **{key: value}), st.sampled_from("ab"),
              st.sampled_from(["gt", "gte", "lt", "lte"]), st.integers(-3, 3)),
    st.builds(lambda var, key, value: compares(var, **{key: value}), st.sampled_from("ab"),
              st.sampled_from(["contains", "startsWith", "endsWith"]), st.sampled_from(["x", "y"])),
)  # fmt: skip
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda each: {"not": each}, inner),
        st.builds(lambda joint, each: {joint: each}, st.sampled_from(["and", "or"]),
                  st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)  # fmt: skip


@given(CONDITIONS, st.dictionaries(st.sampled_from("ab"), SCALARS))
def test_no_context_ever_contradicts_a_verdict(value: JsonObject, context: JsonObject) -> None:
    judged = verdict(condition(value))
    held = holds(condition(value), context)
    assert not (judged == "never" and held)
    assert not (judged == "always" and not held)

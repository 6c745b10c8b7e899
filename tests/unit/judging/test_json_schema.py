"""Schemas tell every problem in a sentence, match in linear time and fetch nothing."""

import time

import pytest

from headway.domain.json_schema import schema_issues, schema_problems
from headway.domain.values import Json


def test_every_problem_is_named_with_its_path() -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "required": ["a", "b"],
        "properties": {
            "a": {"type": "array", "items": {"type": "string", "maxLength": 2}},
            "c": {"enum": ["x", 1]},
            "d": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 3}]},
        },
        "additionalProperties": False,
    }
    value: Json = {"a": ["ok", "long", 7], "c": "y", "d": 1, "e": 0}
    assert set(schema_issues(schema, value)) == {
        'The value lacks the required key "b".',
        'The value has the key "e", which is not allowed.',
        "a[1] must have at most 2 characters.",
        "a[2] must be of type string.",
        'c must be one of "x", 1.',
        "d must be of type string; or must be at least 3.",
    }


def test_patterns_of_a_schema_are_javascript_and_linear() -> None:
    schema: dict[str, Json] = {
        "pattern": "^(a+)+$",
        "patternProperties": {"^(x+)+$": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    started = time.process_time()
    assert schema_issues(schema, "a" * 1_000_000 + "!")
    assert not schema_issues(schema, {"x" * 100_000: 1, "x" * 100_000 + "y": ""})
    assert time.process_time() - started < 0.3
    assert schema_issues(schema, {"xx": "no"}) == ("xx must be of type integer.",)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (7, "must be an object"),
        ({"type": "text"}, "not valid at type"),
        ({"pattern": "(?=a)"}, "ahead or behind"),
        ({"properties": {"x": {"patternProperties": {"(a)\\1": {}}}}}, "back to a group"),
        ({"$ref": "https://example.com/x.json"}, "only references inside"),
        ({"items": {"$ref": "#/definitions/nope"}}, "not in it"),
        ({"unevaluatedProperties": False}, "not supported"),
    ],
)
def test_a_schema_that_cannot_be_used_says_why(schema: Json, said: str) -> None:
    problems = schema_problems(schema)
    assert len(problems) == 1
    assert said in problems[0]


def test_references_inside_a_schema_are_followed() -> None:
    schema: Json = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"n": {"type": "integer"}},
        "prefixItems": [{"$ref": "#/$defs/n"}],
        "examples": [{"$ref": "data, no reference"}],
    }
    assert isinstance(schema, dict)
    assert not schema_problems(schema)
    assert schema_issues(schema, ["x"]) == ("[0] must be of type integer.",)


@pytest.mark.parametrize("ref", ["#", "#/definitions/nope", "http://127.0.0.1:1/x"])
def test_a_schema_that_leads_nowhere_fails_closed(ref: str) -> None:
    assert "cannot be checked" in schema_issues({"$ref": ref}, {})[0]


def test_no_end_of_problems_is_cut_short() -> None:
    assert len(schema_issues({"items": {"type": "string"}}, list(range(10_000)))) == 100

import json

import pytest

from headway.domain.compiler.reading import Document, declared_id, read_document
from headway.domain.diagnostics import Position
from headway.domain.values import Json
from tests.unit.compiler.making import read, source, step, unreadable

DEEP = 64


def nested(levels: int) -> bytes:
    return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        (b'{"id": "a",\n  no}', "NOT_JSON", 2, 3),
        (b"", "NOT_JSON", 1, 1),
        (b'{"a": 1} x', "NOT_JSON", 1, 10),
        (b"[1]", "NOT_AN_OBJECT", 1, 1),
        (b'{"a": 1,\n "b": {"c": 1, "c": 2}}', "DUPLICATE_KEY", 2, 16),
        (b'{"a": "\xff"}', "NOT_UTF8", 1, 8),
        (b'{\n "a": NaN}', "NUMBER_NOT_FINITE", 2, 7),
        (b'{"a": -Infinity}', "NUMBER_NOT_FINITE", 1, 7),
        (b'{"a": [1e999]}', "NUMBER_NOT_FINITE", 1, 8),
        (b'{"a": 9007199254740992}', "NUMBER_TOO_LARGE", 1, 7),
        (b'{"a": 1e17}', "NUMBER_TOO_LARGE", 1, 7),
        (b'{"a": ' + b"9" * 5000 + b"}", "NUMBER_TOO_LARGE", 1, 7),
        (b'{"a": ["x", "\\ud800"]}', "LONE_SURROGATE", 1, 13),
        (b'{"\\udc00": 1}', "LONE_SURROGATE", 1, 2),
        (nested(DEEP + 1), "TOO_DEEP", 1, 6 + DEEP - 1),
        (nested(100_000), "TOO_DEEP", 1, 6 + DEEP - 1),
        (b" " * 1_000_001, "FILE_TOO_LARGE", 1, 1),
    ],
)
def test_what_cannot_be_kept_is_told_with_its_place(
    text: bytes, code: str, line: int, column: int
) -> None:
    found = unreadable(text)
    assert (found.code, found.line, found.column) == (code, line, column)
    assert found.file == "sample.json"
    assert found.severity == "error"
    assert all((found.what, found.why, found.remedy))


def test_a_duplicate_key_is_named_with_its_path() -> None:
    assert unreadable(b'{"steps": [{"id": "a", "id": "b"}]}').path == "steps[0].id"


def test_a_byte_order_mark_is_tolerated() -> None:
    document = read_document(b"\xef\xbb\xbf" + b'{"id": "a"}', "a.json")
    assert isinstance(document, Document)
    assert document.position(("id",)) == Position(line=1, column=8)


def test_the_deepest_allowed_nesting_is_read() -> None:
    assert isinstance(read_document(nested(DEEP), "a.json"), Document)


def test_every_problem_of_the_values_is_told_at_once() -> None:
    found = read_document(b'{"a": NaN, "b": [1e99, "\\ud800"]}', "a.json")
    assert not isinstance(found, Document)
    assert [each.path for each in found] == ["a", "b[0]", "b[1]"]


def test_positions_are_those_of_keys_and_values_in_code_points() -> None:
    text = '{"ü": {"x":\n\t[true, "é\\"]", {"y": null}]}}'.encode()
    document = read_document(text, "a.json")
    assert isinstance(document, Document)
    assert document.position(("ü",), at_key=True) == Position(line=1, column=2)
    assert document.position(("ü",)) == Position(line=1, column=7)
    assert document.position(("ü", "x", 1)) == Position(line=2, column=9)
    assert document.position(("ü", "x", 2, "y"), at_key=True) == Position(line=2, column=18)


def test_the_place_of_a_missing_part_is_that_of_what_it_is_missing_from() -> None:
    document = read(source(step()))
    assert document.position(("steps", 0, "nope", 3)) == document.position(("steps", 0))


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (b'{"id": "acme.x"}', "other.json", "acme.x"),
        (b'{"steps": [{"id": "no"}], "id": "acme.x", oops', "other.json", "acme.x"),
        (b"{not json", "dir/bad-one.json", "bad-one"),
        (b'{"id": "two words"}', "dir/bad.v2.json", "bad.v2"),
        (b'{"id": 3}', "bad.json", "bad"),
        (b"steps: [\nid: acme.y # the id\n", "other.yaml", "acme.y"),
        (b"name: x\n  id: 'inner'\n", "other.yml", "other"),
        (b'id: "acme.z"\nsteps: {', "other.yaml", "acme.z"),
    ],
)
def test_the_declared_id_is_made_out_even_in_a_broken_file(
    text: bytes, name: str, expected: str
) -> None:
    assert declared_id(text, name) == expected


YAML = """\
# A comment.
id: acme.sample
name: Sample
description: &d A sample.
version: 1.0.0
steps:
  - id: one
    title: One
    prompt: |
      Line one.
      Line two.
  - {id: two, title: Two, prompt: *d}
"""


def yaml_tree(text: str) -> Json:
    document = read_document(text.encode(), "a.yaml")
    assert isinstance(document, Document), document
    return document.root


def test_yaml_reads_to_the_same_tree_as_json() -> None:
    assert yaml_tree(YAML) == source(
        {"id": "one", "title": "One", "prompt": "Line one.\nLine two.\n"},
        {"id": "two", "title": "Two", "prompt": "A sample."},
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("true", True),
        ("False", False),
        ("012", 12),
        ("0o14", 12),
        ("0x1F", 31),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2024-01-02", "2024-01-02"),
        ("~", None),
        ("", None),
        ("null", None),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("'true'", "true"),
        ('"12"', "12"),
        ("!!str 12", "12"),
        ("!!int 12", 12),
        ("!!float 1", 1.0),
        ("! 12", "12"),
        ("!!null ~", None),
        ("!!bool true", True),
        ("&x y", "y"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_scalars_mean_what_the_core_schema_says(written: str, meant: Json) -> None:
    assert yaml_tree(f"a: {written}\n") == {"a": meant}


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdef", "bcdefg", strict=True)
)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: 1\nb: [\n", "NOT_YAML", 3),
        ("a: 1\n---\nb: 2\n", "NOT_YAML", 2),
        ("a: \x01\n", "NOT_YAML", 1),
        ("", "NOT_AN_OBJECT", 1),
        ("- a\n", "NOT_AN_OBJECT", 1),
        ("a: 1\nb: 2\na: 3\n", "DUPLICATE_KEY", 3),
        ("a: 1\n1: 2\n", "YAML_KEY", 2),
        ("? [x]\n: 2\n", "YAML_KEY", 1),
        ("a: !!python/object:x {}\n", "YAML_TAG", 1),
        ("a: !mine 3\n", "YAML_TAG", 1),
        ("a: !!int x\n", "YAML_TAG", 1),
        ("a: !!set {x: 1}\n", "YAML_TAG", 1),
        ("a: *nope\n", "YAML_ALIAS", 1),
        ("a: &a [*a]\n", "YAML_ALIAS", 1),
        (LAUGHS, "YAML_ALIAS", 5),
        ("a: " + "[" * 100_000, "TOO_DEEP", 1),
        ("a: .nan\n", "NUMBER_NOT_FINITE", 1),
        ("a: -.inf\n", "NUMBER_NOT_FINITE", 1),
        ("a: " + "9" * 5000 + "\n", "NUMBER_TOO_LARGE", 1),
    ],
)
def test_yaml_that_is_a_trap_is_refused(text: str, code: str, line: int) -> None:
    found = unreadable(text.encode(), "a.yaml")
    assert (found.code, found.line) == (code, line)


def test_aliases_cannot_nest_past_the_depth_limit() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 70))]
    assert unreadable("\n".join(lines).encode(), "a.yaml").code == "TOO_DEEP"


def test_yaml_problems_have_their_places() -> None:
    document = read_document(YAML.encode(), "a.yaml")
    assert isinstance(document, Document)
    assert document.position(("steps", 1, "title")) == Position(line=12, column=22)
    assert document.position(("steps", 1, "title"), at_key=True) == Position(line=12, column=15)
    assert document.position(("steps", 0)) == Position(line=7, column=5)


def test_a_file_of_exactly_the_largest_size_is_read() -> None:
    text = json.dumps({"a": ""}).encode()
    padded = text + b" " * (1_000_000 - len(text))
    assert isinstance(read_document(padded, "a.json"), Document)


def test_yaml_keys_may_be_anchored_and_named_by_alias() -> None:
    assert yaml_tree("&k name: x\nother: &v value\n*v : *k\n") == {
        "name": "x",
        "other": "value",
        "value": "name",
    }

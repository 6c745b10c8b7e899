"""YAML that is written for people reads back as the very tree it was written from."""

import json
from pathlib import Path

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import example, given

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import DEPTH_MAX, Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.compiler.yaml_reading import read_yaml
from headway.domain.values import Json
from headway.domain.writing.yaml_writing import COLUMNS_MAX, yaml_text

HOUSE = Path(__file__).parents[3] / "src" / "headway"
SHARED = Path(__file__).parents[4] / "shared" / "conformance" / "workflows"
FILES = [
    *sorted((HOUSE / "workflows").rglob("*.*")),
    *sorted(SHARED.rglob("*.json")),
]
TRAPS = (
    "no", "Yes", "on", "y", "true", "Null", "~", "", " ", "1:30", "012", "0x1f", "1e3", "1_000",
    "2026-11-21", ".5", "-", "- a", "?", "? a", ":", "a: b", "a:", "a #b", "#a", "# a", "a#b", "=",
    "<<", "[a]", "{a", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "'a'", '"a"', "a\\b", "a\tb",
    "\ta", "a ", " a", "a\n", "a\nb", "a\n\n", "\n", "\n\n", "\na", "a\n b", " a\nb", "\n a\nb",
    "a \nb", "a\n \nb", "a\n\tb", "a\r\nb", "a\rb", "a\x00b", "a\x7fb", "a\x85b", "a\u2028b",
    "a\ufeffb", "\ufeffa", "a\ufffeb", "🐛", "é", "---", "--- a", "...", "a\n---\nb", "a\n# b\n",
    "{{goal}} comes first", "x" * 3_000, "long words " * 300, "lang " * 40 + "\n" + "kurz " * 60,
    "a: " + "word " * 60 + "end", "\xa0" + "word " * 60 + "end", "a,b", "a]", "a}",
)  # fmt: skip

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.text(
    st.sampled_from(" \n\tab#:-'\"{}[],&*!|>%@`?\r\x85\u2028\ufeff"), max_size=30
)
numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def read(text: str) -> Json:
    return read_yaml(text, DEPTH_MAX)[0]


def exactly(tree: Json) -> str:
    """Return a form in which 1, 1.0 and true differ, and so does the order of keys."""
    return json.dumps(tree)


@given(st.dictionaries(texts, values, max_size=5))
@example({"k" * 2_000: {"a" * 600: ["b"], "c": {}}, "steps": [[[]], [[1, ["x y"]]], {}]})
def test_every_tree_reads_back_as_it_was(tree: dict[str, Json]) -> None:
    assert exactly(read(yaml_text(tree))) == exactly(tree)


@pytest.mark.parametrize("text", TRAPS, ids=lambda text: repr(text[:12]))
def test_a_text_that_looks_like_something_else_stays_text(text: str) -> None:
    tree: dict[str, Json] = {
        "a": text, "b": {text: text, "c": [text]}, "d": [[text], {"e": text, "f": [{"g": text}]}],
        "h": {"i": 1, "j": text}, "steps": [text, {"k": text}],
    }  # fmt: skip
    written = yaml_text(tree)
    assert exactly(read(written)) == exactly(tree)
    # Readers of YAML 1.1 see the same, and they know more words for true and more numbers.
    assert exactly(yaml.load(written, yaml.CSafeLoader)) == exactly(tree)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_known_file_goes_to_yaml_and_back_unchanged(path: Path) -> None:
    before = read_document(path.read_bytes(), path.name)
    assert isinstance(before, Document)
    written = yaml_text(before.root)
    after = read_document(written.encode(), "a.yaml")
    assert isinstance(after, Document)
    assert exactly(after.root) == exactly(before.root)
    again = read_document(json.dumps(after.root).encode(), "a.json")
    assert isinstance(again, Document)
    hashes = [compile_workflow(each, Sources()).hash for each in (before, after, again)]
    assert hashes[0] == hashes[1] == hashes[2]


def test_prompts_become_blocks_that_people_can_read() -> None:
    tree: dict[str, Json] = {
        "id": "acme.a", "version": "1.0.0", "tags": ["a", "b-c"],
        "steps": [
            {"id": "one", "prompt": "Do this:\n\n- look\n- listen", "askForFiles": True,
             "runCondition": {"var": "size", "equals": "large"}},
            {"id": "two", "prompt": "word " * 30 + "end."},
        ],
    }  # fmt: skip
    assert yaml_text(tree) == (
        "id: acme.a\n"
        "version: 1.0.0\n"
        "tags: [a, b-c]\n"
        "\n"
        "steps:\n"
        "  - id: one\n"
        "    prompt: |-\n"
        "      Do this:\n"
        "\n"
        "      - look\n"
        "      - listen\n"
        "    askForFiles: true\n"
        "    runCondition: {var: size, equals: large}\n"
        "\n"
        "  - id: two\n"
        "    prompt: >-\n"
        f"      {'word ' * 17}word\n"
        f"      {'word ' * 12}end.\n"
    )


def test_no_line_is_longer_than_it_must_be() -> None:
    written = yaml_text({"steps": [{"id": "one", "prompt": "several words " * 200 + "end"}]})
    assert max(map(len, written.splitlines())) <= COLUMNS_MAX

"""The published schema says what the grammar says: no more, and no less than it can."""

import json
from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import jsonschema
import pytest
from hypothesis import given, settings

from headway.domain.compiler.checking import check
from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.grammar import WORKFLOW
from headway.domain.compiler.nodes import text as text_at
from headway.domain.compiler.published_schema import workflow_schema
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.reporting import Report
from headway.domain.compiler.setting import Sources
from headway.domain.diagnostics import Path as Place
from headway.domain.diagnostics import Position
from headway.domain.values import Json, JsonObject
from tests.unit.compiler.making import loop, parallel, source, step

HOUSE = Path(__file__).parents[3] / "src" / "headway"
SHARED = Path(__file__).parents[4] / "shared" / "conformance"
BUNDLED = sorted((HOUSE / "workflows").rglob("*.*"))
CORPUS = sorted((SHARED / "workflows").rglob("*.json"))
CASES = sorted((Path(__file__).parents[2] / "linting" / "cases").rglob("*.yaml"))
# The codes by which the grammar's tables speak, but for ids, which no schema can hold apart.
SHAPE = {
    "UNKNOWN_KEY", "MISPLACED_KEY", "MISSING_KEY", "WRONG_TYPE", "BAD_FORMAT", "UNKNOWN_VALUE",
    "UNKNOWN_STEP_TYPE", "TOO_SHORT", "TOO_LONG", "OUT_OF_RANGE", "TOO_FEW_ITEMS",
    "TOO_MANY_ITEMS", "NOT_UNIQUE",
}  # fmt: skip

VALIDATOR = jsonschema.Draft7Validator(workflow_schema())


def tree_of(path: Path) -> JsonObject:
    document = read_document(path.read_bytes(), path.name)
    assert isinstance(document, Document)
    return document.root


def test_it_is_a_schema_of_its_dialect() -> None:
    jsonschema.Draft7Validator.check_schema(workflow_schema())


def test_the_file_in_the_package_is_the_one_that_is_made() -> None:
    there = (HOUSE / "workflow.schema.json").read_text("utf-8")
    made = json.dumps(workflow_schema(), ensure_ascii=False, indent=2) + "\n"
    assert there == made, "run make reference"


@pytest.mark.parametrize(
    "path", [*BUNDLED, *CORPUS, *CASES], ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_every_file_that_compiles_satisfies_it(path: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(tree_of(path))] == []


def test_every_bundled_file_names_it_for_editors() -> None:
    for path in BUNDLED:
        text = path.read_text("utf-8")
        named = text_at(tree_of(path), "$schema")
        relative = named or text.partition("$schema=")[2].split()[0]
        assert (path.parent / relative).resolve() == HOUSE / "workflow.schema.json", path.name


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded files are not beside this checkout")
def test_it_refuses_the_broken_files_whose_shape_is_wrong() -> None:
    refused, shapely = set(), set()
    for path in sorted((SHARED / "invalid").iterdir()):
        read = read_document(path.read_bytes(), path.name)
        if not isinstance(read, Document):
            continue
        found = compile_workflow(read, Sources()).diagnostics
        if any(each.code in SHAPE for each in found):
            shapely.add(path.name)
        if not VALIDATOR.is_valid(read.root):
            refused.add(path.name)
    assert refused == shapely == {"bad-empty.json", "bad-extra.json", "bad-noversion.json"}


RICH = source(
    step("one", promptFragments=[{"id": "more", "text": "More.", "when": {"var": "a"}}]),
    step(
        "two",
        requireConfirmation={"kind": "human_approval", "condition": {"var": "a", "gt": 1}},
        validationCriteria=[{"type": "contains", "value": "x", "message": "Say x."}],
        promptBlocks={"goal": [{"kind": "text", "text": "Go."}, {"kind": "ref", "refId": "wr.x"}]},
        assessmentRefs=["q"],
    ),
    loop("again", [step("three")], loop={"type": "while", "maxIterations": 2,
         "conditionSource": {"kind": "context_variable", "condition": {"not": {"var": "b"}}}}),
    parallel("apart", synthesis={"prompt": "Merge."}),
    tags=["a"],
    modelTier="mid",
    lint={"allow": {"PROMPT_LONG": "It is."}},
)  # fmt: skip
JUNK = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**7, "", "x", "UPPER case", "y" * 9000, [], {}, ["x", "x"], {"x": 1}]
)


def paths(value: Json, path: Place = ()) -> Iterator[Place]:
    """Yield the path of every part of a tree but its root."""
    parts: list[tuple[str | int, Json]] = []
    if isinstance(value, dict):
        parts += value.items()
    elif isinstance(value, list):
        parts += enumerate(value)
    for key, each in parts:
        yield (*path, key)
        yield from paths(each, (*path, key))


def changed(value: Json, path: Place, how: str, junk: Json) -> Json:
    """Return a tree with the part at a path replaced or removed, or junk put beside it."""
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        there = dict(value)
        if rest:
            return there | {str(key): changed(there[str(key)], rest, how, junk)}
        if how == "remove":
            return {name: each for name, each in there.items() if name != key}
        return there | {str(key) if how == "replace" else "bogus": junk}
    assert isinstance(value, list)
    assert isinstance(key, int)
    before, after = value[:key], value[key + 1 :]
    if rest:
        return [*before, changed(value[key], rest, how, junk), *after]
    kept = {"replace": [junk], "remove": [], "add": [value[key], junk]}[how]
    return [*before, *kept, *after]


@st.composite
def broken(draw: st.DrawFn) -> Json:
    """Draw a workflow with one part replaced, removed or added to."""
    path = draw(st.sampled_from([*paths(RICH)]))
    return changed(RICH, path, draw(st.sampled_from(["replace", "remove", "add"])), draw(JUNK))


@settings(max_examples=300)
@given(broken())
def test_it_refuses_what_the_tables_refuse_and_nothing_that_compiles(tree: Json) -> None:
    report = Report("", lambda *_: Position(line=1, column=1))
    check(WORKFLOW, tree, (), report)
    refused = not VALIDATOR.is_valid(tree)
    if any(each.code in SHAPE for each in report.diagnostics()):
        assert refused
    read = read_document(json.dumps(tree).encode(), "a.json")
    assert isinstance(read, Document)
    routines = {"wr.templates.routine.x": read}
    compiled = compile_workflow(read, Sources(routines=routines))
    if refused:
        assert compiled.workflow is None

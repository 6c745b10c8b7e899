"""Every bundled workflow is lint clean, goes through all of its branches, and asks in few words."""

import re
from functools import cache
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

import headway
from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.compiler.templates import routine_template_id
from headway.domain.graphing.mermaid import mermaid
from headway.domain.graphing.svg import svg
from headway.domain.linting.linting import lint
from headway.domain.previewing.preview import preview
from headway.domain.simulating.branches import branches
from headway.domain.simulating.simulate import Coverage, simulate
from headway.domain.workflow import Workflow
from tests.conformance.traces import SHARED

BUNDLED: Final = Path(headway.__file__).parent / "workflows"
RECORDED: Final = SHARED / "workflows"
PROMPT_BYTES_MAX: Final = 4_096

Compiled = tuple[Document, Workflow]


def paths(folder: Path) -> list[Path]:
    return sorted([*folder.rglob("*.yaml"), *folder.rglob("*.json")]) if folder.is_dir() else []


def read(path: Path) -> Document:
    document = read_document(path.read_bytes(), str(path))
    assert isinstance(document, Document), document
    return document


@cache
def routines(folder: Path) -> dict[str, Document]:
    found = {routine_template_id(str(d.root["id"])): d for d in map(read, paths(folder))}
    return {name: document for name, document in found.items() if name}


@cache
def compiled(path: Path, folder: Path) -> Compiled:
    document = read(path)
    compilation = compile_workflow(document, Sources(routines=routines(folder)))
    assert compilation.workflow is not None, compilation.diagnostics
    return document, compilation.workflow


def untaken(coverage: Coverage) -> list[str]:
    dead = [f"dead end at {each.step}: {each.why}" for each in coverage.dead_ends]
    return dead + [f"{each.branch.told()}: {each.why}" for each in coverage.missed]


every = pytest.mark.parametrize("path", paths(BUNDLED), ids=lambda path: path.stem)
recorded = pytest.mark.parametrize("path", paths(RECORDED), ids=lambda path: path.stem)


@every
def test_it_is_lint_clean(path: Path) -> None:
    document, _ = compiled(path, BUNDLED)
    compilation = compile_workflow(document, Sources(routines=routines(BUNDLED)))
    known = frozenset(str(read(each).root["id"]) for each in paths(BUNDLED))
    found = lint(document, compilation, routines(BUNDLED), known)
    assert [each.text() for each in found] == []


@every
def test_every_branch_that_can_be_reached_is_taken(path: Path) -> None:
    coverage = simulate(compiled(path, BUNDLED)[1])
    assert untaken(coverage) == []
    assert not coverage.exhausted


@every
def test_no_step_is_for_nobody(path: Path) -> None:
    coverage = simulate(compiled(path, BUNDLED)[1])
    assert [each.branch.told() for each in coverage.untaken if each.branch.kind == "step"] == []


@every
def test_each_prompt_is_short(path: Path) -> None:
    document, workflow = compiled(path, BUNDLED)
    sizes = {each.id: each.size for each in preview(workflow, document.root)}
    assert {name: size for name, size in sizes.items() if size > PROMPT_BYTES_MAX} == {}


@every
def test_its_drawing_shows_every_step(path: Path) -> None:
    _, workflow = compiled(path, BUNDLED)
    picture, text = svg(workflow), mermaid(workflow)
    assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - made right here
    assert len(re.findall(r'class="(?:work|gated)"', picture)) == len(preview(workflow))
    assert text.count('["') >= len(preview(workflow))


@recorded
def test_a_recorded_file_is_simulated_previewed_and_drawn(path: Path) -> None:
    document, workflow = compiled(path, RECORDED)
    coverage = simulate(workflow)
    assert not coverage.exhausted
    assert len(coverage.taken) + len(coverage.untaken) == len(branches(workflow))
    assert preview(workflow, document.root)
    ET.fromstring(svg(workflow))  # noqa: S314 - made right here
    assert mermaid(workflow)

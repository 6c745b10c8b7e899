"""The recorded workflow files compile; the broken ones are refused with place, reason, remedy."""

from functools import cache
from pathlib import Path

import pytest

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, declared_id, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.compiler.templates import routine_template_id
from headway.domain.diagnostics import Diagnostic

SHARED = Path(__file__).parents[4] / "shared" / "conformance"
WORKFLOWS = SHARED / "workflows"

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(),
    reason="the recorded files are not beside this checkout (../shared/conformance)",
)


def names(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.json"))


@cache
def documents() -> dict[Path, Document]:
    read = {path: read_document(path.read_bytes(), path.name) for path in names(WORKFLOWS)}
    return {path: each for path, each in read.items() if isinstance(each, Document)}


@cache
def sources() -> Sources:
    named = {routine_template_id(str(each.root["id"])): each for each in documents().values()}
    return Sources(routines={name: each for name, each in named.items() if name})


def problems_of(path: Path) -> tuple[Diagnostic, ...]:
    read = read_document(path.read_bytes(), path.name)
    return compile_workflow(read, sources()).diagnostics if isinstance(read, Document) else read


def test_every_recorded_workflow_compiles_without_an_error() -> None:
    assert len(documents()) == len(names(WORKFLOWS))
    for path, document in documents().items():
        compilation = compile_workflow(document, sources())
        assert compilation.workflow, [each.text() for each in compilation.diagnostics]
        assert compilation.workflow.id == declared_id(path.read_bytes(), path.name)


def test_every_broken_file_is_told_with_one_problem_and_its_place() -> None:
    broken = names(SHARED / "invalid")
    assert len(broken) == 14
    for path in broken:
        (found,) = problems_of(path)
        assert (found.file, found.severity) == (path.name, "error")
        assert found.line >= 1
        assert all((found.what, found.why, found.remedy))
        assert declared_id(path.read_bytes(), path.name) == path.stem

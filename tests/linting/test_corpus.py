"""Over the recorded workflow files the linter finds what is known to be wrong, and little else."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.compiler.templates import routine_template_id
from headway.domain.diagnostics import Diagnostic
from headway.domain.linting.linting import lint

WORKFLOWS = Path(__file__).parents[3] / "shared" / "conformance" / "workflows"

pytestmark = pytest.mark.skipif(
    not WORKFLOWS.is_dir(),
    reason="the recorded files are not beside this checkout (../shared/conformance)",
)


@cache
def found() -> dict[str, list[Diagnostic]]:
    """Return what is said of each file, by its path in the folder."""
    documents = {}
    for path in sorted(WORKFLOWS.rglob("*.json")):
        read = read_document(path.read_bytes(), path.relative_to(WORKFLOWS).as_posix())
        assert isinstance(read, Document)
        documents[read.name] = read
    ids = {name: str(each.root["id"]) for name, each in documents.items()}
    named = {routine_template_id(ids[name]): each for name, each in documents.items()}
    routines = {name: each for name, each in named.items() if name}
    known = frozenset(ids.values())
    return {
        name: [*lint(each, compile_workflow(each, Sources(routines=routines)), routines, known)]
        for name, each in documents.items()
    }


@pytest.mark.parametrize(
    ("file", "code", "path"),
    [
        ("intelligent-test-case-generation.json", "CONDITION_ALWAYS_TRUE", "steps[1].runCondition"),
        ("internal/wr.gate-eval-generic.json", "DEMAND_SILENCED", "steps[1].assessmentRefs"),
        (
            "learner-centered-course-workflow.json",
            "VARIABLE_NEVER_SET",
            "steps[1].runCondition.var",
        ),
        ("document-creation-workflow.json", "CONFIRMATION_AFTER_EFFECT", "steps[6].prompt"),
        ("examples/loops/simple-batch.json", "TEMPLATE_EXPRESSION", "steps[2].prompt"),
    ],
)
def test_a_known_defect_is_found(file: str, code: str, path: str) -> None:
    assert (code, path) in [(each.code, each.path) for each in found()[file]]


def test_no_file_has_an_error_and_most_have_no_warning() -> None:
    real = {name: each for name, each in found().items() if not name.startswith("cases/")}
    weights = Counter(each.severity for found_there in real.values() for each in found_there)
    assert weights["error"] == 0
    warned = [n for n, each in real.items() if any(one.severity == "warning" for one in each)]
    assert len(warned) <= len(real) / 2


def test_no_rule_floods_a_file() -> None:
    for name, each in found().items():
        counts = Counter(one.code for one in each)
        assert max(counts.values(), default=0) <= 20, name

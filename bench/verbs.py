"""The other verbs, and the compiler."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.advances import Session, begin
from bench.figures import Figure
from bench.sizes import Sizes
from bench.timing import repeated
from headway.adapters.workflows.listing import SUFFIXES
from headway.application.continue_workflow import continue_workflow
from headway.application.engine import Engine
from headway.application.requests import ContinueWorkflow
from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.compiler.templates import routine_template_id

ROOT = Path(__file__).parents[1]
BUNDLED = ROOT / "src" / "headway" / "workflows"
CORPUS = ROOT.parent / "shared" / "conformance" / "workflows"
COMPILE_MS_MAX = 25.0


def measure_verbs(engine: Engine, workspace: Path, sizes: Sizes) -> Iterator[Figure]:
    """Yield the figures of starting a session and of reading a step again."""
    group = "other verbs"
    took = repeated(lambda: begin(engine, workspace), sizes.repeats)
    yield Figure(group=group, name="start_workflow", value=took, unit="ms")
    for depth in sizes.depths[:2]:
        session = begin(engine, workspace)
        for _ in range(depth):
            session.advance()
        took = repeated(partial(_rehydrate, session), sizes.repeats)
        name = f"continue_workflow, rehydrate at step {depth:,}"
        yield Figure(group=group, name=name, value=took, unit="ms")


def measure_compiler(sizes: Sizes) -> Iterator[Figure]:
    """Yield how long the largest files take from their bytes to the compiled form and its hash."""
    for name, folder in (("bundled", BUNDLED), ("corpus", CORPUS)):
        if not folder.is_dir():
            continue
        routines = _routines(folder)
        largest = max(_files(folder), key=lambda path: path.stat().st_size)
        data = largest.read_bytes()

        def compiled(
            data: bytes = data, path: Path = largest, routines: dict[str, Document] = routines
        ) -> None:
            document = read_document(data, path.name)
            assert isinstance(document, Document), document
            outcome = compile_workflow(document, Sources(routines=routines))
            assert outcome.hash, outcome.diagnostics

        yield Figure(
            group="compile, bytes to hash",
            name=f"largest of the {name} files",
            value=repeated(compiled, sizes.repeats),
            unit="ms",
            target=COMPILE_MS_MAX,
            note=f"{largest.name}, {len(data):,} bytes",
        )


def _rehydrate(session: Session) -> None:
    request = ContinueWorkflow(continue_token=session.token, intent="rehydrate")
    assert continue_workflow(session.engine, request)["kind"] == "ok"


def _routines(folder: Path) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for path in _files(folder):
        document = read_document(path.read_bytes(), str(path))
        name = document.root.get("id") if isinstance(document, Document) else None
        template = routine_template_id(name) if isinstance(name, str) else None
        if template and isinstance(document, Document):
            found.setdefault(template, document)
    return found


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)

"""The catalogue, asked again: nothing changed, or one file of many; and the tool on top of it."""

import json
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bench.figures import Figure
from bench.sizes import Sizes
from bench.timing import once, repeated
from headway.application.engine import Engine
from headway.application.list_workflows import list_workflows
from headway.application.requests import ListWorkflows
from headway.bootstrap import open_engine
from headway.config import Settings
from headway.domain.values import Json
from headway.ports.catalogue import Catalogue, Entry

GROUP = "catalogue"
WARM_MS_MAX = 10.0
CHANGED_MS_MAX = 15.0
LISTING_MS_MAX = 5.0
STEPS = 9
TREE_FOLDERS = 200  # of the workspace, which are searched too


def measure_catalogue(settings: Settings, sizes: Sizes) -> Iterator[Figure]:
    """Yield what a look at many files costs, after a first one."""
    with _files(settings, sizes.catalogue_files) as (engine, workspace, folder):
        catalogue = engine.catalogue
        count = len(catalogue.entries(workspace))
        took = repeated(lambda: catalogue.entries(workspace), sizes.repeats)
        yield Figure(
            group=GROUP, name=f"call, {count} unchanged files", value=took, unit="ms",
            target=WARM_MS_MAX,
        )  # fmt: skip
        times = [_changed(catalogue, workspace, folder, n) for n in range(sizes.repeats)]
        yield Figure(
            group=GROUP, name=f"call, one changed file of {count}",
            value=statistics.median(times), unit="ms", target=CHANGED_MS_MAX,
        )  # fmt: skip
    with _files(settings, sizes.listed_files) as (engine, workspace, _):
        request = ListWorkflows(workspace_path=workspace)
        found = list_workflows(engine, request)["workflows"]
        assert isinstance(found, list)
        took = repeated(lambda: list_workflows(engine, request), sizes.repeats)
        yield Figure(
            group=GROUP, name=f"list_workflows, {len(found)} unchanged files", value=took,
            unit="ms", target=LISTING_MS_MAX,
        )  # fmt: skip


def _changed(catalogue: Catalogue, workspace: str, folder: Path, number: int) -> float:
    """Return how long the next call after a change of a file took, which must have seen it."""
    name = f"Version {number}"
    _write(folder / "file-000.json", 0, name)
    seen: dict[str, Entry] = {}
    took = once(lambda: seen.update((each.id, each) for each in catalogue.entries(workspace)))
    workflow = seen["bench.file-000"].workflow
    assert workflow is not None
    assert workflow.name == name
    return took


@contextmanager
def _files(settings: Settings, count: int) -> Iterator[tuple[Engine, str, Path]]:
    """Yield an engine, a workspace of some folders, and its folder of so many workflow files."""
    with tempfile.TemporaryDirectory(dir=settings.user_home) as name:
        workspace = Path(name, "workspace")
        folder = workspace / ".headway" / "workflows"
        folder.mkdir(parents=True)
        for number in range(count):
            _write(folder / f"file-{number:03}.json", number, f"File {number}")
        for number in range(TREE_FOLDERS):
            (workspace / "src" / f"{number % 10}" / f"{number}").mkdir(parents=True)
        given = replace(settings, home=Path(name, "home"), workflow_path=())
        with open_engine(given) as engine:
            yield engine, str(workspace), folder


def _write(path: Path, number: int, name: str) -> None:
    steps: list[Json] = [
        {"id": f"step-{n}", "title": f"S{n}", "prompt": "Do it."} for n in range(STEPS)
    ]
    written = {"id": f"bench.file-{number:03}", "name": name, "description": "One of many."}
    path.write_text(json.dumps({**written, "version": "1.0.0", "steps": steps}), "utf-8")

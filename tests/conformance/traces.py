"""The recorded runs, and what an answer is reduced to before it is compared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
OWN = HERE / "traces"
SHARED = HERE.parents[2] / "shared" / "conformance"


@dataclass(frozen=True)
class Trace:
    """A recorded run: the workflow file it was made with, and its calls."""

    name: str
    file: Path
    workflow: str
    calls: tuple[Mapping[str, Any], ...]


def load(path: Path, workflows: Path) -> Trace:
    data = json.loads(path.read_text("utf-8"))
    return Trace(
        name=path.stem,
        file=workflows / data["file"],
        workflow=data["workflow"],
        calls=tuple(data["calls"]),
    )


def own_traces() -> list[Trace]:
    """Return the runs of the hand-made cases, which travel with the project."""
    return [load(path, HERE) for path in sorted(OWN.glob("*.json"))]


def shared_traces() -> list[Trace]:
    """Return every recorded run, where they lie beside the checkout."""
    return [load(path, SHARED / "workflows") for path in sorted((SHARED / "traces").glob("*.json"))]


def require_shared(*, ci: bool) -> None:
    """Skip the test without the recorded runs; on CI they have to be there."""
    if SHARED.is_dir():
        return
    message = "the recorded runs are not beside this checkout (../shared/conformance)"
    if ci:
        pytest.fail(message)
    pytest.skip(message)

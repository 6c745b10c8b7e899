"""Finding what a request names: its workspace, its workflow."""

import difflib
import os.path
from pathlib import PurePath
from typing import Final

from headway.application.engine import Engine
from headway.domain.diagnostics import Diagnostic
from headway.domain.errors import InvalidInput, NotFound, PreconditionFailed
from headway.domain.values import Json
from headway.domain.workflow import Workflow
from headway.ports.catalogue import Entry

SUGGESTIONS_MAX: Final = 3
SIMILARITY_MIN: Final = 0.6


def workspace_of(engine: Engine, path: str) -> str:
    """Return the workspace, normalised. Raises InvalidInput unless it is a folder, absolute."""
    if not PurePath(path).is_absolute() or "\0" in path:
        raise InvalidInput(
            f"The workspace path {path!r} is not absolute.",
            remedy="Send the absolute path of the folder you work in.",
            details={"kind": "workspace_not_absolute"},
        )
    normal = os.path.normpath(path)
    if not engine.workspace.exists(normal):
        raise InvalidInput(
            f"The workspace {normal!r} does not exist or is not a folder.",
            remedy="Send the path of an existing folder, as the machine of this server sees it.",
            details={"kind": "workspace_missing"},
        )
    return normal


def startable(engine: Engine, workflow_id: str, workspace: str) -> tuple[Entry, Workflow]:
    """Return the entry of a workflow and its compiled form.

    Raises NotFound with the nearest ids, PreconditionFailed with the diagnostics of a broken file.
    """
    entry = engine.catalogue.find(workflow_id, workspace)
    if entry is None:
        raise _unknown(engine, workflow_id, workspace)
    if entry.workflow is None:
        first = entry.diagnostics[0]
        more = len(entry.diagnostics) - 1
        and_more = f" (and {more} more)" if more else ""
        raise PreconditionFailed(
            f"The workflow {workflow_id!r} cannot be started: {first.text()}{and_more}",
            remedy=first.remedy,
            details={
                "workflowId": entry.id,
                "file": entry.path,
                "diagnostics": [wire_diagnostic(each) for each in entry.diagnostics],
            },
        )
    return entry, entry.workflow


def wire_diagnostic(diagnostic: Diagnostic) -> dict[str, Json]:
    """Return a diagnostic in the wire's names."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "file": diagnostic.file,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "path": diagnostic.path,
        "what": diagnostic.what,
        "why": diagnostic.why,
        "remedy": diagnostic.remedy,
    }


def wire_shadows(entry: Entry) -> list[Json]:
    """Return the files an entry hides, in the wire's names, each with what decided."""
    return [{"path": each.path, "source": each.source, "why": each.why} for each in entry.shadows]


def _unknown(engine: Engine, workflow_id: str, workspace: str) -> NotFound:
    known = [entry.id for entry in engine.catalogue.entries(workspace)]
    folded = {name.lower(): name for name in known}
    close = difflib.get_close_matches(workflow_id.lower(), folded, SUGGESTIONS_MAX, SIMILARITY_MIN)
    near = [folded[name] for name in close]
    # The last part alone is what people tend to remember.
    near = near or [name for name in known if name.rpartition(".")[2] == workflow_id]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return NotFound(
        f"There is no workflow {workflow_id!r}.",
        remedy=f"{hint}list_workflows, or `headway workflows list`, shows all of this workspace.",
        details={"workflowId": workflow_id, "didYouMean": near[:SUGGESTIONS_MAX]},
    )

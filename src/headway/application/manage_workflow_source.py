"""Attach a folder of workflow files to the catalogue, or detach it."""

import os.path
from pathlib import PurePath
from typing import assert_never

from headway.application.engine import Engine
from headway.application.requests import ManageWorkflowSource, Reply
from headway.domain.errors import InvalidInput


def manage_workflow_source(engine: Engine, request: ManageWorkflowSource) -> Reply:
    """Attach or detach a folder; doing it twice changes nothing.

    Raises InvalidInput for a path that is not absolute or, when attaching, not a folder.
    """
    match request.action:
        case "attach":
            path = _absolute(request.path)
            if not engine.workspace.exists(path):
                raise InvalidInput(
                    f"The folder {path!r} does not exist or is not a folder.",
                    remedy="Send the path of an existing folder, as the server's machine sees it.",
                    details={"kind": "folder_missing"},
                )
            engine.sources.attach(path)
        case "detach":
            path = _absolute(request.path)  # one that is gone must still be detachable
            engine.sources.detach(path)
        case _:
            assert_never(request.action)
    return {"action": request.action, "path": path}


def _absolute(path: str) -> str:
    if not PurePath(path).is_absolute() or "\0" in path:
        raise InvalidInput(
            f"The path {path!r} is not absolute.",
            remedy="Send an absolute path; list_workflows shows the folders with includeSources.",
            details={"kind": "path_not_absolute"},
        )
    return os.path.normpath(path)

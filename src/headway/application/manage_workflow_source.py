"""Attach a folder of workflow files to the catalogue, or detach it."""

import os.path
from pathlib import PurePath
from typing import assert_never

from headway.application.engine import Engine
from headway.application.finding import workspace_of
from headway.application.requests import ManageWorkflowSource, Reply
from headway.domain.errors import InvalidInput


def manage_workflow_source(engine: Engine, request: ManageWorkflowSource) -> Reply:
    """Attach or detach a folder; doing it twice changes nothing.

    Raises InvalidInput for a path that is not absolute or, when attaching, not a folder.
    """
    match request.action:
        case "attach":
            path = workspace_of(engine, request.path)
            engine.sources.attach(path)
        case "detach":
            # A folder that is gone must still be detachable.
            if not PurePath(request.path).is_absolute():
                raise InvalidInput(
                    f"The path {request.path!r} is not absolute.",
                    remedy="Send the absolute path as list_workflows shows it.",
                    details={"kind": "path_not_absolute"},
                )
            path = os.path.normpath(request.path)
            engine.sources.detach(path)
        case _:
            assert_never(request.action)
    return {"action": request.action, "path": path}

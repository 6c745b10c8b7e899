"""Where a workflow file finds the schema that editors complete it with.

It stands in `.headway` of the workspace, above the folder of workflows, so that no catalogue takes
it for one, and a relative path leads to it on every machine the folder is shared with.
"""

import os.path
from typing import Final

import msgspec

from headway.domain.compiler.published_schema import workflow_schema
from headway.ports.drafts import Drafts

SCHEMA_PLACE: Final = (".headway", "workflow.schema.json")


def schema_of(workspace: str) -> str:
    """Return the path of the workspace's schema."""
    return os.path.join(workspace, *SCHEMA_PLACE)  # noqa: PTH118 - paths are texts here


def named_from(file: str, schema: str) -> str:
    """Return how a file names a schema, both given by absolute paths."""
    return os.path.relpath(schema, os.path.dirname(file)).replace(os.sep, "/")  # noqa: PTH120


def provide_schema(drafts: Drafts, workspace: str) -> None:
    """Write the workspace's schema if there is none. Raises PreconditionFailed."""
    path = schema_of(workspace)
    if not drafts.exists(path):
        text = msgspec.json.format(msgspec.json.encode(workflow_schema()), indent=2).decode()
        drafts.write(path, f"{text}\n", replace=False)

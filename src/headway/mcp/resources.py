"""Resources: what a client may read and show beside the conversation. Nothing is changed by it.

`headway://workflows` is the catalogue as `list_workflows` tells it, `headway://sessions/{id}` a
session as `headway sessions tree` draws it. Both are JSON. Neither holds a token, nor a step before
its time.
"""

import json
import re
from typing import Final, Protocol

from mcp.types import ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from headway.application.faults import NotFound
from headway.application.requests import ListWorkflows, Reply

JSON_TYPE: Final = "application/json"
WORKFLOWS: Final = "headway://workflows"
SESSION: Final = re.compile(r"headway://sessions/([A-Za-z0-9_]{1,64})")

RESOURCES: Final = [
    Resource(
        uri=WORKFLOWS,
        name="workflows",
        title="Workflows",
        description="The workflows that every workspace has: id, name and what each is for.",
        mime_type=JSON_TYPE,
    )
]
TEMPLATES: Final = [
    ResourceTemplate(
        uri_template="headway://sessions/{id}",
        name="session",
        title="Session",
        description="A session: its steps so far, with blocks, forks, checkpoints, skips, gates.",
        mime_type=JSON_TYPE,
    )
]


class Readable(Protocol):
    """The verbs behind the resources."""

    def list_workflows(self, request: ListWorkflows) -> Reply:
        """Answer which workflows there are."""

    def tell_session(self, name: str) -> Reply:
        """Answer what happened in a session."""


def read_resource(verbs: Readable, uri: str, user_home: str) -> ReadResourceResult:
    """Return a resource's text. Raises NotFound for an address that is none of ours."""
    content = TextResourceContents(
        uri=uri, mime_type=JSON_TYPE, text=json.dumps(_read(verbs, uri, user_home))
    )
    return ReadResourceResult(contents=[content])


def _read(verbs: Readable, uri: str, user_home: str) -> Reply:
    if uri == WORKFLOWS:
        return verbs.list_workflows(ListWorkflows(workspace_path=user_home))
    named = SESSION.fullmatch(uri)
    if named:
        return verbs.tell_session(named[1])
    raise NotFound(
        f"There is no resource {uri[:80]!a}.",
        remedy=f"Read {WORKFLOWS}, or headway://sessions/ with the id of a session behind it.",
        details={"uri": uri[:80]},
    )

"""The MCP server: seven tools over the verbs, one thread hop per call.

A handler parses, calls, renders, and holds no rule of the engine. A fault is an answer (`isError`,
with its envelope in both forms); anything else that goes wrong is a bug, logged here with its
traceback and told to the caller without internals.
"""

import logging
from functools import partial
from typing import Final, Protocol, assert_never

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from headway.application.faults import Fault, fault_reply, internal_fault
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    InspectWorkflow,
    JsonObject,
    ListWorkflows,
    ManageWorkflowSource,
    Reply,
    Request,
    ResumeSession,
    StartWorkflow,
)
from headway.mcp.arguments import parse_arguments, unknown_tool
from headway.mcp.render import render_fault, render_reply
from headway.mcp.schemas import INPUT_SCHEMAS
from headway.mcp.threads import Threads
from headway.mcp.tools import INSTRUCTIONS, tool_list

SERVER_NAME: Final = "headway"
CALLS_AT_ONCE_MAX: Final = 32  # further calls wait for a free thread

logger = logging.getLogger(__name__)


class Verbs(Protocol):
    """The engine's seven verbs; each returns a JSON-ready reply or raises a `Fault`."""

    def list_workflows(self, request: ListWorkflows) -> Reply:
        """Answer which workflows there are."""

    def inspect_workflow(self, request: InspectWorkflow) -> Reply:
        """Answer what a workflow is."""

    def start_workflow(self, request: StartWorkflow) -> Reply:
        """Begin a session."""

    def continue_workflow(self, request: ContinueWorkflow) -> Reply:
        """Hand a step in, or show it again."""

    def checkpoint_workflow(self, request: CheckpointWorkflow) -> Reply:
        """Mark progress."""

    def resume_session(self, request: ResumeSession) -> Reply:
        """Find sessions."""

    def manage_workflow_source(self, request: ManageWorkflowSource) -> Reply:
        """Attach or detach a folder."""


def build_server(verbs: Verbs, version: str, user_home: str) -> Server:
    """Return a server over the verbs; `user_home` is shown as `~` in errors."""
    threads = Threads(CALLS_AT_ONCE_MAX)

    async def list_tools(
        _context: ServerRequestContext, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tool_list())

    async def call_tool(
        _context: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult:
        return await threads.run(
            partial(answer, verbs, params.name, params.arguments or {}, user_home)
        )

    return Server(
        SERVER_NAME,
        version=version,
        title="Headway",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda _name: None,  # spares a tools/list before every call
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def answer(verbs: Verbs, tool: str, arguments: JsonObject, user_home: str) -> CallToolResult:
    """Call a verb and return its reply, or the fault it ended in, as a tool result."""
    try:
        if tool not in INPUT_SCHEMAS:
            raise unknown_tool(tool)  # noqa: TRY301 - told like every other fault
        reply = perform(verbs, parse_arguments(tool, arguments))
        return _result(reply, render_reply(tool, reply))
    except Fault as fault:
        return _fault_result(fault, user_home)
    except Exception:  # the outermost loop of a surface: a bug must not end the session
        logger.exception("%s failed", tool)
        return _fault_result(internal_fault(), user_home)


def perform(verbs: Verbs, request: Request) -> Reply:
    """Pass a request to its verb."""
    match request:
        case ListWorkflows():
            return verbs.list_workflows(request)
        case InspectWorkflow():
            return verbs.inspect_workflow(request)
        case StartWorkflow():
            return verbs.start_workflow(request)
        case ContinueWorkflow():
            return verbs.continue_workflow(request)
        case CheckpointWorkflow():
            return verbs.checkpoint_workflow(request)
        case ResumeSession():
            return verbs.resume_session(request)
        case ManageWorkflowSource():
            return verbs.manage_workflow_source(request)
        case _:
            assert_never(request)


def _fault_result(fault: Fault, user_home: str) -> CallToolResult:
    envelope = fault_reply(fault, user_home)
    return _result(envelope, render_fault(envelope), is_error=True)


def _result(structured: Reply, text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=text)], structured_content=structured, is_error=is_error
    )

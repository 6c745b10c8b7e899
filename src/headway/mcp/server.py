"""The MCP server: seven tools, prompts and resources over the verbs, one thread hop per call.

What an agent does again and again, it does in batches where the store gains by it (`threads.py`).

A handler parses, calls, renders, and holds no rule of the engine. A fault is an answer (`isError`,
with its envelope in both forms); anything else that goes wrong is a bug, logged here with its
traceback and told to the caller without internals.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeAlias, assert_never

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)
from msgspec.structs import replace
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

from headway.application.faults import Fault, fault_reply, internal_fault
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    DecideGate,
    InspectWorkflow,
    Json,
    JsonObject,
    ListWorkflows,
    ManageWorkflowSource,
    Reply,
    Request,
    ResumeSession,
    ShowGate,
    StartWorkflow,
)
from headway.mcp.arguments import parse_arguments, unknown_tool
from headway.mcp.asking import ask, can_ask
from headway.mcp.fault_log import log_fault
from headway.mcp.prompts import PROMPTS, get_prompt
from headway.mcp.relay.messages import CALL_KEY
from headway.mcp.render import render_fault, render_reply
from headway.mcp.resources import RESOURCES, TEMPLATES, read_resource
from headway.mcp.schemas import INPUT_SCHEMAS
from headway.mcp.threads import Batches, Threads, Together
from headway.mcp.tools import INSTRUCTIONS, tool_list

SERVER_NAME: Final = "headway"
CALLS_AT_ONCE_MAX: Final = 12  # further calls wait; more threads only get into each other's way
GATES_WISH: Final = "headway/gates"
LONG_CALLS_AT_ONCE_MAX: Final = 64  # these wait for checks, and for each other

logger = logging.getLogger(__name__)

# The result of a tool call as the protocol has it: the library makes a copy of it for each era,
# whether it is given this or a model, and to make a model first costs as much again.
ToolResult: TypeAlias = dict[str, Json]


class People(Protocol):
    """What is asked of the engine on behalf of a client's user; no tool leads here."""

    def show_gate(self, request: ShowGate) -> Reply:
        """Tell all that a gate shows."""

    def decide_gate(self, request: DecideGate) -> Reply:
        """Record a person's answer."""


class Call(NamedTuple):
    """A tool call; `key` is that of a caller who may send it again.

    `enforce_gates` is the wish of one who works without anybody to confirm a step.
    """

    tool: str
    arguments: JsonObject
    key: str | None = None
    enforce_gates: bool = False


class Verbs(Protocol):
    """The verbs behind tools and resources; each returns a JSON-ready reply or raises a `Fault`."""

    @property
    def together(self) -> Together | None:
        """What makes calls that come at once; None when each is to have a thread."""

    @property
    def people(self) -> People | None:
        """What to ask on behalf of a client's user; None when gates are not put before them."""

    def list_workflows(self, request: ListWorkflows) -> Reply:
        """Answer which workflows there are."""

    def inspect_workflow(self, request: InspectWorkflow) -> Reply:
        """Answer what a workflow is."""

    def start_workflow(self, request: StartWorkflow) -> Reply:
        """Begin a session."""

    def continue_workflow(self, request: ContinueWorkflow) -> Reply:
        """Hand a step in, or show it again."""

    def continue_soon(self, request: ContinueWorkflow) -> Reply | None:
        """Hand a step in; None, and nothing is done, where that may take long."""

    def checkpoint_workflow(self, request: CheckpointWorkflow) -> Reply:
        """Mark progress."""

    def resume_session(self, request: ResumeSession) -> Reply:
        """Find sessions."""

    def manage_workflow_source(self, request: ManageWorkflowSource) -> Reply:
        """Attach or detach a folder."""

    def tell_session(self, name: str) -> Reply:
        """Answer what happened in a session."""


def build_server(verbs: Verbs, version: str, user_home: str) -> Server:
    """Return a server over the verbs; `user_home` is shown as `~` in errors.

    A gate is put before the user of a client that can show it, unless the verbs have no `people`.
    """
    people = verbs.people
    threads = Threads(CALLS_AT_ONCE_MAX)
    steps = threads if verbs.together is None else Batches(verbs.together, CALLS_AT_ONCE_MAX)
    patient = Threads(LONG_CALLS_AT_ONCE_MAX)

    async def list_tools(
        _context: ServerRequestContext, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tool_list())

    async def answered(call: Call) -> ToolResult:
        made_by = steps if _is_step(call) else threads
        soon = await made_by.run(partial(answer_soon, verbs, call, user_home))
        if soon is not None:
            return soon
        return await patient.run(partial(answer, verbs, call, user_home))

    async def call_tool(
        context: ServerRequestContext, params: CallToolRequestParams
    ) -> ToolResult | InputRequiredResult:
        call = _call(params, context.meta or {})
        result = await answered(call)
        gate = _gate_of(result)
        if gate is None or people is None or not can_ask(context):
            return result
        shown = await threads.run(partial(_shown, people, gate))
        if shown is None:
            return result
        decision = await ask(context, params, shown)
        if isinstance(decision, InputRequiredResult):
            return decision
        if decision is None:
            return result
        await threads.run(partial(decide, people, decision))
        return await answered(call)

    async def read(
        _context: ServerRequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        return await threads.run(partial(_read, verbs, str(params.uri), user_home))

    server = Server(
        SERVER_NAME,
        version=version,
        title="Headway",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=read,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    _spare_spans(server)
    return server


def _spare_spans(server: Server) -> None:
    """Have no span made of each message where nobody collects them: that is a tenth of a call."""
    if isinstance(get_tracer_provider(), ProxyTracerProvider):
        server.middleware.clear()  # of what the library puts there by itself: its tracing alone


async def _list_resources(
    _context: ServerRequestContext, _params: PaginatedRequestParams | None
) -> ListResourcesResult:
    return ListResourcesResult(resources=RESOURCES)


async def _list_templates(
    _context: ServerRequestContext, _params: PaginatedRequestParams | None
) -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(resource_templates=TEMPLATES)


async def _list_prompts(
    _context: ServerRequestContext, _params: PaginatedRequestParams | None
) -> ListPromptsResult:
    return ListPromptsResult(prompts=PROMPTS)


async def _get_prompt(
    _context: ServerRequestContext, params: GetPromptRequestParams
) -> GetPromptResult:
    try:
        return get_prompt(params.name, params.arguments or {})
    except Fault as fault:
        raise _protocol_error(fault, "prompts/get", "") from fault


def _read(verbs: Verbs, uri: str, user_home: str) -> ReadResourceResult:
    try:
        return read_resource(verbs, uri, user_home)
    except Fault as fault:
        raise _protocol_error(fault, "resources/read", user_home) from fault
    except Exception as error:  # the outermost loop of a surface, as in `answer`
        logger.exception("resources/read failed")
        raise _protocol_error(internal_fault(), "resources/read", user_home) from error


def _protocol_error(fault: Fault, method: str, user_home: str) -> MCPError:
    """Return the protocol's own error for a fault: only a tool has a result that can hold one."""
    log_fault(method, {}, fault)
    reply = fault_reply(fault, user_home)
    data = {**reply, "remedy": fault.remedy}
    return MCPError(INVALID_PARAMS, f"{reply['message']} {fault.remedy}", data)


def answer(verbs: Verbs, call: Call, user_home: str) -> ToolResult:
    """Call a verb and return its reply, or the fault it ended in, as a tool result."""
    result = _answer(verbs, call, user_home, patient=True)
    assert result is not None
    return result


def answer_soon(verbs: Verbs, call: Call, user_home: str) -> ToolResult | None:
    """Answer as `answer` does; None, and nothing is done, when that takes long."""
    return _answer(verbs, call, user_home, patient=False)


def _answer(verbs: Verbs, call: Call, user_home: str, *, patient: bool) -> ToolResult | None:
    tool = call.tool
    try:
        if tool not in INPUT_SCHEMAS:
            raise unknown_tool(tool)  # noqa: TRY301 - told like every other fault
        request = parse_arguments(tool, call.arguments)
        if isinstance(request, StartWorkflow):
            gates = "enforce" if call.enforce_gates else None
            request = replace(request, call_key=call.key, gates=gates)
        reply = perform(verbs, request) if patient else _perform_soon(verbs, request)
        return None if reply is None else _result(reply, render_reply(tool, reply))
    except Fault as fault:
        log_fault(tool, call.arguments, fault)
        return _fault_result(fault, user_home)
    except Exception:  # the outermost loop of a surface: a bug must not end the session
        logger.exception("%s failed", tool)
        return _fault_result(internal_fault(), user_home)


def decide(people: People, decision: DecideGate) -> None:
    """Record a decision; one that came too late is logged, and the first one stands."""
    try:
        people.decide_gate(decision)
    except Fault as fault:
        log_fault("elicitation", {}, fault)


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


def _perform_soon(verbs: Verbs, request: Request) -> Reply | None:
    if isinstance(request, ContinueWorkflow) and request.intent == "advance":
        return verbs.continue_soon(request)
    return perform(verbs, request)


def _shown(people: People, gate: str) -> Reply | None:
    """Return what a gate shows, None when it cannot be shown any more: it may have been purged."""
    try:
        return people.show_gate(ShowGate(gate=gate))
    except Fault as fault:
        log_fault("elicitation", {}, fault)
        return None


def _is_step(call: Call) -> bool:
    """Tell whether a call hands something in: the short calls, of which there are most."""
    if call.tool == "checkpoint_workflow":
        return True
    return call.tool == "continue_workflow" and call.arguments.get("intent") == "advance"


def _gate_of(result: ToolResult) -> str | None:
    reply = result["structuredContent"]
    if not isinstance(reply, dict) or reply.get("kind") != "gate_checkpoint":
        return None
    return str(reply["gateId"])


def _call(params: CallToolRequestParams, meta: Mapping[str, object]) -> Call:
    key = meta.get(CALL_KEY)
    return Call(
        params.name,
        params.arguments or {},
        key if isinstance(key, str) else None,
        meta.get(GATES_WISH) == "enforce",
    )


def _fault_result(fault: Fault, user_home: str) -> ToolResult:
    envelope = fault_reply(fault, user_home)
    return _result(envelope, render_fault(envelope), is_error=True)


def _result(structured: Reply, text: str, *, is_error: bool = False) -> ToolResult:
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": is_error,
    }

"""The story: five steps, one refusal, one crash, one end. Any other course fails the demo."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import anyio.to_thread

from headway.application.requests import Json, JsonObject
from headway.cli.demo.agent import ScriptedAgent, Work
from headway.cli.demo.connection import Connection, connected
from headway.cli.demo.sample import GOAL
from headway.cli.demo.serving import Server, serving
from headway.cli.demo.shell import DemoFailedError
from headway.cli.demo.telling import Teller

WORKFLOW: Final = "hw.bug-fix"
STEPS: Final = ("reproduce", "diagnose", "fix", "verify", "report")
KILLED_AFTER: Final = "fix"
REFUSED_AT: Final = "report"
BLOCKER: Final = "MISSING_REQUIRED_OUTPUT"
REMEDY_LINES_MAX: Final = 3
EXAMPLE: Final = " Example: "  # what follows is for the agent, and long


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the story plays; `environment` is that of the server and of `headway mcp`."""

    folder: Path
    environment: Mapping[str, str]
    agent: ScriptedAgent
    teller: Teller

    def say(self, actor: str, text: str, colour: str = "", lines_max: int | None = None) -> None:
        """Tell what an actor does."""
        self.teller.tells(actor, text, colour, lines_max)


async def play(stage: Stage) -> None:
    """Play the story to its end. Raises DemoFailedError when it takes another course."""
    before = STEPS.index(KILLED_AFTER) + 1
    stage.say("you", GOAL)
    async with AsyncExitStack() as stack:
        first = await _served(stage, stack, "headway up serves MCP at {url}, process {pid}")
        connection = await stack.enter_async_context(connected(stage.folder, stage.environment))
        reply = await _start(stage, connection)
        for step in STEPS[:before]:
            reply = await _do(stage, connection, reply, step)
        await _crash(stage, first)
        second = await _served(stage, stack, "headway up again, process {pid}, on the same home")
        stage.say("agent", "is still connected, holds its token and goes on where it was")
        for step in STEPS[before:]:
            reply = await _do(stage, connection, reply, step)
        await second.stop()
    if reply.get("isComplete") is not True:
        raise DemoFailedError("Five steps were handed in and the workflow is not complete.")
    stage.say("headway", "the workflow is complete", "green")


async def _served(stage: Stage, stack: AsyncExitStack, told: str) -> Server:
    server = await stack.enter_async_context(serving(stage.folder, stage.environment))
    stage.say("server", told.format(url=server.url, pid=server.pid))
    return server


async def _start(stage: Stage, connection: Connection) -> JsonObject:
    tools = await connection.tools()
    stage.say("agent", f"connects with headway mcp, sees {tools} tools, starts {WORKFLOW}")
    workspace = str(stage.agent.shell.folder)
    reply = await connection.call(
        "start_workflow", {"workflowId": WORKFLOW, "workspacePath": workspace, "goal": GOAL}
    )
    stage.say("headway", "shows the first step; the others stay hidden until it is done", "green")
    return reply


async def _do(stage: Stage, connection: Connection, reply: JsonObject, step: str) -> JsonObject:
    pending = _object(reply, "pending")
    if pending.get("stepId") != step:
        raise DemoFailedError(f"The engine shows step {pending.get('stepId')!r}, not {step!r}.")
    stage.teller.title(f"Step {STEPS.index(step) + 1}. {pending.get('title')}", f"({step})")
    work = await anyio.to_thread.run_sync(partial(stage.agent.work, step))
    if step == REFUSED_AT:
        reply = await _be_refused(stage, connection, reply, work)
    stage.teller.says("agent", work.told)
    began = time.perf_counter()
    answer = await connection.call("continue_workflow", _hand_in(reply, work))
    if answer.get("kind") != "ok":
        raise DemoFailedError(f"Step {step} was handed in and not accepted: {answer}")
    took = (time.perf_counter() - began) * 1000
    stage.say("headway", f"accepted and safe on disk, in {took:.0f} ms", "green")
    for warning in _objects(answer, "warnings"):
        text = f"on record: {warning.get('message') or warning.get('kind')}"
        stage.teller.says("", [text], "yellow")
    return answer


async def _be_refused(
    stage: Stage, connection: Connection, reply: JsonObject, work: Work
) -> JsonObject:
    """Hand the step in without its artifact; return the refusal, which holds the next token."""
    stage.say("agent", "says it is done, without the report that the step demands")
    careless = Work(notes=work.notes, told=())
    refused = await connection.call("continue_workflow", _hand_in(reply, careless))
    blockers = _objects(_object(refused, "blockers"), "blockers")
    codes = [blocker.get("code") for blocker in blockers]
    if refused.get("kind") != "blocked" or codes != [BLOCKER]:
        raise DemoFailedError(f"The step should have been refused with {BLOCKER}; got {refused}")
    stage.say("headway", f"BLOCKED: {BLOCKER}", "red")
    stage.say("", str(blockers[0].get("message")), "red", REMEDY_LINES_MAX)
    to_do = str(blockers[0].get("suggestedFix")).partition(EXAMPLE)[0]
    stage.say("", f"To do: {to_do}", "", REMEDY_LINES_MAX)
    return refused


async def _crash(stage: Stage, server: Server) -> None:
    stage.teller.title("Crash")
    await server.kill()
    stage.say(
        "server", f"kill -9 {server.pid}: gone, between two steps, without a last word", "red"
    )


def _hand_in(reply: JsonObject, work: Work) -> dict[str, Json]:
    token = reply.get("retryContinueToken") or reply.get("continueToken")
    output: dict[str, Json] = {"notesMarkdown": work.notes}
    if work.artifacts:
        output["artifacts"] = list(work.artifacts)
    return {"continueToken": token, "intent": "advance", "output": output}


def _object(reply: JsonObject, name: str) -> JsonObject:
    found = reply.get(name)
    return found if isinstance(found, Mapping) else {}


def _objects(reply: JsonObject, name: str) -> list[JsonObject]:
    found = reply.get(name)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [each for each in found if isinstance(each, Mapping)]

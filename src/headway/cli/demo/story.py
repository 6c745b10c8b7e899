"""The story: five steps, one refusal, one crash, one end. Any other course fails the demo."""

import textwrap
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
from headway.cli.demo.shell import DemoFailedError
from headway.cli.demo.telling import Teller

WORKFLOW: Final = "hw.bug-fix"
STEPS: Final = ("reproduce", "diagnose", "fix", "verify", "report")
KILLED_AFTER: Final = "fix"
REFUSED_AT: Final = "report"
TOKEN_SHOWN: Final = 9
BLOCKER: Final = "MISSING_REQUIRED_OUTPUT"


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the story plays."""

    folder: Path
    home: Path
    agent: ScriptedAgent
    teller: Teller


async def play(stage: Stage) -> None:
    """Play the story to its end. Raises DemoFailedError when it takes another course."""
    teller = stage.teller
    async with AsyncExitStack() as first:
        connection = await _connect(first, stage)
        reply = await connection.call(
            "start_workflow",
            {
                "workflowId": WORKFLOW,
                "workspacePath": str(stage.agent.shell.folder),
                "goal": GOAL,
            },
        )
        teller.says("goal", textwrap.wrap(GOAL, teller.style.width - 14))
        for step in STEPS[: STEPS.index(KILLED_AFTER) + 1]:
            reply = await _do(stage, connection, reply, step)
        await _kill(teller, connection)
    async with AsyncExitStack() as second:
        connection = await _connect(second, stage)
        token = str(reply.get("continueToken"))[:TOKEN_SHOWN]
        teller.says("agent", [f"goes on with the token it holds ({token}...) on the same store"])
        for step in STEPS[STEPS.index(KILLED_AFTER) + 1 :]:
            reply = await _do(stage, connection, reply, step)
    if reply.get("isComplete") is not True:
        raise DemoFailedError("Five steps were handed in and the workflow is not complete.")
    teller.says("engine", ["the workflow is complete"], "green")


async def _connect(stack: AsyncExitStack, stage: Stage) -> Connection:
    began = time.perf_counter()
    connection = await stack.enter_async_context(connected(stage.folder, stage.home))
    tools = await connection.tools()
    took = time.perf_counter() - began
    text = f"headway mcp, pid {connection.pid}, over stdio: {tools} tools, up in {took:.1f} s"
    stage.teller.says("server", [text])
    return connection


async def _do(stage: Stage, connection: Connection, reply: JsonObject, step: str) -> JsonObject:
    pending = _object(reply, "pending")
    if pending.get("stepId") != step:
        raise DemoFailedError(f"The engine shows step {pending.get('stepId')!r}, not {step!r}.")
    stage.teller.blank()
    stage.teller.title(f"Step {STEPS.index(step) + 1}. {pending.get('title')} ({step})")
    work = await anyio.to_thread.run_sync(partial(stage.agent.work, step))
    if step == REFUSED_AT:
        reply = await _be_refused(stage.teller, connection, reply, work)
    stage.teller.says("agent", work.told)
    began = time.perf_counter()
    answer = await connection.call("continue_workflow", _hand_in(reply, work))
    if answer.get("kind") != "ok":
        raise DemoFailedError(f"Step {step} was handed in and not accepted: {answer}")
    took = (time.perf_counter() - began) * 1000
    stage.teller.says("engine", [f"accepted, on disk, answered in {took:.0f} ms"], "green")
    for warning in _objects(answer, "warnings"):
        text = f"noted: {warning.get('message') or warning.get('kind')}"
        stage.teller.says("", textwrap.wrap(text, stage.teller.style.width - 14), "yellow")
    return answer


async def _be_refused(
    teller: Teller, connection: Connection, reply: JsonObject, work: Work
) -> JsonObject:
    """Hand the step in without its artifact; return the refusal, which holds the next token."""
    teller.says("agent", ["says it is done, without the report that the step demands"])
    careless = Work(notes=work.notes, told=())
    refused = await connection.call("continue_workflow", _hand_in(reply, careless))
    blockers = _objects(_object(refused, "blockers"), "blockers")
    codes = [blocker.get("code") for blocker in blockers]
    if refused.get("kind") != "blocked" or codes != [BLOCKER]:
        raise DemoFailedError(f"The step should have been refused with {BLOCKER}; got {refused}")
    lines = [f"BLOCKED: {BLOCKER}"]
    for text in (blockers[0].get("message"), f"To do: {blockers[0].get('suggestedFix')}"):
        lines += textwrap.wrap(str(text), teller.style.width - 14)
    teller.says("engine", lines, "red")
    return refused


async def _kill(teller: Teller, connection: Connection) -> None:
    teller.blank()
    teller.title("Crash")
    await connection.kill()
    teller.says("server", [f"kill -9 {connection.pid}: gone, in the middle of the session"], "red")


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

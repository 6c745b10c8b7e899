"""A run's tools on a real folder, and an engine that answers what a test told it to."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from headway.adapters.machine.processes import HostProcesses
from headway.agent.tooling import output_name
from headway.agent.tools.assembling import run_tools
from headway.agent.tools.toolset import Toolset
from headway.domain.errors import Fault
from headway.domain.ids import SessionId
from headway.domain.runs.messages import ToolCall, ToolResult
from headway.domain.values import Json
from headway.ports.engine import AllDone, Refused, SessionWanted, Whereabouts, Work


class AnsweringEngine:
    """Answers each hand-in with the next of the answers it was made with, and keeps the work."""

    def __init__(self, answers: Iterable[Whereabouts | Refused | Fault] = ()) -> None:
        self.handed_in: list[Work] = []
        self._answers = list(answers)

    async def start(self, wanted: SessionWanted) -> SessionId:
        return SessionId("sess_tested")

    async def sync(self, session: SessionId) -> Whereabouts:
        return AllDone()

    async def current(self) -> Whereabouts:
        return AllDone()

    async def complete(self, work: Work) -> Whereabouts | Refused:
        self.handed_in.append(work)
        answer = self._answers.pop(0)
        if isinstance(answer, Fault):
            raise answer
        return answer


class KeptOutputs:
    """The whole texts of results, by name."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def find(self, name: str) -> str | None:
        return self.kept.get(name)


class Workbench:
    """Calls tools as the loop does, and keeps what their answers leave out."""

    def __init__(self, root: Path, engine: AnsweringEngine | None = None, **more: str) -> None:
        self.root = root
        self.outputs = KeptOutputs()
        environment = {"PATH": os.defpath, "HOME": str(root)} | more
        self.tools: Toolset = run_tools(
            root, engine or AnsweringEngine(), self.outputs, HostProcesses(environment)
        )

    async def call(self, name: str, **arguments: Json) -> ToolResult:
        return await self.send(name, json.dumps(arguments))

    async def send(self, name: str, arguments: str) -> ToolResult:
        result = await self.tools.run(ToolCall(id="call-1", name=name, arguments=arguments))
        assert result.call == "call-1"
        if result.whole is not None:
            self.outputs.kept[output_name(result.whole)] = result.whole
        return result

    async def done(self, name: str, **arguments: Json) -> str:
        result = await self.call(name, **arguments)
        assert not result.failed, result.text
        return result.text

    async def failed(self, name: str, **arguments: Json) -> str:
        result = await self.call(name, **arguments)
        assert result.failed, result.text
        return result.text

"""A cheat: an agent that wants to be done without the work, seen from both sides of the wire.

Every way in is an MCP call. What became of it is read as a person would read it: from the ledger,
from `sessions tree` and from the log.
"""

import pytest

from headway.application.read_session import read_session
from headway.cli.style import Style
from headway.cli.tree_drawing import draw_tree
from headway.domain.errors import Code
from headway.domain.events import AdvanceBlocked, Event, StepAdvanced
from headway.domain.values import Json, JsonObject
from headway.ports.ledger import Recorded
from tests.support.connected import Connected
from tests.support.front_door import FrontDoor

FAULTS = "headway.mcp.fault_log"
REPLAYS = "headway.application.replaying"
UNSIGNED = len("ct_") + 16  # what the log may keep of a token
WIDE = Style(width=400)


class Cheat:
    """The cheat's client, and beside it the store that has seen everything."""

    def __init__(self, agent: Connected, door: FrontDoor, log: pytest.LogCaptureFixture) -> None:
        self.agent = agent
        self.door = door
        self.log = log
        self.before: list[Recorded] = []  # what stood in the ledger before the last call

    def offer(self, *steps: Json, name: str = "work", **more: Json) -> str:
        """Put a workflow of these steps into the catalogue; return its id."""
        about = {"name": "Work", "description": "Work to be cheated at.", "version": "1.0.0"}
        self.door.write(f"{name}.json", {"id": name, **about, "steps": list(steps), **more})
        return name

    def call(self, tool: str, **arguments: Json) -> dict[str, Json]:
        self.before = self.door.events()
        given = {name: value for name, value in arguments.items() if value is not None}
        return self.agent.call(tool, **given)

    def start(self, workflow: str = "three-steps", **more: Json) -> dict[str, Json]:
        place = str(self.door.workspace)
        return self.call(
            "start_workflow", workflowId=workflow, workspacePath=place, goal="Try it", **more
        )

    def advance(
        self, token: Json, notes: str | None = "done", context: Json = None, **output: Json
    ) -> dict[str, Json]:
        sent: JsonObject = {} if notes is None else {"notesMarkdown": notes}
        return self.call(
            "continue_workflow",
            continueToken=token,
            intent="advance",
            output={**sent, **output},
            context=context,
        )

    def rehydrate(self, token: Json) -> dict[str, Json]:
        place = str(self.door.workspace)
        return self.call(
            "continue_workflow", continueToken=token, intent="rehydrate", workspacePath=place
        )

    # What became of it.

    def events(self) -> list[Event]:
        return [record.event for record in self.door.events()]

    def advances(self) -> list[StepAdvanced]:
        return [event for event in self.events() if isinstance(event, StepAdvanced)]

    def blocks(self) -> list[AdvanceBlocked]:
        return [event for event in self.events() if isinstance(event, AdvanceBlocked)]

    def tree(self) -> str:
        """Return what `sessions tree` draws of the latest session."""
        return "\n".join(draw_tree(read_session(self.door.engine).tree, WIDE, whole=True))

    def was_refused(
        self, answer: JsonObject, code: Code, kind: str | None = None, token: Json = None
    ) -> None:
        """Hold that a call got a coded answer with a remedy, changed nothing, and is in the log."""
        assert answer.get("code") == code, answer
        details = answer["details"]
        assert isinstance(details, dict)
        assert details["suggestion"]
        assert kind is None or details["kind"] == kind
        assert self.door.events() == self.before
        line = [each.getMessage() for each in self.log.records if each.name == FAULTS][-1]
        assert f"code={code}" in line
        assert kind is None or f"kind={kind}" in line
        if token is not None:
            assert f"attempt={str(token)[:UNSIGNED]}" in line
            assert str(token) not in line

    def was_told_again(self, answer: JsonObject, first: JsonObject) -> None:
        """Hold that other content under an old token changed nothing, and that the log says so."""
        assert answer == first
        assert self.door.events() == self.before
        assert [each for each in self.log.records if each.name == REPLAYS]

    def was_blocked(self, answer: JsonObject, code: str) -> str:
        """Hold that an attempt was refused as an event that `sessions tree` shows.

        Return what was told.
        """
        assert answer.get("kind") == "blocked", answer
        assert len(self.door.events()) == len(self.before) + 1
        newest = self.blocks()[-1]
        assert code in [blocker.code for blocker in newest.blockers]
        assert f"blocked, {code}: " in self.tree()
        assert code in str(answer["blockers"])
        return f"{answer['blockers']} {answer.get('validation')}"


def step_of(reply: JsonObject) -> Json:
    pending = reply.get("pending")
    assert isinstance(pending, dict), reply
    step: Json = pending["stepId"]
    return step

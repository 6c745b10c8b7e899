"""What an agent sees: short texts it can act on alone, and data that keeps to its schema."""

import json
from collections.abc import Iterator
from concurrent.futures import wait
from pathlib import Path

import jsonschema
import pytest
from mcp.types import CallToolResult

from headway import __version__
from headway.domain.values import Json, JsonObject
from headway.mcp.outputs import OUTPUT_SCHEMAS
from headway.mcp.schemas import INPUT_SCHEMAS
from headway.mcp.server import build_server
from headway.mcp.tools import INSTRUCTIONS, tool_list
from tests.support.connected import Connected, connected, structured, text_of
from tests.support.front_door import FrontDoor, open_front_door

TOKENS_MAX = 300
CHARACTERS_A_TOKEN = 4  # a usual estimate for English and JSON
WORDS_MAX = 300
CALLS_AT_ONCE = 16
SESSIONS_AT_ONCE = 4

GATED: JsonObject = {
    "id": "gated",
    "name": "Gated",
    "description": "One step that a person approves.",
    "version": "1.0.0",
    "steps": [{"id": "s", "title": "S", "prompt": "Do.", "requireConfirmation": True}],
}


class Agent:
    """Walks through tools and keeps every answer with the tool it came from."""

    def __init__(self, door: FrontDoor, connection: Connected) -> None:
        self.door = door
        self.connection = connection
        self.answers: list[tuple[str, CallToolResult]] = []

    def call(self, tool: str, **arguments: Json) -> dict[str, Json]:
        result = self.connection.ask(tool, **arguments)
        self.answers.append((tool, result))
        return structured(result)

    def start(self, workflow: str) -> dict[str, Json]:
        place = str(self.door.workspace)
        return self.call("start_workflow", workflowId=workflow, workspacePath=place, goal="Mend it")

    def advance(self, token: Json, *artifacts: Json) -> dict[str, Json]:
        output: JsonObject = {"notesMarkdown": "Done.", "artifacts": list(artifacts)}
        return self.call("continue_workflow", continueToken=token, intent="advance", output=output)

    def text(self) -> str:
        return text_of(self.answers[-1][1])


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    with open_front_door(tmp_path, HEADWAY_GATES="enforce") as door:
        door.write("gated.json", GATED)
        server = build_server(door.verbs, __version__, str(tmp_path))
        with connected(server) as connection:
            yield Agent(door, connection)


@pytest.mark.parametrize(
    ("tool", "given", "needs"),
    [
        (
            "continue_workflow",
            {"intent": "rehydrate"},
            {"continueToken", "intent", "workspacePath"},
        ),
        (
            "continue_workflow",
            {"intent": "rehydrate", "workspacePath": "here"},
            {"continueToken", "intent", "workspacePath"},
        ),
        ("continue_workflow", {"intent": "advance"}, {"continueToken", "intent", "output"}),
        ("continue_workflow", {"notes": "Done."}, {"continueToken", "intent", "output"}),
        ("continue_workflow", {"intent": "go on"}, {"continueToken"}),
        ("continue_workflow", {}, {"continueToken"}),
        ("checkpoint_workflow", {}, {"checkpointToken"}),
        ("start_workflow", {}, {"workflowId", "workspacePath", "goal"}),
        ("inspect_workflow", {}, {"workflowId", "workspacePath"}),
        ("list_workflows", {}, {"workspacePath"}),
        ("resume_session", {}, {"workspacePath"}),
    ],
)
def test_the_template_of_a_refused_call_is_accepted_as_it_stands_once_it_is_filled_in(
    agent: Agent, tool: str, given: JsonObject, needs: set[str]
) -> None:
    begun = agent.start("three-steps")
    fill: dict[str, Json] = {
        "workspacePath": str(agent.door.workspace),
        "workflowId": "three-steps",
        "goal": "Mend it",
        "continueToken": begun["continueToken"],
        "checkpointToken": begun["checkpointToken"],
        "output": {"notesMarkdown": "Done."},
    }
    refused = agent.call(tool, **given)
    assert refused["code"] == "VALIDATION_ERROR"
    details = refused["details"]
    assert isinstance(details, dict)
    template = details["correctTemplate"]
    assert isinstance(template, dict)
    assert set(template) == needs
    agent.call(tool, **{key: fill.get(key, value) for key, value in template.items()})
    assert not agent.answers[-1][1].is_error, agent.text()


def walked(agent: Agent) -> None:
    """Call every tool, and get every kind of answer."""
    place = str(agent.door.workspace)
    agent.call("list_workflows", workspacePath=place, includeSources=True)
    agent.call("inspect_workflow", workflowId="hw.bug-fix", workspacePath=place)
    at = begun = agent.start("hw.bug-fix")
    agent.call("checkpoint_workflow", checkpointToken=begun["checkpointToken"])
    for _ in range(4):
        at = agent.advance(at["continueToken"])
    blocked = agent.advance(at["continueToken"], {"kind": "bug_fix_report", "rootCause": "x"})
    assert blocked["kind"] == "blocked"
    agent.call(
        "continue_workflow",
        continueToken=blocked["retryContinueToken"],
        intent="rehydrate",
        workspacePath=place,
    )
    report: JsonObject = {
        "kind": "bug_fix_report",
        "rootCause": "The remainder was dropped.",
        "filesChanged": ["split.py"],
        "test": "tests/test_split.py",
        "criteria": [{"criterion": "No cent is lost.", "evidence": "pytest says 4 passed."}],
        "deferred": [],
    }
    assert agent.advance(blocked["retryContinueToken"], report)["isComplete"] is True
    assert agent.advance(agent.start("gated")["continueToken"])["kind"] == "gate_checkpoint"
    agent.call("resume_session", workspacePath=place, query="mend")
    agent.call("manage_workflow_source", action="attach", path=place)


def test_every_answer_keeps_to_the_output_schema_of_its_tool(agent: Agent) -> None:
    walked(agent)
    assert {tool for tool, _ in agent.answers} == set(INPUT_SCHEMAS) == set(OUTPUT_SCHEMAS)
    for tool, result in agent.answers:
        assert result.is_error is False
        jsonschema.validate(result.structured_content, OUTPUT_SCHEMAS[tool])
    for each in tool_list():
        assert each.output_schema == OUTPUT_SCHEMAS[each.name]


@pytest.mark.parametrize("tool", OUTPUT_SCHEMAS)
def test_a_fault_fits_the_output_schema_for_clients_that_check_it_too(
    agent: Agent, tool: str
) -> None:
    agent.call(tool, nonsense=1)
    ((_, result),) = agent.answers
    assert result.is_error is True
    jsonschema.validate(result.structured_content, OUTPUT_SCHEMAS[tool])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, OUTPUT_SCHEMAS[tool])


def test_beside_the_prompt_a_text_costs_few_tokens_and_holds_every_token_there_is(
    agent: Agent,
) -> None:
    walked(agent)
    seen = 0
    for tool, result in agent.answers:
        if tool not in {"start_workflow", "continue_workflow", "checkpoint_workflow"}:
            continue
        reply, text = structured(result), text_of(result)
        pending = reply.get("pending")
        prompt = str(pending["prompt"]) if isinstance(pending, dict) else ""
        assert prompt in text
        beside = text.replace(prompt, "").replace(str(reply.get("briefing", "")), "")
        assert len(beside) <= TOKENS_MAX * CHARACTERS_A_TOKEN, beside
        for name in ("checkpointToken", "retryContinueToken", "gateToken", "resumeToken"):
            if name in reply:
                assert str(reply[name]) in text
                seen += 1
        assert str(reply.get("continueToken", "")) in text
    assert seen > 8


def test_a_text_alone_is_enough_to_walk_by(agent: Agent) -> None:
    """Every call is the one the last text spells out, filled in as it says."""
    reply = agent.start("three-steps")
    for _ in range(3):
        call = json.loads(agent.text().split("call continue_workflow with\n")[1].splitlines()[0])
        call["output"]["notesMarkdown"] = "Did it."
        reply = agent.call("continue_workflow", **call)
    assert reply["isComplete"] is True
    assert "Nothing is left to call" in agent.text()


def test_a_gate_is_told_with_the_commands_that_answer_it(agent: Agent) -> None:
    gate = agent.advance(agent.start("gated")["continueToken"])["gateId"]
    for command in ("show", "approve", "reject"):
        assert f"headway gates {command} {gate}" in agent.text()


def test_a_block_is_an_answer_and_a_fault_is_an_error(agent: Agent) -> None:
    token = agent.start("three-steps")["continueToken"]
    assert agent.call("continue_workflow", continueToken=token, intent="advance")["kind"] == (
        "blocked"
    )
    agent.call("continue_workflow", continueToken=token, ouput={})
    assert [result.is_error for _, result in agent.answers] == [False, False, True]
    assert "did you mean output?" in agent.text()


ALIASED: list[JsonObject] = [
    {"notes": "Done.", "artifacts": [{"kind": "x"}], "contextVariables": {"n": 1}},
    {"output": '{"notesMarkdown": "Done.", "artifacts": [{"kind": "x"}]}', "context": '{"n": 1}'},
    {"output": {"notesMarkdown": "Done."}, "artifacts": [{"kind": "x"}], "context": {"n": 1}},
]


@pytest.mark.parametrize("form", ALIASED, ids=str)
def test_the_recorded_aliases_mean_the_same(agent: Agent, form: JsonObject) -> None:
    token = agent.start("three-steps")["continueToken"]
    reply = agent.call("continue_workflow", continueToken=token, intent="advance", **form)
    assert reply["kind"] == "ok"
    event = agent.door.events()[-1].event
    told = str(event)
    assert "'n': 1" in told
    assert "'kind': 'x'" in told
    assert "Done." in told


def test_the_instructions_teach_the_protocol_in_few_words(agent: Agent) -> None:
    assert agent.connection.client.instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS.split()) < WORDS_MAX
    for word in ("start_workflow", "continue_workflow", "retryContinueToken", "resume_session"):
        assert word in INSTRUCTIONS


def test_calls_at_once_on_one_session_queue_and_all_succeed(agent: Agent) -> None:
    """Different attempts of one session write at once: each is let in when its turn comes."""
    token = agent.start("three-steps")["continueToken"]
    place = str(agent.door.workspace)
    forks = [
        agent.call(
            "continue_workflow", continueToken=token, intent="rehydrate", workspacePath=place
        )
        for _ in range(CALLS_AT_ONCE)
    ]
    posted = []
    for number, fork in enumerate(forks):
        output: JsonObject = {"notesMarkdown": f"Way {number}."}
        posted += [
            agent.connection.post("checkpoint_workflow", checkpointToken=fork["checkpointToken"]),
            agent.connection.post(
                "continue_workflow",
                continueToken=fork["continueToken"],
                intent="advance",
                output=output,
            ),
        ]
    wait(posted)
    results = [each.result() for each in posted]
    assert not [text_of(result) for result in results if result.is_error]
    tokens = {structured(result).get("continueToken") for result in results} - {None}
    assert len(tokens) == CALLS_AT_ONCE
    versions = [record.version for record in agent.door.events()]
    assert versions == list(range(1, len(versions) + 1))

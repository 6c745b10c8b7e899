"""Prompts and resources: what a user picks from a menu, and what a client reads beside the talk."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent, TextResourceContents

from headway import __version__
from headway.domain.values import JsonObject
from headway.mcp.server import build_server
from tests.support.connected import Connected, Era, connected
from tests.support.front_door import FrontDoor, open_front_door

SECRET = "The answer is forty-two."
HIDDEN: JsonObject = {
    "id": "hidden",
    "name": "Hidden",
    "description": "A later step with a secret.",
    "version": "1.0.0",
    "steps": [
        {"id": "first", "title": "First", "prompt": "Begin."},
        {"id": "later", "title": "Later", "prompt": SECRET},
    ],
}


@pytest.fixture(params=["legacy", "2026-07-28"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[FrontDoor, Connected]]:
    era: Era = request.param
    with open_front_door(tmp_path) as door:
        door.write("hidden.json", HIDDEN)
        with connected(build_server(door.verbs, __version__, str(tmp_path)), era) as agent:
            yield door, agent


def read(agent: Connected, uri: str) -> dict[str, object]:
    (content,) = agent.portal.call(agent.client.read_resource, uri).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "application/json"
    told = json.loads(content.text)
    assert isinstance(told, dict)
    return told


def prompt(agent: Connected, name: str, **arguments: str) -> str:
    (message,) = agent.portal.call(agent.client.get_prompt, name, arguments).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


def test_the_catalogue_is_a_resource(opened: tuple[FrontDoor, Connected]) -> None:
    _, agent = opened
    (listed,) = agent.portal.call(agent.client.list_resources).resources
    told = str(read(agent, listed.uri))
    assert "hw.bug-fix" in told
    assert "three-steps" in told
    assert SECRET not in told


def test_a_session_is_a_resource_that_shows_its_past_and_no_token_or_later_step(
    opened: tuple[FrontDoor, Connected],
) -> None:
    door, agent = opened
    (template,) = agent.portal.call(agent.client.list_resource_templates).resource_templates
    reply = door.start("hidden")
    door.advance(reply["continueToken"], None)
    session = door.events()[0].stream.removeprefix("session:")
    before = door.events()
    told = read(agent, template.uri_template.replace("{id}", session))
    assert told["sessionId"] == session
    assert told["status"] == "blocked"
    assert "MISSING_REQUIRED_NOTES" in str(told["rows"])
    assert SECRET not in str(told)
    assert "ct_" not in str(told)
    assert door.events() == before


@pytest.mark.parametrize(
    "uri",
    [
        "headway://sessions/sess_nobody",
        "headway://sessions/",
        "headway://sessions/../x",
        "headway://gates/x",
        "file:///etc/passwd",
        "nonsense",
    ],
)
def test_what_is_no_resource_is_told_with_a_code_and_a_remedy(
    opened: tuple[FrontDoor, Connected], uri: str
) -> None:
    _, agent = opened
    with pytest.raises(MCPError) as raised:
        read(agent, uri)
    data = raised.value.data
    assert data["code"] == "NOT_FOUND"
    assert data["remedy"]


def test_a_prompt_sets_an_agent_to_work(opened: tuple[FrontDoor, Connected]) -> None:
    _, agent = opened
    names = [each.name for each in agent.portal.call(agent.client.list_prompts).prompts]
    assert names == ["headway:start", "headway:resume"]
    told = prompt(agent, "headway:start", workflow="hw.bug-fix", goal="Mend the sum.")
    assert "start_workflow with the workflowId 'hw.bug-fix'" in told
    assert "Mend the sum." in told
    assert "list_workflows" in prompt(agent, "headway:start", goal="Mend the sum.")
    assert "resume_session" in prompt(agent, "headway:resume")
    assert "'the sum'" in prompt(agent, "headway:resume", query="the sum")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("headway:start", {}, "goal is required"),
        ("headway:start", {"goal": "  "}, "goal is required"),
        ("headway:start", {"goal": "x", "gaol": "y"}, "'gaol' is not known"),
        ("headway:resume", {"query": "x" * 8_001}, "longer than 8000"),
        ("headway:strat", {}, "headway:start"),
        ("", {}, "headway:start, headway:resume"),
    ],
)
def test_a_prompt_that_cannot_be_meant_is_told_what_it_takes(
    opened: tuple[FrontDoor, Connected], name: str, arguments: dict[str, str], told: str
) -> None:
    _, agent = opened
    with pytest.raises(MCPError) as raised:
        prompt(agent, name, **arguments)
    assert raised.value.data["code"] == "VALIDATION_ERROR"
    assert told in raised.value.message

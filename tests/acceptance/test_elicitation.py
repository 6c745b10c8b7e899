"""A gate put before the client's user, in both eras: a person decides, the agent goes on."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.types import (
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
    InputResponses,
)

from headway import __version__
from headway.application.decide_gate import decide_gate
from headway.application.purge_session import purge_session
from headway.application.requests import DecideGate, Reply, ShowGate
from headway.application.verbs import People, Verbs
from headway.domain.events import GateDecided
from headway.domain.values import Json, JsonObject
from headway.mcp.server import build_server
from headway.ports.sessions import SessionQuery
from tests.support.connected import Connected, Era, connected, structured
from tests.support.front_door import FrontDoor, open_front_door

GATED: JsonObject = {
    "id": "gated",
    "name": "Gated",
    "description": "A step that a person approves, and one after it.",
    "version": "1.0.0",
    "steps": [
        {
            "id": "plan",
            "title": "Plan",
            "prompt": "Plan it.",
            "requireConfirmation": {"kind": "human_approval"},
        },
        {"id": "build", "title": "Build", "prompt": "Build it."},
    ],
}
ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")


class Person:
    """A user who answers every form alike and remembers what they were shown."""

    def __init__(self, answer: ElicitResult | ErrorData) -> None:
        self.answer = answer
        self.shown: list[str] = []

    async def __call__(
        self,
        context: ClientRequestContext,
        params: ElicitRequestParams,
    ) -> ElicitResult | ErrorData:
        assert isinstance(params, ElicitRequestFormParams)
        self.shown.append(params.message)
        return self.answer


def form(**content: str | bool) -> ElicitResult:
    return ElicitResult(action="accept", content=dict(content))


@contextmanager
def gated(
    root: Path, era: Era, person: ElicitationFnT | None, **settings: str
) -> Iterator[tuple[FrontDoor, Connected]]:
    with ExitStack() as stack:
        door = stack.enter_context(open_front_door(root, HEADWAY_GATES="enforce", **settings))
        door.write("gated.json", GATED)
        server = build_server(door.verbs, __version__, str(root))
        yield door, stack.enter_context(connected(server, era, person))


def handed_in(token: Json, notes: str) -> dict[str, Json]:
    output: JsonObject = {"notesMarkdown": notes}
    return {"continueToken": token, "intent": "advance", "output": output}


def begun(door: FrontDoor, agent: Connected) -> Json:
    place = str(door.workspace)
    return agent.call("start_workflow", workflowId="gated", workspacePath=place, goal="Try it")[
        "continueToken"
    ]


def hand_in(door: FrontDoor, agent: Connected, notes: str = "The plan.") -> dict[str, Json]:
    return agent.call("continue_workflow", **handed_in(begun(door, agent), notes))


def decisions(door: FrontDoor) -> list[GateDecided]:
    return [each.event for each in door.events() if isinstance(each.event, GateDecided)]


@pytest.mark.parametrize("era", ERAS)
def test_a_person_who_approves_lets_the_call_end_in_the_next_step(tmp_path: Path, era: Era) -> None:
    person = Person(form(decision="approve", rationale="Sound."))
    with gated(tmp_path, era, person) as (door, agent):
        reply = hand_in(door, agent, "The plan.\nApprove it\x1b[2K now.")
        assert reply["kind"] == "ok"
        assert "build" in str(reply["pending"])
        (decided,) = decisions(door)
        assert (decided.verdict, decided.rationale) == ("approved", "Sound.")
        assert decided.decided_by.startswith("elicitation by ")
        (shown,) = person.shown
        assert "Notes:\n> The plan.\n> Approve it [2K now." in shown
        assert decided.shown in shown
        assert "headway gates show gate_" in shown


@pytest.mark.parametrize("era", ERAS)
def test_a_person_who_rejects_sends_the_step_back_with_the_reason(tmp_path: Path, era: Era) -> None:
    person = Person(form(decision="reject", rationale="Too large."))
    with gated(tmp_path, era, person) as (door, agent):
        reply = hand_in(door, agent)
        assert reply["kind"] == "blocked"
        assert "Too large." in str(reply["blockers"])
        assert decisions(door)[0].verdict == "rejected"
        again = agent.call("continue_workflow", **handed_in(reply["retryContinueToken"], "Less."))
        assert again["kind"] == "blocked"
        assert "> Less." in person.shown[1]


UNDECIDED: list[ElicitResult | ErrorData] = [
    ElicitResult(action="decline"),
    ElicitResult(action="cancel"),
    ElicitResult(action="accept"),
    form(decision="yes"),
    form(decision=True),
    form(approve="approve"),
]
# In the newer era the client itself ends a call whose question it cannot put.
CASES = [(era, answer) for era in ERAS for answer in UNDECIDED]
CASES.append(("legacy", ErrorData(code=-32603, message="no window")))


@pytest.mark.parametrize(("era", "answer"), CASES, ids=str)
def test_anything_but_a_filled_in_form_leaves_the_gate_waiting(
    tmp_path: Path, era: Era, answer: ElicitResult | ErrorData
) -> None:
    with gated(tmp_path, era, Person(answer)) as (door, agent):
        reply = hand_in(door, agent)
        assert reply["kind"] == "gate_checkpoint"
        assert str(reply["showCommand"]).startswith("headway gates show gate_")
        assert decisions(door) == []


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_shows_no_forms_is_told_the_command(tmp_path: Path, era: Era) -> None:
    with gated(tmp_path, era, None) as (door, agent):
        assert hand_in(door, agent)["kind"] == "gate_checkpoint"


@pytest.mark.parametrize("era", ERAS)
def test_with_elicitation_off_nobody_is_asked(tmp_path: Path, era: Era) -> None:
    person = Person(form(decision="approve"))
    with gated(tmp_path, era, person, HEADWAY_ELICITATION="off") as (door, agent):
        assert hand_in(door, agent)["kind"] == "gate_checkpoint"
        assert person.shown == []


def asked_by_hand(
    agent: Connected,
    arguments: dict[str, Json],
    answers: InputResponses | None = None,
    state: str | None = None,
) -> CallToolResult | InputRequiredResult:
    """Make a call without the library's answering of questions."""

    async def call() -> CallToolResult | InputRequiredResult:
        return await agent.client.session.call_tool(
            "continue_workflow",
            arguments,
            input_responses=answers,
            request_state=state,
            allow_input_required=True,
        )

    return agent.portal.call(call)


def test_an_answer_to_another_question_is_none_and_the_question_is_put_again(
    tmp_path: Path,
) -> None:
    approve: InputResponses = {"gate": form(decision="approve")}
    with gated(tmp_path, "2026-07-28", Person(form())) as (door, agent):
        mine = handed_in(begun(door, agent), "The plan.")
        other = asked_by_hand(agent, handed_in(begun(door, agent), "Another plan."))
        assert isinstance(other, InputRequiredResult)
        states: list[str | None] = [None, "", "gate_x sha256:0", other.request_state]
        asked = [asked_by_hand(agent, mine, approve, state) for state in states]
        assert decisions(door) == []
        assert isinstance(asked[0], InputRequiredResult)
        assert all(each == asked[0] for each in asked)
        done = asked_by_hand(agent, mine, approve, asked[0].request_state)
        assert isinstance(done, CallToolResult)
        assert structured(done)["kind"] == "ok"


def test_an_answer_outlives_the_server_that_asked(tmp_path: Path) -> None:
    with gated(tmp_path, "2026-07-28", Person(form())) as (door, agent):
        mine = handed_in(begun(door, agent), "The plan.")
        asked = asked_by_hand(agent, mine)
        assert isinstance(asked, InputRequiredResult)
    with gated(tmp_path, "2026-07-28", Person(form())) as (_, agent):
        approve: InputResponses = {"gate": form(decision="approve")}
        answered = asked_by_hand(agent, mine, approve, asked.request_state)
        assert isinstance(answered, CallToolResult)
        assert structured(answered)["kind"] == "ok"


def test_the_first_of_two_answers_stands(tmp_path: Path) -> None:
    with gated(tmp_path, "legacy", None) as (door, agent):
        mine = handed_in(begun(door, agent), "The plan.")
        gate = agent.call("continue_workflow", **mine)
    reject = DecideGate(
        gate=str(gate["gateId"]), approve=False, decided_by="ann", shown=str(gate["shown"])
    )

    class Slow(Person):
        """A user who approves just after somebody else has rejected."""

        async def __call__(
            self, context: ClientRequestContext, params: ElicitRequestParams
        ) -> ElicitResult | ErrorData:
            decide_gate(door.engine, reject)
            return await super().__call__(context, params)

    with gated(tmp_path, "legacy", Slow(form(decision="approve"))) as (door, agent):
        assert agent.call("continue_workflow", **mine)["kind"] == "blocked"
        assert [each.decided_by for each in decisions(door)] == ["ann"]


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_counts_whatever_its_client_is_called(tmp_path: Path, era: Era) -> None:
    with gated(tmp_path, era, None) as (door, _):
        server = build_server(door.verbs, __version__, str(tmp_path))
        person = Person(form(decision="approve"))
        with connected(server, era, person, name="\N{ROBOT FACE}" * 200) as agent:
            assert hand_in(door, agent)["kind"] == "ok"
        assert decisions(door)[0].decided_by.startswith("elicitation by \N{ROBOT FACE}")


class TooLate(People):
    """Shows a gate just after another process has purged its session."""

    def show_gate(self, request: ShowGate) -> Reply:
        (found,) = self.engine.sessions.find(SessionQuery(limit=2)).rows
        purge_session(self.engine, found.session)
        return super().show_gate(request)


class VerbsTooLate(Verbs):
    @property
    def people(self) -> People:
        return TooLate(self.engine)


@pytest.mark.parametrize("era", ERAS)
def test_a_gate_that_goes_before_it_is_shown_is_answered_as_without_a_form(
    tmp_path: Path, era: Era
) -> None:
    person = Person(form(decision="approve"))
    with gated(tmp_path, era, None) as (door, _):
        verbs = VerbsTooLate(door.engine)
        with connected(build_server(verbs, __version__, str(tmp_path)), era, person) as agent:
            assert hand_in(door, agent)["kind"] == "gate_checkpoint"
        assert person.shown == []

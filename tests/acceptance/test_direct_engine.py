"""The engine as a run drives it: started once, taken up anywhere, and no token in what it tells."""

import msgspec
import pytest
from msgspec.structs import replace

from headway.agent.direct_engine import DirectEngine
from headway.application.decide_gate import decide_gate
from headway.application.engine import Engine
from headway.application.requests import DecideGate, ShowGate
from headway.application.show_gate import show_gate
from headway.domain.errors import InvalidInput, NotFound
from headway.domain.workflow import Confirmation, Workflow
from headway.ports.engine import AllDone, GateWaits, Refused, SessionWanted, StepOpen, Work
from tests.support.building import step, workflow
from tests.support.engines import WORKSPACE, engine_for

pytestmark = pytest.mark.anyio

NOTES = Work(notes="What was done on this step, and what the next one must know of it.")
TWO = workflow(step("first"), step("second"))


def wanted(flow: Workflow, key: str = "run_0123456789abcdef") -> SessionWanted:
    return SessionWanted(workflow_id=flow.id, workspace=WORKSPACE, goal="Do it.", call_key=key)


async def test_a_session_is_driven_from_its_first_step_to_its_end() -> None:
    engine = DirectEngine(engine_for(TWO))
    await engine.start(wanted(TWO))
    first = await engine.current()
    assert isinstance(first, StepOpen)
    assert (first.step, first.number, first.total) == ("first", 1, 2)
    second = await engine.complete(NOTES)
    assert isinstance(second, StepOpen)
    assert (second.step, second.number) == ("second", 2)
    assert await engine.complete(NOTES) == AllDone()
    assert await engine.current() == AllDone()


async def test_a_start_sent_again_finds_the_session_it_began() -> None:
    store = engine_for(TWO)
    session = await DirectEngine(store).start(wanted(TWO))
    await DirectEngine(store).start(wanted(TWO, "run_of_another_key_"))
    other = DirectEngine(store)
    assert await other.start(wanted(TWO)) == session
    with pytest.raises(InvalidInput, match="call key"):
        await other.start(wanted(TWO, "short"))


async def test_another_process_takes_a_session_up_where_it_stands() -> None:
    store = engine_for(TWO)
    engine = DirectEngine(store)
    session = await engine.start(wanted(TWO))
    await engine.complete(NOTES)
    other = DirectEngine(store)
    assert await other.sync(session) == await engine.current()
    assert await other.complete(NOTES) == AllDone()
    assert await DirectEngine(store).sync(session) == AllDone()


async def test_a_hand_in_repeated_after_a_lost_answer_is_recorded_once() -> None:
    store = engine_for(TWO)
    engine, late = DirectEngine(store), DirectEngine(store)
    session = await engine.start(wanted(TWO))
    await late.sync(session)
    await engine.complete(NOTES)
    again = await late.complete(NOTES)
    assert isinstance(again, StepOpen)
    assert again.step == "second"
    assert await late.complete(NOTES) == AllDone()


async def test_a_refusal_says_what_is_missing_and_the_step_stays_open() -> None:
    flow = workflow(replace(step("work"), notes_optional=False), step("end"))
    store = engine_for(flow)
    engine = DirectEngine(store)
    session = await engine.start(wanted(flow))
    refused = await engine.complete(Work(notes=""))
    assert isinstance(refused, Refused)
    assert refused.retryable
    assert "notes" in " ".join(refused.reasons)
    assert "token" not in " ".join(refused.reasons)
    other = DirectEngine(store)
    taken_up = await other.sync(session)
    assert isinstance(taken_up, StepOpen)
    assert taken_up.step == "work"
    went_on = await engine.complete(NOTES)
    assert isinstance(went_on, StepOpen)
    assert went_on.step == "end"


async def test_a_gate_waits_for_a_person_whatever_the_server_is_set_to() -> None:
    flow = workflow(
        replace(step("plan"), confirmation=Confirmation(kind="human_approval")), step("build")
    )
    store: Engine = engine_for(flow, "advisory")
    engine = DirectEngine(store)
    session = await engine.start(wanted(flow))
    waits = await engine.complete(NOTES)
    assert isinstance(waits, GateWaits)
    assert waits.step == "plan"
    assert await DirectEngine(store).sync(session) == waits
    shown = str(show_gate(store, ShowGate(gate=waits.gate))["shown"])
    decide_gate(store, DecideGate(gate=waits.gate, approve=True, decided_by="me", shown=shown))
    went_on = await engine.sync(session)
    assert isinstance(went_on, StepOpen)
    assert went_on.step == "build"


async def test_a_session_nobody_knows_is_told_as_such() -> None:
    engine = DirectEngine(engine_for(TWO))
    session = await engine.start(wanted(TWO))
    with pytest.raises(NotFound):
        await engine.sync(type(session)("sess_unknown"))
    assert "ct_" not in msgspec.json.encode(await engine.current()).decode()

"""The law of order: no sequence of calls reaches a step whose predecessors are open.

Every advance that is let through must lead where a second interpreter, written as plain recursion
over the tree, says it leads: the same step in the same passes, the same skips and the same loop
limits on the way. What is held back must lead nowhere.
"""

from typing import cast

from hypothesis import given, settings

from headway.domain.commands import Advance, Start
from headway.domain.errors import Fault
from headway.domain.events import Cursor, SessionStarted, StepAdvanced, Walk
from headway.domain.ids import NodeId
from headway.domain.values import JsonObject
from headway.domain.workflow import Workflow
from tests.support.interpreter import Answer, Leg, Missing, Place, walk_model
from tests.support.played import Move, Played, moves, starts
from tests.support.workflows import LOOP_CONTROL, workflows


@settings(max_examples=200)
@given(workflows(), starts(), moves("send", "rehydrate", "checks", "gate", at_most=30))
def test_no_sequence_of_calls_reaches_a_step_whose_predecessors_are_open(
    workflow: Workflow, start: Start, calls: list[Move]
) -> None:
    session = Played(workflow)
    context = {"goal": start.goal, **start.context}
    begun = session.start(start)
    answers: dict[NodeId, list[Answer]] = {}
    if isinstance(begun, Fault):
        assert begun.details["kind"] == "missing_context_key"
        assert expected(workflow, context, []) is None
        return
    started = session.events[0]
    assert isinstance(started, SessionStarted)
    leg = expected(workflow, context, [])
    assert leg is not None
    assert met(started) == (leg.place, leg.skips, leg.limits)
    if started.opened:
        answers[started.opened.node] = []
    for move in calls:
        if not session.known:
            return
        seen = len(session.events)
        name = session.meant(move)
        node = session.attempt(name).node
        played = session.play(move)
        advanced = next((e for e in session.events[seen:] if isinstance(e, StepAdvanced)), None)
        if advanced is None:
            if isinstance(played, Fault) and played.details.get("kind") == "missing_context_key":
                command = session.sent[name]
                # A refusal does not say whether the answer would have been taken with gaps.
                read = (answer(session, command, gaps=gaps) for gaps in (False, True))
                ways = [[*answers[node], each] for each in read]
                assert None in [expected(workflow, context, way) for way in ways]
            continue
        refused = {gap.code for gap in advanced.gaps if gap.severity == "critical"}
        gaps = bool(refused - {"GATE_NOT_JUDGED"})
        way = [*answers[node], answer(session, session.sent[name], gaps=gaps)]
        leg = expected(workflow, context, way)
        assert leg is not None
        assert met(advanced) == (leg.place, leg.skips, leg.limits)
        if advanced.opened:
            answers[advanced.opened.node] = way


def expected(workflow: Workflow, context: JsonObject, way: list[Answer]) -> Leg | None:
    """Return the last leg the model walks, None where it lacks a loop's input."""
    try:
        return walk_model(workflow, context, way)[len(way)]
    except Missing:
        return None


def met(event: SessionStarted | StepAdvanced) -> tuple[Place | None, list[str], list[str]]:
    cursor: Cursor | None = event.opened.cursor if event.opened else None
    walk: Walk = event.walk
    place = (cursor.at, cursor.passes) if cursor else None
    return place, [skip.item for skip in walk.skips], [limit.loop for limit in walk.loop_limits]


def answer(session: Played, command: Advance, *, gaps: bool) -> Answer:
    """Return what an accepted command says to the model: its decision only if it was asked for."""
    contract = session.step(command.attempt).output_contract
    if gaps or contract is None or contract.ref != LOOP_CONTROL:
        return Answer(context=command.context)
    made = [
        cast("dict[str, str]", artifact)
        for artifact in command.artifacts
        if isinstance(artifact, dict) and artifact.get("kind") == "wr.loop_control"
    ]
    if not made:
        return Answer(context=command.context)
    named = [artifact["loopId"] for artifact in made if "loopId" in artifact]
    return Answer(
        context=command.context,
        word=made[0]["decision"],
        loop_id=named[0] if named else None,
    )

"""The laws of a session, on workflows and calls drawn by chance.

Replay gives the live state; an attempt has one outcome; context belongs to a node; a refused
attempt changes nothing; a run that never stops ends with its gaps told; a checkpoint disturbs
nothing. Order has its own file, `test_order.py`.
"""

from itertools import pairwise

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.domain.commands import Advance, SaveCheckpoint, Start
from headway.domain.context import merged_context
from headway.domain.decision import Accepted, Replayed
from headway.domain.errors import Fault
from headway.domain.event_codec import decode, encode
from headway.domain.events import (
    AdvanceBlocked,
    Event,
    GapRecorded,
    GateOpened,
    Opened,
    SessionCompleted,
    StepAdvanced,
)
from headway.domain.ids import AttemptId, digest
from headway.domain.json_limits import canonical
from headway.domain.state import SessionState, evolve, fold, with_attempt
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Workflow
from tests.support.played import NEVER_STOP, Move, Played, moves, plain_merge, starts
from tests.support.workflows import Sent, deltas, satisfying, sendings, workflows

SEGMENTS_MAX = 24
LOOP_INPUTS: JsonObject = {"n": 2, "m": 1, "xs": [{"name": 1}], "ys": [], "item2": [{"name": 2}]}
EVERYTHING = moves("send", "rehydrate", "checkpoint", "checks", "gate", "preferences")


def played(workflow: Workflow, start: Start, calls: list[Move]) -> Played:
    session = Played(workflow)
    session.start(start)
    for move in calls:
        if session.known:
            session.play(move)
    return session


def openings(session: Played) -> list[Opened]:
    found = [getattr(event, "opened", None) for event in session.events]
    return [opened for opened in found if opened is not None]


@settings(max_examples=100)
@given(workflows(), starts(), EVERYTHING)
def test_a_replayed_stream_equals_the_live_state(
    workflow: Workflow, start: Start, calls: list[Move]
) -> None:
    session = played(workflow, start, calls)
    live = session.state
    bare = fold(session.events)
    for name, node in session.minted.items():
        if name not in bare.attempts:
            bare = with_attempt(bare, name, node)  # what a rehydrate mints leaves no event
    assert bare == live
    stored = [encode(event) for event in session.events]
    read = [decode(data) for data in stored]
    assert read == session.events
    assert [encode(event) for event in read] == stored


@settings(max_examples=60)
@given(workflows(), starts(), EVERYTHING)
def test_a_fold_is_evolve_event_by_event_and_leaves_what_it_began_with(
    workflow: Workflow, start: Start, calls: list[Move]
) -> None:
    events = played(workflow, start, calls).events
    state = SessionState()
    states = [state]
    for event in events:
        state = evolve(state, event)
        states.append(state)
    for number, before in enumerate(states):
        kept = SessionState(**{name: getattr(before, name) for name in before.__struct_fields__})
        assert fold(events[number:], before) == state
        assert before == kept
    assert type(fold(events).attempts) is dict


@settings(max_examples=100)
@given(workflows(), starts(), EVERYTHING, sendings())
def test_a_retried_attempt_has_its_recorded_outcome_whatever_is_sent_along(
    workflow: Workflow, start: Start, calls: list[Move], sent: Sent
) -> None:
    session = played(workflow, start, calls)
    for name, attempt in session.state.attempts.items():
        if attempt.outcome is None:
            continue
        before = session.state
        again = session.send(session.advance(name, sent))
        assert again == Replayed(at=attempt.outcome_at or 0, outcome=attempt.outcome)
        assert session.state == before


@settings(max_examples=100)
@given(workflows(), starts(), EVERYTHING)
def test_the_context_of_every_node_is_what_was_given_on_the_way_there(
    workflow: Workflow, start: Start, calls: list[Move]
) -> None:
    session = played(workflow, start, calls)
    for opened in openings(session):
        model = plain_merge({"goal": start.goal}, start.context)
        for advanced in session.ancestry(opened.node):
            model = plain_merge(model, session.sent[advanced.attempt].context)
        assert merged_context(opened.context, session.state.folds) == model
        assert len(opened.context) <= SEGMENTS_MAX
        sizes = [segment.size for segment in opened.context]
        assert all(low >= 2 * high for low, high in pairwise(sizes))
        for segment in opened.context:
            kept = canonical(session.state.folds[segment.version], "The fold")
            assert segment.size == len(kept)


@settings(max_examples=60)
@given(workflows(demanding=False), st.integers(0, 6), st.lists(deltas(), min_size=30, max_size=30))
def test_two_branches_never_see_each_others_context_and_both_can_complete(
    workflow: Workflow, rewind: int, given_contexts: list[JsonObject]
) -> None:
    session = Played(workflow)
    session.start(Start(goal="Fork it", context=LOOP_INPUTS))
    if not session.known:
        return
    own_way = drive(session, session.known[0], given_contexts[::2], "left")
    old = session.known[min(rewind, len(session.known) - 1)]
    other_way = drive(session, session.rehydrate(old), given_contexts[1::2], "right")
    for way, mine, other in ((own_way, "left", "right"), (other_way, "right", "left")):
        for opened in way:
            context = merged_context(opened.context, session.state.folds)
            assert mine in context
            assert other not in context
    ended = [event for event in session.events if isinstance(event, SessionCompleted)]
    assert len(ended) == 2


def drive(
    session: Played, attempt: AttemptId, contexts: list[JsonObject], mark: str
) -> list[Opened]:
    """Go on from an attempt to the end, without decisions, and return the nodes on the way."""
    way: list[Opened] = []
    open_attempt: AttemptId | None = attempt
    calls = 0
    while open_attempt is not None:
        delta = {
            key: value
            for key, value in (contexts[calls] if calls < len(contexts) else {}).items()
            if key not in LOOP_INPUTS
        }
        removed = {"left": None, "right": None} if calls == 0 else {}
        context = {**delta, **removed, mark: calls + 1}
        step = session.step(open_attempt)
        sent = satisfying(step, "stop", context)
        decided = session.send(session.advance(open_attempt, sent))
        assert isinstance(decided, Accepted), decided
        advanced = decided.events[0]
        assert isinstance(advanced, StepAdvanced)
        open_attempt = None
        if advanced.opened is not None:
            way.append(advanced.opened)
            open_attempt = advanced.opened.attempt
        calls += 1
        assert calls < 500
    return way


@settings(max_examples=100)
@given(workflows(), starts(preferences=None), EVERYTHING)
def test_a_blocked_attempt_keeps_what_it_was_given_and_applies_none_of_it(
    workflow: Workflow, start: Start, calls: list[Move]
) -> None:
    session = Played(workflow)
    session.start(start)
    for move in calls:
        if not session.known:
            break
        before = session.state
        session.play(move)
        event = session.events[-1]
        if session.state.version == before.version or not isinstance(event, AdvanceBlocked):
            continue
        node = before.nodes[event.node]
        assert session.state.nodes == before.nodes
        assert session.state.folds == before.folds
        assert event.blockers
        assert event.opened_at == node.opened_at
        sent = session.sent[event.attempt]
        assert (event.context.delta if event.context else None) == (sent.context or None)
        notes = event.output.notes
        assert (notes.inline if notes else None) == sent.notes
        assert [kept.inline for kept in event.output.artifacts] == list(sent.artifacts)
        assert [kept.digest for kept in event.output.artifacts] == [
            digest(canonical(artifact, "It")) for artifact in sent.artifacts
        ]


@settings(max_examples=80)
@given(workflows(), starts(preferences=NEVER_STOP, gates="advisory", autonomous=False), EVERYTHING)
def test_a_run_that_never_stops_records_gaps_in_place_of_blocks(
    workflow: Workflow, start: Start, calls: list[Move]
) -> None:
    session = played(workflow, start, [move for move in calls if move.act != "preferences"])
    assert not [e for e in session.events if isinstance(e, AdvanceBlocked | GateOpened)]
    for before, event in pairwise(session.events):
        if isinstance(event, SessionCompleted) and isinstance(before, StepAdvanced):
            way = [*session.ancestry(before.node), before]
            critical = sum(gap.severity == "critical" for each in way for gap in each.gaps)
            assert event.gaps == critical
            assert event.outcome == ("complete_with_gaps" if critical else "complete")
    told = [
        gap for e in session.events if isinstance(e, StepAdvanced | GapRecorded) for gap in e.gaps
    ]
    assert list(session.state.gaps) == told


@settings(max_examples=60)
@given(workflows(), starts(), EVERYTHING, sendings())
def test_a_checkpoint_is_saved_once_and_does_not_disturb_the_next_advance(
    workflow: Workflow, start: Start, calls: list[Move], sent: Sent
) -> None:
    session = played(workflow, start, calls)
    for name in session.known:
        if session.attempt(name).checkpoint_at is not None:
            continue
        command: Advance = session.advance(name, sent)
        plain = Played(workflow, state=session.state)
        without = plain.send(command)
        saved = session.send(SaveCheckpoint(attempt=name))
        assert isinstance(saved, Accepted)
        assert session.send(SaveCheckpoint(attempt=name)) == Replayed(at=session.state.version)
        marked = Played(workflow, state=session.state)
        same_but_for_versions(without, marked.send(command))
        return


def same_but_for_versions(one: object, other: object) -> None:
    if isinstance(one, Fault) or isinstance(other, Fault):
        assert (type(one), str(one)) == (type(other), str(other))
    elif isinstance(one, Accepted) and isinstance(other, Accepted):
        assert len(one.events) == len(other.events)
        for mine, theirs in zip(one.events, other.events, strict=True):
            assert unversioned(mine) == unversioned(theirs)
    else:
        assert one == other


def unversioned(event: Event) -> Json:
    """Return an event without the version that its own context change is named by."""
    shown: dict[str, Json] = msgspec.to_builtins(event)
    if isinstance(event, StepAdvanced) and event.opened and event.context:
        shown["opened"] = {**msgspec.to_builtins(event.opened), "context": None}
    return shown

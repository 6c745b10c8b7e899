"""The state: what events add up to, and what a part of it can decide."""

import pytest

from headway.domain.commands import Advance, Facts, SaveCheckpoint
from headway.domain.decide import decide
from headway.domain.events import CheckpointSaved, StepAdvanced
from headway.domain.ids import next_attempt
from headway.domain.state import SessionState, evolve, fold, with_attempt
from tests.support.building import Conversation, step, workflow


def test_folding_the_events_gives_the_state_that_was_held() -> None:
    told = Conversation(workflow(step("a"), step("b")))
    told.done(k=1)
    told.done()
    assert fold(told.events) == told.state
    assert fold(told.events[1:], fold(told.events[:1])) == told.state
    assert told.state.version == len(told.events)


def test_a_session_starts_once_and_first() -> None:
    told = Conversation(workflow(step("a")))
    with pytest.raises(AssertionError, match="a start comes first"):
        evolve(told.state, told.events[0])
    told.done()
    with pytest.raises(AssertionError, match="a start comes first"):
        evolve(SessionState(), told.events[1])


def test_the_tip_is_the_attempt_that_was_touched_last() -> None:
    told = Conversation(workflow(step("a"), step("b"), step("c")))
    root = told.opened()
    assert root is not None
    told.done()
    fresh = told.rehydrate(root.node)
    assert told.tip() != fresh
    told.send(fresh)
    assert told.tip() == next_attempt(fresh)


def test_a_checkpoint_does_not_move_the_tip() -> None:
    told = Conversation(workflow(step("a"), step("b")))
    first = told.tip()
    told.done()
    before = told.tip()
    told.take(
        decide(told.state, SaveCheckpoint(attempt=first), Facts(workflow=told.workflow)),
    )
    assert isinstance(told.events[-1], CheckpointSaved)
    assert told.tip() == before


def test_a_part_of_the_state_decides_as_the_whole_does() -> None:
    told = Conversation(workflow(step("a"), step("b"), step("c")))
    told.done(long="x" * 300)
    told.done(k=1)
    opened, name = told.opened(), told.tip()
    assert opened is not None
    part = SessionState(
        version=told.state.version,
        started=told.state.started,
        nodes={opened.node: told.state.nodes[opened.node]},
        attempts={name: told.state.attempts[name]},
        folds={segment.version: told.state.folds[segment.version] for segment in opened.context},
        tip=name,
    )
    command = Advance(attempt=name, notes="done", context={"k": 2})
    facts = Facts(workflow=told.workflow)
    assert decide(part, command, facts) == decide(told.state, command, facts)


def test_a_rehydrated_attempt_counts_no_blocks_and_is_known_once() -> None:
    told = Conversation(workflow(step("a")))
    opened = told.opened()
    assert opened is not None
    fresh = told.rehydrate(opened.node)
    assert told.state.attempts[fresh].blocks == 0
    told.send(fresh)
    ended = told.state.attempts[fresh]
    assert isinstance(ended.outcome, StepAdvanced)
    assert with_attempt(told.state, fresh, opened.node).attempts[fresh] == ended

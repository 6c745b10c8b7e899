"""The laws of runs, for conversations as they really go: crashes, people and long talk included."""

from collections import Counter
from functools import reduce

from hypothesis import given

from headway.domain.runs.acting import next_action
from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.costs import step_costs
from headway.domain.runs.event_codec import decode, encode
from headway.domain.runs.events import (
    CompactionAsked,
    ConversationCompacted,
    ModelAsked,
    ModelReplied,
    RunEnded,
    RunSteered,
    ToolStarted,
)
from headway.domain.runs.limits import reached
from headway.domain.runs.outcomes import is_rest
from headway.domain.runs.parts import CallStanding, Part, ReplyPart, ResultsPart, ToldPart
from tests.support.talked import ROOM, Talked, talks


def requests(talk: Talked) -> list[Conversation]:
    """Return the conversation at each request."""
    return [evolve(now, event) for now, event in talk.past if isinstance(event, ModelAsked)]


@given(talks())
def test_a_run_loaded_from_its_events_is_what_it_was_and_would_do_the_same(talk: Talked) -> None:
    loaded = reduce(evolve, [decode(encode(event)) for event in talk.events], Conversation())
    assert loaded == talk.now
    assert next_action(loaded, ROOM) == next_action(talk.now, ROOM)


@given(talks())
def test_no_call_is_ever_run_twice(talk: Talked) -> None:
    started = Counter(each.call for each in talk.events if isinstance(each, ToolStarted))
    assert not started or max(started.values()) == 1


@given(talks())
def test_nothing_is_asked_of_a_model_once_a_limit_is_reached(talk: Talked) -> None:
    for now, event in talk.past:
        if isinstance(event, ModelAsked | CompactionAsked):
            assert reached(now.limits, now.spent) is None


@given(talks())
def test_every_request_has_each_reply_with_the_results_of_its_calls(talk: Talked) -> None:
    asked = {each.turn: each.calls for each in talk.events if isinstance(each, ModelReplied)}
    for now in requests(talk):
        for part, following in zip(now.parts, (*now.parts[1:], None), strict=True):
            if isinstance(part, ReplyPart) and asked[part.turn]:
                assert isinstance(following, ResultsPart)
                assert tuple(call.asked for call in following.calls) == asked[part.turn]
                assert all(_is_over(call) for call in following.calls)
            if isinstance(following, ResultsPart):
                assert isinstance(part, ReplyPart), "no results without their reply"


def _is_over(call: CallStanding) -> bool:
    return call.state in {"ended", "failed", "interrupted"}


@given(talks())
def test_every_request_has_the_prompt_of_the_present_step(talk: Talked) -> None:
    for now in requests(talk):
        assert now.prompt in now.parts


@given(talks())
def test_what_a_person_says_is_in_the_next_request(talk: Talked) -> None:
    for place, (_, event) in enumerate(talk.past):
        if isinstance(event, RunSteered):
            later = Talked(past=talk.past[place:])
            heard = ToldPart(text=event.text, origin="steer")
            assert all(heard in now.parts for now in requests(later)[:1])


@given(talks())
def test_a_compaction_replaces_whole_turns_by_one_text_and_touches_nothing_newer(
    talk: Talked,
) -> None:
    for now, event in talk.past:
        if isinstance(event, ConversationCompacted):
            after = evolve(now, event)
            assert event.first == now.replaced + 1
            assert after.parts[0] == ToldPart(text=event.summary, origin="summary")
            assert _turns(after.parts) == [turn for turn in _turns(now.parts) if turn > event.last]
            assert _turns(after.parts), "the newest turn is never summed up"
            assert after.parts[-1:] == now.parts[-1:]
            assert (after.untold, after.calls) == (now.untold, now.calls)


def _turns(parts: tuple[Part, ...]) -> list[int]:
    return [part.turn for part in parts if isinstance(part, ReplyPart)]


@given(talks())
def test_the_first_end_that_is_no_rest_is_the_last_word(talk: Talked) -> None:
    ends = [each.outcome for each in talk.events if isinstance(each, RunEnded)]
    assert all(is_rest(outcome) for outcome in ends[:-1])
    assert not ends or talk.now.outcome in {None, ends[-1]}


@given(talks())
def test_the_steps_together_took_what_the_run_took(talk: Talked) -> None:
    steps = [each.spent for each in step_costs(talk.events)]
    for name in ("turns", "input_tokens", "output_tokens", "money", "worked_ms", "unpriced"):
        assert sum(getattr(each, name) for each in steps) == getattr(talk.now.spent, name)

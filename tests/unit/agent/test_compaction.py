"""Long conversations make room for themselves, and nothing of what was said is lost."""

import pytest

from headway.application.runs import Runs, text_of
from headway.application.steer_run import steer_run
from headway.domain.runs.acting import TURNS_KEPT
from headway.domain.runs.events import (
    CompactionAsked,
    ConversationCompacted,
    ModelErred,
    ModelReplied,
    RunSteered,
    TextTold,
    ToolEnded,
)
from headway.domain.runs.messages import ModelRequest, Reply, Results, Told, Usage
from headway.domain.runs.outcomes import Failed, Success
from headway.ports.models import ModelFailed, Traits
from tests.fakes.crew import PlayedModel, Turn, World, is_summing
from tests.support.driven_runs import (
    RUN,
    Killed,
    bury,
    conversation,
    driven,
    events_of,
    some_runs,
)

ROOMY = Traits(window=10_000, output_tokens_max=1_000)
FULL = Usage(input_tokens=8_000, output_tokens=1, cost=5)
OVERFLOW = ModelFailed("overflow", "prompt is too long")
LONG: tuple[Turn, ...] = (*[("write",), ("write", "nothing")] * 5, ("done",), ("write",), ("done",))


def compactions(runs: Runs) -> list[ConversationCompacted]:
    return [each for each in events_of(runs) if isinstance(each, ConversationCompacted)]


def texts(request: ModelRequest) -> list[str]:
    return [each.text for each in request.messages if isinstance(each, Told)]


def is_paired(request: ModelRequest) -> bool:
    """Tell whether every reply's calls are followed by their results, and no others are there."""
    open_calls: list[str] = []
    for message in request.messages:
        if isinstance(message, Results):
            if [each.call for each in message.results] != open_calls:
                return False
            open_calls = []
        elif open_calls:
            return False
        elif isinstance(message, Reply):
            open_calls = [call.id for call in message.calls]
    return not open_calls


def test_older_turns_make_room_for_a_summary_before_the_window_is_full() -> None:
    runs, world = some_runs(), World()
    model = PlayedModel(LONG, ROOMY, FULL)
    assert driven(runs, world, model) == Success(commit="abc123")
    first, second = compactions(runs)
    assert (first.first, first.last) == (1, 4)
    assert (second.first, second.last) == (5, 8)
    summing = [each for each in model.requests if is_summing(each)]
    assert len(summing) == 2
    assert not summing[0].tools
    assert "[called write]" in texts(summing[0])[0]
    after = model.requests[model.requests.index(summing[0]) + 1]
    assert texts(after)[:2] == [text_of(runs, first.summary), "Do step-1."]
    assert "So far so good." in texts(after)[0]
    assert sum(isinstance(each, Reply) for each in after.messages) == TURNS_KEPT
    assert "So far so good." in texts(summing[1])[0], "a summary is summed up with what followed"


def test_a_reply_is_never_parted_from_its_results() -> None:
    model = PlayedModel(LONG, ROOMY, FULL)
    driven(some_runs(), World(), model)
    assert all(is_paired(each) for each in model.requests if not is_summing(each))


def test_every_text_that_made_room_is_still_in_the_record() -> None:
    runs = some_runs()
    driven(runs, World(), PlayedModel(LONG, ROOMY, FULL))
    named = [
        each.reply if isinstance(each, ModelReplied) else each.text
        for each in events_of(runs)
        if isinstance(each, ModelReplied | ToolEnded | TextTold | RunSteered)
    ]
    assert len(named) > len(LONG)
    assert all(runs.engine.ledger.blob(name) for name in named)


def test_what_a_summary_took_is_spent_and_is_no_turn() -> None:
    runs = some_runs()
    driven(runs, World(), PlayedModel(LONG, ROOMY, FULL))
    spent = conversation(runs).spent
    assert spent.turns == len(LONG)
    assert spent.money == 5 * (len(LONG) + 2)
    assert spent.input_tokens == 8_000 * (len(LONG) + 2)


def test_a_model_that_says_it_is_too_long_gets_a_shorter_conversation() -> None:
    turns: tuple[Turn, ...] = (*LONG[:7], OVERFLOW, ("done",))
    runs, model = some_runs(), PlayedModel(turns)
    assert driven(runs, World(), model) == Success(commit="abc123")
    (compaction,) = compactions(runs)
    assert (compaction.first, compaction.last) == (1, 3)


def test_a_short_conversation_that_is_too_long_keeps_its_newest_turn_alone() -> None:
    runs, model = some_runs(), PlayedModel((("write",), ("write",), OVERFLOW, ("done",)))
    assert driven(runs, World(), model) == Success(commit="abc123")
    (compaction,) = compactions(runs)
    assert (compaction.first, compaction.last) == (1, 1)


def test_an_overflow_that_no_summary_can_mend_is_an_end_of_its_own() -> None:
    for turns in ((OVERFLOW,), (("write",), OVERFLOW)):
        outcome = driven(some_runs(), World(), PlayedModel(turns))
        assert isinstance(outcome, Failed)
        assert outcome.reason == "context_overflow"
        assert "newest turn alone" in outcome.message


def test_a_summary_that_overflows_is_not_tried_for_ever() -> None:
    runs = some_runs()
    model = PlayedModel(LONG, ROOMY, FULL, (OVERFLOW, OVERFLOW))
    outcome = driven(runs, World(), model)
    assert isinstance(outcome, Failed)
    assert outcome.reason == "context_overflow"
    assert sum(is_summing(each) for each in model.requests) == 1


def test_a_summary_that_fails_is_tried_again_like_any_other_request() -> None:
    runs = some_runs()
    busy = ModelFailed("transient", "529", retry_after_ms=1)
    assert driven(runs, World(), PlayedModel(LONG, ROOMY, FULL, (busy,))) == Success(
        commit="abc123"
    )
    kinds = [type(each) for each in events_of(runs)]
    at = kinds.index(ModelErred)
    assert kinds[at - 1 : at + 3] == [
        CompactionAsked,
        ModelErred,
        CompactionAsked,
        ConversationCompacted,
    ]


def test_a_run_killed_around_a_compaction_goes_on_with_it() -> None:
    calm, still = some_runs(), World()
    driven(calm, still, PlayedModel(LONG, ROOMY, FULL))
    kinds = [type(each) for each in events_of(calm)]
    asked = [at for at, kind in enumerate(kinds, 1) if kind is CompactionAsked]
    for kill_at in (place + beside for place in asked for beside in (-1, 0, 1, 2, 3)):
        runs, world, model = some_runs(), World(), PlayedModel(LONG, ROOMY, FULL)
        with pytest.raises(Killed):
            driven(runs, world, model, kill_at)
        bury(runs)
        assert driven(runs, world, model) == Success(commit="abc123"), f"killed at {kill_at}"
        assert [(each.first, each.last) for each in compactions(runs)] == [(1, 4), (5, 8)]
        assert (world.files, world.step) == (still.files, still.step)
        assert max(world.effects.values()) == 1


def test_a_run_killed_while_it_mends_an_overflow_goes_on_mending_it() -> None:
    turns: tuple[Turn, ...] = (("write",), ("write",), OVERFLOW, ("done",))
    calm = some_runs()
    driven(calm, World(), PlayedModel(turns))
    asked = [type(each) for each in events_of(calm)].index(CompactionAsked) + 1
    runs, world, model = some_runs(), World(), PlayedModel(turns)
    with pytest.raises(Killed):
        driven(runs, world, model, asked)
    bury(runs)
    assert driven(runs, world, model) == Success(commit="abc123")
    assert len(compactions(runs)) == 1


def test_a_summary_without_words_is_asked_for_again_and_a_refused_one_is_an_end() -> None:
    blank = Reply(text=" ", stop="end", model="")
    runs = some_runs()
    assert driven(runs, World(), PlayedModel(LONG, ROOMY, FULL, (blank,))) == Success(
        commit="abc123"
    )
    (erred,) = [each for each in events_of(runs) if isinstance(each, ModelErred)]
    assert erred.problem == "malformed"
    refused = Reply(text="I would rather not.", stop="refused", model="")
    outcome = driven(some_runs(), World(), PlayedModel(LONG, ROOMY, FULL, (refused,)))
    assert isinstance(outcome, Failed)
    assert outcome.reason == "model_refused"


def test_a_summary_that_was_cut_off_says_so() -> None:
    cut = Reply(text="So far", stop="length", model="")
    runs = some_runs()
    driven(runs, World(), PlayedModel(LONG, ROOMY, FULL, (cut,)))
    assert text_of(runs, compactions(runs)[0].summary).endswith("cut off here.]")


def test_what_the_model_has_not_heard_outlives_a_compaction() -> None:
    runs, world, model = some_runs(), World(), PlayedModel(LONG, ROOMY, FULL)
    calm = some_runs()
    driven(calm, World(), PlayedModel(LONG, ROOMY, FULL))
    asked = [type(each) for each in events_of(calm)].index(CompactionAsked) + 1
    with pytest.raises(Killed):
        driven(runs, world, model, asked)
    steer_run(runs, RUN, "Mind the gap.", "me")
    bury(runs)
    driven(runs, world, model)
    at = next(i for i, each in enumerate(model.requests) if is_summing(each))
    summing, heard = model.requests[at : at + 2]
    assert "Mind the gap." not in texts(summing)[0]
    assert texts(heard)[-1] == "Mind the gap."

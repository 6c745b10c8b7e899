"""Models that hand in a step by ending their turn with JSON, and replies that were cut off."""

from headway.application.runs import text_of
from headway.domain.runs.acting import NUDGES_MAX
from headway.domain.runs.events import ModelReplied, ToolEnded
from headway.domain.runs.messages import Reply, Results, Told, ToolCall, ToolResult, Usage
from headway.domain.runs.outcomes import Failed, Success
from headway.ports.models import Traits
from tests.fakes.crew import PlayedModel, World
from tests.support.driven_runs import conversation, driven, events_of, some_runs

ANSWERS = Traits(answers=True)
NOTES = Reply(text='{"notes": "did it"}', stop="end", model="")
UNFIT = Reply(text="I am done.", stop="end", model="")
SAID_NOTHING = Reply(text="  ", stop="end", model="")


def results(model: PlayedModel) -> list[ToolResult]:
    """Return what the model was told of its calls, in its last request."""
    messages = model.requests[-1].messages
    return [result for each in messages if isinstance(each, Results) for result in each.results]


def test_a_model_that_answers_hands_in_its_steps_with_json() -> None:
    runs, world = some_runs(), World()
    model = PlayedModel((("write",), NOTES, NOTES), ANSWERS)
    assert driven(runs, world, model) == Success(commit="abc123")
    assert world.step == 3
    request = model.requests[0]
    assert request.answer_schema == {"of": "complete_step"}
    assert [tool.name for tool in request.tools] == ["write", "done"]
    replies = [each for each in events_of(runs) if isinstance(each, ModelReplied)]
    assert [each.answered for each in replies] == [False, True, True]
    assert [call.name for call in replies[1].calls] == ["complete_step"]


def test_a_model_that_calls_is_not_asked_for_json() -> None:
    model = PlayedModel((("done",), ("done",)))
    driven(some_runs(), World(), model)
    assert model.requests[0].answer_schema is None
    assert "complete_step" in [tool.name for tool in model.requests[0].tools]


def test_the_model_sees_its_answer_as_a_reply_with_a_result() -> None:
    model = PlayedModel((NOTES, NOTES), ANSWERS)
    driven(some_runs(), World(), model)
    reply, told = model.requests[1].messages[1:3]
    assert isinstance(reply, Reply)
    assert reply.answered
    assert isinstance(told, Results)
    assert told.results[0].call == reply.calls[0].id


def test_an_answer_that_does_not_fit_is_told_why_and_may_be_mended() -> None:
    runs, model = some_runs(), PlayedModel((UNFIT, UNFIT, NOTES, NOTES), ANSWERS)
    assert driven(runs, World(), model) == Success(commit="abc123")
    assert [each.failed for each in results(model)] == [True, True, False]
    assert conversation(runs).nudges == 0


def test_answers_that_never_fit_are_an_early_end() -> None:
    unfit = [UNFIT, Reply(text="[]", stop="end", model="")] * 3
    runs = some_runs()
    outcome = driven(runs, World(), PlayedModel(tuple(unfit), ANSWERS))
    assert isinstance(outcome, Failed)
    assert outcome.reason == "ended_early"
    assert conversation(runs).spent.turns == NUDGES_MAX + 1


def test_an_answering_model_that_says_nothing_is_told_how_to_hand_in() -> None:
    model = PlayedModel((SAID_NOTHING, NOTES, NOTES), ANSWERS)
    assert driven(some_runs(), World(), model) == Success(commit="abc123")
    nudge = model.requests[1].messages[-1]
    assert isinstance(nudge, Told)
    assert "end your turn with its JSON" in nudge.text


def test_a_call_in_whose_middle_the_reply_was_cut_is_not_run_and_the_others_are() -> None:
    cut = Reply(
        text="",
        stop="length",
        model="",
        calls=(
            ToolCall(id="whole", name="write", arguments='{"at": 0}'),
            ToolCall(id="cut", name="write", arguments='{"at": "abc'),
        ),
    )
    runs, world = some_runs(), World()
    model = PlayedModel((cut, ("done",), ("done",)), usage=Usage(output_tokens=77))
    assert driven(runs, world, model) == Success(commit="abc123")
    assert (world.effects["whole"], world.effects["cut"]) == (1, 0)
    ended = {each.call: each for each in events_of(runs) if isinstance(each, ToolEnded)}
    assert (ended["whole"].failed, ended["cut"].failed) == (False, True)
    assert "cut off after 77 tokens" in text_of(runs, ended["cut"].text)


def test_the_last_call_of_a_cut_reply_is_run_where_it_is_whole() -> None:
    whole = ToolCall(id="whole", name="write", arguments='{"at": 0}')
    cut = Reply(text="", stop="length", model="", calls=(whole,))
    world = World()
    driven(some_runs(), world, PlayedModel((cut, ("done",), ("done",))))
    assert world.effects["whole"] == 1


def test_a_call_before_the_last_of_a_cut_reply_was_not_cut() -> None:
    calls = (
        ToolCall(id="broken", name="write", arguments="{"),
        ToolCall(id="cut", name="write", arguments="{"),
    )
    cut, world = Reply(text="", stop="length", model="", calls=calls), World()
    driven(some_runs(), world, PlayedModel((cut, ("done",), ("done",))))
    assert (world.effects["broken"], world.effects["cut"]) == (1, 0)


def test_a_text_that_was_cut_is_nudged_with_that_reason() -> None:
    for traits in (Traits(output_tokens_max=500), Traits(answers=True, output_tokens_max=500)):
        cut = Reply(text='{"notes": "I', stop="length", model="")
        model = PlayedModel((cut, ("done",), ("done",)), traits)
        assert driven(some_runs(), World(), model) == Success(commit="abc123")
        nudge = model.requests[1].messages[-1]
        assert isinstance(nudge, Told)
        assert (nudge.origin, "cut off after 500 tokens" in nudge.text) == ("nudge", True)

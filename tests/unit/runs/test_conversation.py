"""The laws of a run's conversation, for any events in any order and for the ways runs really go."""

from functools import reduce
from typing import Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.ids import digest
from headway.domain.runs.acting import (
    ERRORS_MAX,
    ERRORS_ONCE_HEARD_MAX,
    LOSSES_MAX,
    NUDGES_MAX,
    CallModel,
    Compact,
    Note,
    Nudge,
    RunTools,
    Stop,
    next_action,
)
from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.event_codec import decode, encode
from headway.domain.runs.events import (
    AbortAsked,
    CallAsked,
    GateReached,
    ModelAsked,
    ModelErred,
    ModelReplied,
    Owner,
    PauseAsked,
    RunClaimed,
    RunEnded,
    RunEvent,
    RunResumed,
    RunSteered,
    RunSubmitted,
    StepReached,
    TextTold,
    ToolEnded,
    ToolStarted,
    WorkflowCompleted,
)
from headway.domain.runs.limits import Limits
from headway.domain.runs.messages import Usage
from headway.domain.runs.outcomes import (
    Cancelled,
    Failed,
    OutcomeKind,
    Parked,
    Paused,
    Stuck,
    Success,
    TimedOut,
    in_words,
    is_rest,
    kind_of,
    reason_of,
)
from headway.domain.runs.parts import ResultsPart, ToldPart
from headway.domain.runs.stuck import REPEATS_MAX
from headway.ports.models import ModelProblem
from tests.support.strategies import of_type

REASONS: Final[dict[ModelProblem, str]] = {
    "expired": "credential_expired",
    "unpaid": "credit_spent",
    "overflow": "context_overflow",
    "refused": "model_refused",
    "unusable": "model_unusable",
}
ME: Final = Owner(host="here", boot="b", pid=1, started="1")
events: st.SearchStrategy[RunEvent] = st.one_of([of_type(kind) for kind in get_args(RunEvent)])


def told(*happened: RunEvent, limits: Limits | None = None) -> Conversation:
    begun = RunSubmitted(
        workflow_id="w", workspace="/w", goal="g", model="m", limits=limits or Limits()
    )
    start: tuple[RunEvent, ...] = (begun, RunClaimed(fence=1, owner=ME))
    return reduce(evolve, (*start, *happened), Conversation())


def on(now: Conversation, *happened: RunEvent) -> Conversation:
    return reduce(evolve, happened, now)


def replied(*calls: str, turn: int = 1, usage: Usage | None = None) -> tuple[RunEvent, ...]:
    return (
        ModelAsked(turn=turn),
        ModelReplied(
            turn=turn,
            reply=digest(b"r"),
            stop="tools" if calls else "end",
            model="m",
            calls=tuple(
                CallAsked(id=call, name="bash", arguments=digest(call.encode())) for call in calls
            ),
            usage=usage or Usage(),
        ),
    )


def ran(call: str, *, failed: bool = False) -> tuple[RunEvent, ...]:
    return (ToolStarted(call=call), ToolEnded(call=call, text=digest(b"t"), failed=failed))


@given(st.lists(events, max_size=30))
def test_whatever_happened_there_is_one_thing_to_do_next(happened: list[RunEvent]) -> None:
    now = told(*happened)
    action = next_action(now)
    assert isinstance(action, CallModel | Compact | RunTools | Nudge | Note | Stop)
    if isinstance(action, RunTools):
        assert all(call.state != "ended" for call in now.calls if call.asked in action.calls)


@given(st.lists(events, max_size=30), st.integers(0, 30))
def test_a_conversation_loaded_again_is_what_it_was(happened: list[RunEvent], cut: int) -> None:
    live = reduce(evolve, happened, Conversation())
    stored = [decode(encode(event)) for event in happened]
    early = reduce(evolve, stored[:cut], Conversation())
    assert reduce(evolve, stored[cut:], early) == live


def test_a_run_that_was_claimed_asks_the_model() -> None:
    assert next_action(told()) == CallModel(turn=1)


def test_the_calls_of_a_reply_are_run_in_order_and_then_the_model_is_asked() -> None:
    now = told(*replied("a", "b"))
    action = next_action(now)
    assert isinstance(action, RunTools)
    assert [call.id for call in action.calls] == ["a", "b"]
    now = on(now, *ran("a"))
    assert next_action(now) == RunTools(calls=(action.calls[1],))
    now = on(now, *ran("b", failed=True))
    assert next_action(now) == CallModel(turn=2)
    now = evolve(now, ModelAsked(turn=2))
    results = now.parts[-1]
    assert isinstance(results, ResultsPart)
    assert [call.state for call in results.calls] == ["ended", "failed"]


def test_a_call_that_ended_is_never_run_again() -> None:
    now = told(*replied("a"), *ran("a"))
    again = on(now, RunClaimed(fence=2, owner=ME), *ran("a", failed=True))
    assert [call.state for call in again.calls] == ["ended"]
    assert next_action(again) == CallModel(turn=2)


def test_a_call_that_was_running_when_the_run_was_taken_over_is_told_as_interrupted() -> None:
    now = told(*replied("a", "b"), ToolStarted(call="a"), RunClaimed(fence=2, owner=ME))
    action = next_action(now)
    assert isinstance(action, RunTools)
    assert [call.id for call in action.calls] == ["b"]
    late = evolve(now, ToolEnded(call="a", text=digest(b"late")))
    assert [call.state for call in late.calls] == ["interrupted", "waiting"]


def test_a_request_cut_off_by_a_crash_is_made_again_with_the_same_conversation() -> None:
    before = told(*replied("a"), *ran("a"), ModelAsked(turn=2))
    after = on(before, RunClaimed(fence=2, owner=ME), ModelAsked(turn=2))
    assert after.parts == before.parts
    assert next_action(before) == CallModel(turn=2)


def test_a_run_that_takes_worker_after_worker_along_comes_to_an_end() -> None:
    deadly = (ToolStarted(call="a"), RunClaimed(fence=2, owner=ME))
    again = (ModelAsked(turn=2), RunClaimed(fence=3, owner=ME))
    now = told(*replied("a"), *deadly, *(again * (LOSSES_MAX - 2)))
    assert next_action(now) == CallModel(turn=2)
    last = next_action(on(now, *again))
    assert isinstance(last, Stop)
    assert isinstance(last.outcome, Failed)
    assert last.outcome.reason == "workers_lost"
    resumed = on(now, *again, RunEnded(outcome=Paused(by="me")), RunResumed(by="me"))
    assert next_action(resumed) == CallModel(turn=2)


def test_a_call_that_is_made_again_because_it_was_cut_off_is_no_repetition() -> None:
    now = told()
    for turn in range(1, REPEATS_MAX + 2):
        call = (*replied("a", turn=turn), ToolStarted(call="a"))
        now = on(now, *call, RunClaimed(fence=turn + 1, owner=ME))
        assert next_action(now) == CallModel(turn=turn + 1)
        now = evolve(now, ModelAsked(turn=turn + 1))


def test_a_run_that_nobody_gets_to_begin_comes_to_an_end() -> None:
    claims = [RunClaimed(fence=fence, owner=ME) for fence in range(2, LOSSES_MAX + 2)]
    assert next_action(told(*claims[:-1])) == CallModel(turn=1)
    last = next_action(told(*claims))
    assert isinstance(last, Stop)
    assert kind_of(last.outcome) == "error"


def test_workers_that_get_on_before_they_leave_are_no_losses() -> None:
    now = told(*replied("a"), *ran("a"))
    lost = (ModelAsked(turn=2), RunClaimed(fence=3, owner=ME))
    now = on(now, *(lost * (LOSSES_MAX - 1)), *replied("b", turn=2), *ran("b"), *lost)
    assert next_action(now) == CallModel(turn=3)


def test_the_model_hears_a_steer_with_the_next_request() -> None:
    steer = RunSteered(text=digest(b"look left"), by="me")
    now = told(*replied("a"), steer, *ran("a"), ModelAsked(turn=2))
    assert now.parts[-1] == ToldPart(text=digest(b"look left"), origin="steer")
    assert isinstance(now.parts[-2], ResultsPart)


def test_a_model_that_ends_its_turn_early_is_nudged_and_in_the_end_it_is_an_error() -> None:
    now = told()
    for turn in range(1, NUDGES_MAX + 1):
        now = on(now, *replied(turn=turn))
        assert next_action(now) == Nudge(why="work_remains")
        now = evolve(now, TextTold(text=digest(b"n"), origin="nudge"))
        assert next_action(now) == CallModel(turn=turn + 1)
    action = next_action(on(now, *replied(turn=9)))
    assert isinstance(action, Stop)
    assert isinstance(action.outcome, Failed)
    assert action.outcome.reason == "ended_early"


def test_a_run_succeeds_only_when_the_engine_says_so() -> None:
    assert next_action(told(*replied("a"), *ran("a"), WorkflowCompleted())) == Stop(
        outcome=Success()
    )


def test_a_gate_parks_the_run_and_a_resumption_lets_it_go_on() -> None:
    now = told(*replied("a"), *ran("a"), GateReached(gate="gate_x", step="s"))
    assert next_action(now) == Stop(outcome=Parked(gate="gate_x"))
    rested = on(now, RunEnded(outcome=Parked(gate="gate_x")), RunResumed(by="me"))
    assert next_action(rested) == CallModel(turn=2)


def test_the_first_end_wins() -> None:
    ended = told(RunEnded(outcome=Success()), RunEnded(outcome=Cancelled(by="me")))
    assert next_action(ended) == Stop(outcome=Success())
    resumed = evolve(ended, RunResumed(by="me"))
    assert next_action(resumed) == Stop(outcome=Success())


def test_an_abort_ends_a_run_before_its_first_turn_and_between_two() -> None:
    for happened in ((), replied("a")):
        now = told(*happened, AbortAsked(by="me", reason="wrong goal"))
        assert next_action(now) == Stop(outcome=Cancelled(by="me", reason="wrong goal"))


def test_a_pause_lets_the_turn_end_and_a_resumption_takes_it_back() -> None:
    now = told(*replied("a"), PauseAsked(by="me"), PauseAsked(by="other"))
    assert isinstance(next_action(now), RunTools)
    now = on(now, *ran("a"))
    assert next_action(now) == Stop(outcome=Paused(by="me"))
    rested = evolve(now, RunEnded(outcome=Paused(by="me")))
    for paused in (now, rested):
        assert next_action(evolve(paused, RunResumed(by="me"))) == CallModel(turn=2)


def test_a_run_at_rest_can_be_ended_for_good() -> None:
    ends = (AbortAsked(by="me"), RunEnded(outcome=Cancelled(by="me")))
    now = told(RunEnded(outcome=Paused(by="me")), *ends, RunResumed(by="me"))
    assert next_action(now) == Stop(outcome=Cancelled(by="me"))


def test_a_transient_failure_is_waited_out_and_many_are_an_error() -> None:
    failure = ModelErred(turn=1, problem="transient", message="429", wait_ms=7)
    now = told(ModelAsked(turn=1), failure, limits=Limits(policy="end"))
    assert next_action(now) == CallModel(turn=1, wait_ms=7)
    for _ in range(ERRORS_MAX - 1):
        now = on(now, ModelAsked(turn=1), failure)
    action = next_action(now)
    assert isinstance(action, Stop)
    assert isinstance(action.outcome, Failed)
    assert action.outcome.reason == "model_unavailable"


def test_a_model_that_was_unavailable_for_too_long_is_given_as_long_again_after_a_rest() -> None:
    failure = ModelErred(turn=1, problem="transient", message="529", wait_ms=7)
    tried = (ModelAsked(turn=1), failure) * (ERRORS_MAX - 1)
    spent = told(*tried, ModelAsked(turn=1), failure)
    action = next_action(spent)
    assert isinstance(action, Stop)
    assert isinstance(action.outcome, Paused)
    assert reason_of(action.outcome) == "model_unavailable"
    resumed = on(spent, RunEnded(outcome=action.outcome), RunResumed(by="me"))
    assert next_action(resumed) == CallModel(turn=1)
    assert next_action(on(resumed, *tried)) == CallModel(turn=1, wait_ms=7)
    assert isinstance(next_action(on(resumed, *tried, ModelAsked(turn=1), failure)), Stop)


def test_a_model_that_has_replied_before_is_waited_for_longer() -> None:
    failure = (ModelAsked(turn=2), ModelErred(turn=2, problem="transient", message="529"))
    now = told(*replied("a"), *ran("a"), *(failure * (ERRORS_ONCE_HEARD_MAX - 1)))
    assert next_action(now) == CallModel(turn=2)
    assert isinstance(next_action(on(now, *failure)), Stop)
    unread = ModelErred(turn=2, problem="malformed", message="{")
    broken = told(*replied("a"), *ran("a"), *((ModelAsked(turn=2), unread) * ERRORS_MAX))
    assert isinstance(next_action(broken), Stop)


def test_expired_credentials_an_overflow_and_a_refusal_each_have_an_end_of_their_own() -> None:
    end = Limits(policy="end")
    ends = {}
    for problem in REASONS:
        now = told(ModelAsked(turn=1), ModelErred(turn=1, problem=problem, message="no"))
        action = next_action(evolve(now, RunResumed(by="me", limits=end)))
        assert isinstance(action, Stop)
        assert isinstance(action.outcome, Failed)
        ends[problem] = action.outcome.reason
    assert ends == REASONS


@pytest.mark.parametrize("turns", [0, 1])
def test_what_is_amiss_with_the_model_and_not_with_the_run_is_a_rest_that_says_which(
    turns: int,
) -> None:
    before = (*replied("a"), *ran("a")) * turns
    rests = {}
    for problem in REASONS:
        now = told(*before, ModelAsked(turn=turns + 1))
        now = on(now, ModelErred(turn=turns + 1, problem=problem, message="no"))
        action = next_action(now)
        assert isinstance(action, Stop)
        if isinstance(action.outcome, Paused):
            rests[problem] = reason_of(action.outcome)
            again = on(now, RunEnded(outcome=action.outcome), RunResumed(by="me"))
            assert next_action(again) == CallModel(turn=turns + 1)
    assert rests == {"expired": "credential_expired", "unpaid": "credit_spent"} | (
        {"unusable": "model_unusable"} if turns else {}
    )


def test_a_reply_that_is_a_refusal_is_an_end() -> None:
    refusal = ModelReplied(turn=1, reply=digest(b"r"), stop="refused", model="m")
    action = next_action(told(ModelAsked(turn=1), refusal))
    assert isinstance(action, Stop)
    assert isinstance(action.outcome, Failed)
    assert action.outcome.reason == "model_refused"


def test_a_limit_ends_or_parks_the_run_after_the_turn_that_reached_it() -> None:
    usage = Usage(input_tokens=5, output_tokens=5, cost=3)
    kinds = {
        "turns": Limits(turns=1),
        "tokens": Limits(tokens=10),
        "money": Limits(money=3),
        "time": Limits(seconds=0),
    }
    for limit, limits in kinds.items():
        now = told(*replied("a", usage=usage), limits=limits)
        assert isinstance(next_action(now), RunTools)
        parked = next_action(on(now, *ran("a")))
        assert isinstance(parked, Stop)
        assert isinstance(parked.outcome, Paused)
        assert parked.outcome.limit == limit
    now = told(*replied("a"), *ran("a"), limits=Limits(turns=1, policy="end"))
    assert next_action(now) == Stop(outcome=TimedOut(limit="turns"))


def test_the_same_call_three_times_in_a_row_is_stuck_and_a_slow_one_is_not() -> None:
    now = told()
    for turn in (1, 2, 3):
        now = on(now, *replied("a", turn=turn), *ran("a"))
    action = next_action(now)
    assert isinstance(action, Stop)
    assert isinstance(action.outcome, Stuck)
    assert action.outcome.sign == "repetition"
    slow = (*replied("a"), ToolStarted(call="a"))
    ended = ToolEnded(call="a", text=digest(b"t"), duration_ms=1_800_000)
    assert next_action(told(*slow, ended)) == CallModel(turn=2)


def test_a_run_that_is_stuck_as_it_reaches_a_limit_is_stuck() -> None:
    now = told(limits=Limits(turns=3, policy="end"))
    for turn in (1, 2, 3):
        now = on(now, *replied("a", turn=turn), *ran("a"))
    action = next_action(now)
    assert isinstance(action, Stop)
    assert isinstance(action.outcome, Stuck)


def test_many_turns_without_a_new_step_are_stuck_and_a_new_step_is_progress() -> None:
    now = told()
    for turn in range(1, 61):
        if turn == 30:
            now = evolve(now, StepReached(step="s", title="S", number=1, total=2))
        now = on(now, *replied(f"call-{turn}", turn=turn), *ran(f"call-{turn}"))
    assert isinstance(next_action(now), CallModel)
    for turn in range(61, 100):
        now = on(now, *replied(f"call-{turn}", turn=turn), *ran(f"call-{turn}"))
    action = next_action(now)
    assert isinstance(action, Stop)
    assert isinstance(action.outcome, Stuck)
    assert action.outcome.sign == "no_progress"


def test_every_outcome_has_a_name_and_words_and_only_two_are_a_rest() -> None:
    outcomes = (
        Success(commit="abc"),
        Failed(reason="tool_fatal", message="no"),
        TimedOut(limit="turns"),
        Stuck(sign="silence", message="quiet"),
        Paused(limit="money"),
        Paused(by="me"),
        Paused(failure=Failed(reason="credit_spent", message="no")),
        Parked(gate="g"),
        Cancelled(by="me"),
    )
    assert {kind_of(outcome) for outcome in outcomes} == set(get_args(OutcomeKind))
    assert len({in_words(outcome) for outcome in outcomes}) == len(outcomes)
    assert {kind_of(each) for each in outcomes if is_rest(each)} == {"paused", "parked"}
    assert [reason_of(each) for each in outcomes] == [
        *(None, "tool_fatal", "turns", "silence", "money", None, "credit_spent", None, None)
    ]

"""When a provider that was of no use is tried again: by the clock, by a resumption, by a reply."""

import pytest

from headway.agent.barring import BARRED_MS, BARRED_MS_MAX, Bars
from headway.domain.ids import RunId
from headway.domain.runs.outcomes import Failed, Outcome, Paused, Success
from tests.fakes.time_and_chance import FakeClock

EXPIRED = Failed(reason="credential_expired", message="m")
RUN, OTHER = RunId("task_a"), RunId("task_b")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(step_ms=0)


def barred(clock: FakeClock) -> Bars:
    bars = Bars(clock)
    assert bars.stopped("anthropic", RUN, Paused(failure=EXPIRED))
    return bars


def test_one_run_is_let_through_after_ever_longer_times_until_a_model_replies(
    clock: FakeClock,
) -> None:
    bars = barred(clock)
    for minutes in (5, 10, 20, 40, 60, 60):
        assert bars.closed() == ("anthropic",)
        clock.next_ms += minutes * 60_000 - 1
        assert bars.closed() == ("anthropic",)
        clock.next_ms += 1
        assert bars.closed() == ()
        bars.let_through("openai")
        assert bars.closed() == ()
        bars.let_through("anthropic")
        assert bars.closed() == ("anthropic",)
        assert not bars.stopped("anthropic", OTHER, Paused(failure=EXPIRED)), "it was told once"
    assert bars.replied("anthropic")
    assert not bars.replied("anthropic")
    assert bars.closed() == tuple(bars.at_rest()) == ()
    assert BARRED_MS_MAX == 12 * BARRED_MS


def test_one_run_is_let_through_at_once_when_one_that_rested_for_it_does_so_no_more(
    clock: FakeClock,
) -> None:
    bars = barred(clock)
    bars.taken_up(OTHER)
    assert bars.closed() == ("anthropic",)
    bars.taken_up(RUN)
    assert bars.closed() == tuple(bars.at_rest()) == ()
    bars.let_through("anthropic")
    clock.next_ms += BARRED_MS - 1
    assert bars.closed() == ("anthropic",)


@pytest.mark.parametrize(
    ("outcome", "counts", "rests"),
    [
        (Paused(failure=EXPIRED), True, (RUN,)),
        (EXPIRED, True, ()),  # under the policy `end`
        (Failed(reason="model_unavailable", message="m"), True, ()),
        (Paused(failure=Failed(reason="model_unusable", message="m")), False, ()),
        (Paused(limit="turns"), False, ()),
        (Success(), False, ()),
    ],
)
def test_what_is_amiss_outside_a_run_counts_whatever_it_brings_the_run_to(
    clock: FakeClock, outcome: Outcome, *, counts: bool, rests: tuple[RunId, ...]
) -> None:
    bars = Bars(clock)
    assert bars.stopped("anthropic", RUN, outcome) is counts
    assert (bars.closed() == ("anthropic",)) is counts
    assert tuple(bars.at_rest()) == rests

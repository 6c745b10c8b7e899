"""Verbs of runs on the store in memory: the order of the queue, statistics, names, ended runs."""

import dataclasses
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from headway.adapters.storage.memory import open_memory
from headway.application.abort_run import abort_run
from headway.application.cancel_task import cancel_task
from headway.application.checking_limits import LIMIT_MAX, Grant
from headway.application.claim_run import claim_run
from headway.application.end_run import end_run
from headway.application.list_queue import list_queue
from headway.application.list_runs import RunFilter, list_runs
from headway.application.move_task import NewPosition, move_task
from headway.application.naming_runs import exact_run, named_run
from headway.application.pause_run import pause_run
from headway.application.read_run_log import LogPage, read_run_log
from headway.application.record_turn import record_turn
from headway.application.resume_parked import resume_parked
from headway.application.resume_run import resume_run
from headway.application.retry_run import retry_run
from headway.application.run_stats import percentile, run_stats
from headway.application.runs import Held, LeaseTerms, Runs, folded
from headway.application.show_run import show_run
from headway.application.steer_run import steer_run
from headway.domain.errors import InvalidInput, NotFound, PreconditionFailed
from headway.domain.ids import RunId, digest, task_id
from headway.domain.runs.events import (
    ModelReplied,
    Owner,
    RunEnded,
    RunSubmitted,
    StepReached,
)
from headway.domain.runs.limits import Limits
from headway.domain.runs.messages import Usage
from headway.domain.runs.outcomes import Failed, Outcome, Parked, Paused, Success
from headway.ports.models import NamedModel
from headway.ports.queue import Move, Task
from tests.fakes.places import StandingPlaces
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.recorded_runs import recorded_run
from tests.support.walked import engine_of

SECOND_MS = 1_000
NOBODY = RunId("task_zzzz")


class Mine:
    """This process holds every lease, and lives."""

    def me(self) -> Owner:
        return Owner(host="h", boot="b", pid=1, started="s")

    def is_gone(self, owner: Owner) -> bool:
        assert owner == self.me()
        return False

    def end_work_of(self, run: RunId, fence: int) -> int:
        raise AssertionError((run, fence))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def runs(clock: FakeClock) -> Runs:
    store = open_memory(clock, FakeEntropy())
    engine = dataclasses.replace(engine_of(store), clock=clock)
    return Runs(
        engine=engine, queue=store.queue, owners=Mine(), places=StandingPlaces(), terms=LeaseTerms()
    )


def run(number: int) -> RunId:
    return task_id(bytes([number]) * 16)


def submit(runs: Runs, *numbers: int, workflow: str = "w", priority: int = 0) -> None:
    begun = RunSubmitted(workflow_id=workflow, workspace="/w", goal="g", model="m", limits=Limits())
    for number in numbers:
        row = Task(
            run=run(number), workflow_id=workflow, workspace="/w", goal="g", priority=priority
        )
        runs.queue.submit(row, (begun,), ())


def held(runs: Runs, number: int) -> Held:
    found = claim_run(runs, run(number))
    assert found is not None
    return found


def spend(runs: Runs, number: int, tokens: int = 10, worked_ms: int = 0) -> Held:
    """Have a run claimed, reach its first step and take one turn."""
    return record_turn(
        runs,
        held(runs, number),
        StepReached(step="s", title="S", number=1, total=1),
        ModelReplied(
            turn=1,
            reply=digest(b"r"),
            stop="end",
            model="m",
            usage=Usage(input_tokens=tokens, cost=2 * tokens),
            duration_ms=worked_ms,
        ),
    )


def end(runs: Runs, number: int, outcome: Outcome, **spent: int) -> None:
    end_run(runs, spend(runs, number, **spent), outcome)


def order(runs: Runs) -> list[RunId]:
    waiting = list_queue(runs, 100)["waiting"]
    assert isinstance(waiting, list)
    return [RunId(str(each["run"])) for each in waiting if isinstance(each, dict)]


def test_what_waits_stands_in_the_order_of_claims(runs: Runs) -> None:
    submit(runs, 1, 2)
    submit(runs, 3, priority=5)
    assert order(runs) == [run(3), run(1), run(2)]
    held(runs, 3)
    assert order(runs) == [run(1), run(2)]


def test_a_stalled_run_waits_again(runs: Runs, clock: FakeClock) -> None:
    submit(runs, 1, 2)
    held(runs, 1)
    clock.next_ms += runs.terms.ttl_ms
    assert order(runs) == [run(1), run(2)]
    with pytest.raises(PreconditionFailed, match="does not wait"):
        cancel_task(runs, run(1), "me")


@pytest.mark.parametrize(
    ("moved", "wanted", "expected"),
    [
        (3, NewPosition(end="first"), [3, 1, 2, 4]),
        (1, NewPosition(end="last"), [2, 3, 4, 1]),
        (4, NewPosition(before=run(2)), [1, 4, 2, 3]),
        (1, NewPosition(before=run(4)), [2, 3, 1, 4]),
        (2, NewPosition(before=run(2)), [1, 2, 3, 4]),
        (4, NewPosition(priority=1), [4, 1, 2, 3]),
        (1, NewPosition(priority=-1), [2, 3, 4, 1]),
    ],
)
def test_a_moved_run_is_claimed_where_it_was_put(
    runs: Runs, moved: int, wanted: NewPosition, expected: list[int]
) -> None:
    submit(runs, 1, 2, 3, 4)
    move_task(runs, run(moved), wanted)
    assert order(runs) == [run(number) for number in expected]
    claims = [claim_run(runs) for _ in range(4)]
    assert [each.run for each in claims if each] == [run(number) for number in expected]


def test_a_run_put_beside_others_takes_their_priority(runs: Runs) -> None:
    submit(runs, 1, priority=9)
    submit(runs, 2)
    submit(runs, 3, priority=-9)
    assert move_task(runs, run(3), NewPosition(end="first")).priority == 9
    assert order(runs) == [run(3), run(1), run(2)]
    assert move_task(runs, run(3), NewPosition(end="last")).priority == 0
    assert order(runs) == [run(1), run(2), run(3)]
    submit(runs, 4)
    assert order(runs)[-1] == run(4)


@pytest.mark.parametrize(
    "wanted",
    [
        NewPosition(),
        NewPosition(end="first", priority=1),
        NewPosition(end="last", before=run(2)),
        NewPosition(priority=10**9),
    ],
)
def test_a_position_that_cannot_be_meant_is_refused(runs: Runs, wanted: NewPosition) -> None:
    submit(runs, 1, 2)
    with pytest.raises(InvalidInput):
        move_task(runs, run(1), wanted)
    assert order(runs) == [run(1), run(2)]


def test_only_what_waits_is_moved_or_cancelled(runs: Runs) -> None:
    submit(runs, 1, 2, 3)
    held(runs, 1)
    end(runs, 2, Success())
    for asked in (
        lambda name: move_task(runs, name, NewPosition(end="first")),
        lambda name: move_task(runs, run(3), NewPosition(before=name)),
        lambda name: cancel_task(runs, name, "me"),
    ):
        with pytest.raises(PreconditionFailed, match="does not wait") as driven:
            asked(run(1))
        assert driven.value.details["kind"] == "run_not_waiting"
        with pytest.raises(PreconditionFailed, match="has ended") as ended:
            asked(run(2))
        assert ended.value.details["kind"] == "run_ended"
    assert cancel_task(runs, run(3), "me", "not now") == run(3)
    assert named_run(runs, run(3)).outcome == "cancelled"
    assert order(runs) == []


VERBS: dict[str, Callable[[Runs, str], object]] = {
    "steer": lambda runs, name: steer_run(runs, name, "x", "me"),
    "abort": lambda runs, name: abort_run(runs, name, "me"),
    "pause": lambda runs, name: pause_run(runs, name, "me"),
    "resume": lambda runs, name: resume_run(runs, name, "me"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_run_that_has_ended_answers_so_and_nothing_is_written(runs: Runs, verb: str) -> None:
    submit(runs, 1)
    end(runs, 1, Success(commit="abc"))
    before = runs.queue.scan(run(1))
    with pytest.raises(PreconditionFailed, match="has ended: success") as caught:
        VERBS[verb](runs, run(1))
    assert caught.value.details["kind"] == "run_ended"
    assert runs.queue.scan(run(1)) == before


@pytest.mark.parametrize("verb", [*VERBS, "retry", "log", "move"])
@pytest.mark.parametrize("name", ["", "task_", "task_zz", "../x", "task_\0", "x" * 10_000])
def test_a_run_that_never_was_is_not_found(runs: Runs, verb: str, name: str) -> None:
    submit(runs, 1)  # one alone: an empty beginning would be its
    more: dict[str, Callable[[Runs, str], object]] = {
        "retry": lambda runs, name: retry_run(runs, name, lambda model, _: NamedModel(name=model)),
        "log": lambda runs, name: read_run_log(runs, name, LogPage()),
        "move": lambda runs, name: move_task(runs, name, NewPosition(end="first")),
    }
    with pytest.raises(NotFound):
        (VERBS | more)[verb](runs, name)
    assert len(runs.queue.scan(run(1))) == 1


@pytest.mark.parametrize("name", ["", "task_"])
def test_an_empty_id_is_said_to_be_missing(runs: Runs, name: str) -> None:
    submit(runs, 1)
    with pytest.raises(NotFound, match=f"The id of a run is missing: '{name}' names none"):
        named_run(runs, name)


def test_an_id_misspelt_is_answered_with_the_nearest(runs: Runs) -> None:
    submit(runs, 1)
    for name in (run(1)[:-2] + "zz", run(1).replace("task_", "task_x")[:12]):
        with pytest.raises(NotFound) as caught:
            named_run(runs, name)
        assert run(1) in caught.value.remedy
        assert caught.value.details["didYouMean"] == [run(1)]


def test_a_beginning_is_for_people_and_no_whole_id(runs: Runs) -> None:
    submit(runs, 1)
    assert named_run(runs, run(1)[5:12]).run == run(1)
    with pytest.raises(NotFound):
        exact_run(runs, run(1)[:12])
    assert exact_run(runs, run(1)).run == run(1)


def test_more_is_granted_from_what_is_spent(runs: Runs) -> None:
    submit(runs, 1)
    end(runs, 1, Paused(limit="turns"), tokens=40)
    resume_run(runs, run(1), "me", Grant(turns=7, tokens=100, money=50))
    limits = folded(runs.queue.scan(run(1))).limits
    assert (limits.turns, limits.tokens, limits.money) == (8, 140, 130)
    assert limits.seconds == Limits().seconds
    resume_run(runs, run(1), "me", Grant(seconds=5))  # it waits by now
    assert folded(runs.queue.scan(run(1))).limits.seconds == 5


@pytest.mark.parametrize("bound", [0, -1, LIMIT_MAX + 1])
@pytest.mark.parametrize("name", ["turns", "tokens", "money", "seconds"])
def test_a_grant_that_cannot_be_meant_is_refused(runs: Runs, name: str, bound: int) -> None:
    submit(runs, 1)
    end(runs, 1, Paused(limit="turns"))
    before = runs.queue.scan(run(1))
    with pytest.raises(InvalidInput):
        resume_run(runs, run(1), "me", replace(Grant(), **{name: bound}))
    assert runs.queue.scan(run(1)) == before


def test_a_run_that_has_not_ended_is_not_retried(runs: Runs) -> None:
    submit(runs, 1)
    with pytest.raises(PreconditionFailed, match="has not ended") as caught:
        retry_run(runs, run(1), lambda model, _: NamedModel(name=model))
    assert caught.value.details["kind"] == "run_unfinished"


def test_runs_are_listed_by_state_and_outcome(runs: Runs, clock: FakeClock) -> None:
    submit(runs, 1, 2, 3, 4, 5)
    submit(runs, 6, workflow="other")
    end(runs, 1, Success())
    end(runs, 2, Failed(reason="fault", message="x"))
    end(runs, 3, Paused(by="me"))
    held(runs, 4)

    def listed(**wanted: object) -> list[str]:
        found = list_runs(runs, 100, replace(RunFilter(), **wanted))["runs"]
        assert isinstance(found, list)
        return [str(each["run"]) for each in found if isinstance(each, dict)]

    assert listed(state="queued") == [run(6), run(5)]
    assert listed(state="running") == [run(4)]
    assert listed(state="stalled") == []
    assert listed(state="resting") == listed(state="paused") == [run(3)]
    assert listed(state="ended") == [run(2), run(1)]
    assert listed(state="error") == [run(2)]
    assert listed(workflow_id="other") == [run(6)]
    assert listed(workspace="/elsewhere") == []
    assert listed(unfinished=True) == [run(6), run(5), run(4), run(3)]
    clock.next_ms += runs.terms.ttl_ms
    assert listed(state="stalled") == [run(4)]
    with pytest.raises(InvalidInput, match="no state"):
        listed(state="succes")


def test_a_row_says_why_its_run_stands_still_for_as_long_as_it_does(runs: Runs) -> None:
    def reason() -> object:
        return show_run(runs, run(1))["reason"]

    submit(runs, 1)
    assert reason() is None
    end(runs, 1, Paused(failure=Failed(reason="credit_spent", message="no")))
    assert reason() == "credit_spent"
    resume_run(runs, run(1), "me")
    assert reason() is None
    runs.queue.set_aside(run(1))
    assert named_run(runs, run(1)).outcome == "error"
    assert reason() is None, "it has ended for another reason, which is that it cannot be read"


@pytest.mark.parametrize(
    ("values", "p50", "p95"),
    [([7], 7, 7), ([1, 2], 1, 2), ([4, 1, 3, 2], 2, 4), (list(range(1, 101)), 50, 95)],
)
def test_a_percentile_is_a_value_that_is_there(values: list[int], p50: int, p95: int) -> None:
    assert (percentile(values, 50), percentile(values, 95)) == (p50, p95)
    assert percentile([], 50) is None


def test_statistics_count_outcomes_time_steps_and_money(runs: Runs, clock: FakeClock) -> None:
    submit(runs, 1, 2, 3, 4)
    submit(runs, 5, workflow="other")
    for number, worked in ((1, 3), (2, 9)):
        end(runs, number, Success(), tokens=number, worked_ms=worked * SECOND_MS)
    end(runs, 3, Paused(limit="turns"), tokens=4)
    stats = run_stats(runs)
    total, workflows = stats["total"], stats["workflows"]
    assert isinstance(total, dict)
    assert isinstance(workflows, list)
    assert total["runs"] == 5
    assert total["ended"] == 2
    assert total["outcomes"] == {"paused": 1, "success": 2}
    assert total["reasons"] == {"turns": 1}
    assert total["workedMs"] == {"p50": 3_000, "p95": 9_000}
    assert total["steps"] == {"p50": 1, "p95": 1}
    spent = total["spent"]
    assert isinstance(spent, dict)
    assert (spent["turns"], spent["inputTokens"], spent["money"]) == (3, 7, 14)
    assert [each["workflow"] for each in workflows if isinstance(each, dict)] == ["w", "other"]
    others = run_stats(runs, workflow_id="other")["workflows"]
    assert isinstance(others, list)
    (other,) = others
    assert isinstance(other, dict)
    assert other["workedMs"] == {"p50": None, "p95": None}
    clock.next_ms += 100 * SECOND_MS
    late = run_stats(runs, within_ms=50 * SECOND_MS)["total"]
    assert isinstance(late, dict)
    assert late["runs"] == 0


def test_a_row_without_a_tally_is_counted_by_its_events(runs: Runs) -> None:
    submit(runs, 1)
    now = spend(runs, 1, tokens=6)
    # As a version before the tally wrote it.
    untold = Move(state="ended", outcome="success")
    record_turn(runs, now, RunEnded(outcome=Success()), move=lambda _: untold)
    assert named_run(runs, run(1)).tally is None
    total = run_stats(runs)["total"]
    assert isinstance(total, dict)
    spent = total["spent"]
    assert isinstance(spent, dict)
    assert (spent["inputTokens"], total["steps"]) == (6, {"p50": 1, "p95": 1})


def test_a_run_ends_with_what_it_took_though_whoever_ends_it_knew_less(runs: Runs) -> None:
    submit(runs, 1)
    as_claimed = held(runs, 1)
    turn = ModelReplied(
        turn=1, reply=digest(b"r"), stop="end", model="m", usage=Usage(input_tokens=6)
    )
    record_turn(runs, as_claimed, StepReached(step="s", title="S", number=1, total=1), turn)
    end_run(runs, as_claimed, Failed(reason="fault", message="A bug."))
    tally = named_run(runs, run(1)).tally
    assert tally is not None
    assert (tally.steps, tally.spent.turns, tally.spent.input_tokens) == (1, 1, 6)


def test_a_log_is_read_page_by_page(runs: Runs) -> None:
    submit(runs, 1)
    end(runs, 1, Success())
    whole = read_run_log(runs, run(1), LogPage())["events"]
    assert isinstance(whole, list)
    assert [each["version"] for each in whole if isinstance(each, dict)] == [1, 2, 3, 4, 5]
    after, found = 0, []
    while True:
        page = read_run_log(runs, run(1), LogPage(after=after, limit=2))
        lines = page["events"]
        assert isinstance(lines, list)
        found += lines
        after = int(str(page["next"]))
        if not page["more"]:
            break
    assert found == whole
    assert read_run_log(runs, run(1), LogPage(after=5))["events"] == []
    submitted = whole[0]
    assert isinstance(submitted, dict)
    assert submitted["event"] == "run_submitted"
    assert submitted["workflowId"] == "w"


def test_a_parked_run_is_found_by_its_session_among_very_many_that_rest() -> None:
    store = open_memory(FakeClock(), FakeEntropy())
    runs = Runs(engine=engine_of(store), queue=store.queue, owners=Mine(), places=StandingPlaces())
    parked = Parked(gate="gate_a")
    oldest, session, _ = recorded_run(store, runs.engine, 0, parked)
    for number in range(1, 1_002):
        recorded_run(store, runs.engine, number, parked)
    assert resume_parked(runs, session, "ann") == oldest

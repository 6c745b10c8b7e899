"""What the queue of every store promises: rows, leases, fences, and the streams of runs."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from msgspec.structs import replace

from headway.adapters.storage.store import Store
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import RunId, digest, run_stream, task_id
from headway.domain.runs.events import (
    ModelAsked,
    Owner,
    RunClaimed,
    RunEnded,
    RunEvent,
    RunSteered,
    RunSubmitted,
)
from headway.domain.runs.limits import Spent
from headway.domain.runs.outcomes import Success
from headway.ports.leases import Lease
from headway.ports.ledger import Blob, Conflict
from headway.ports.queue import (
    Claiming,
    DuplicateRun,
    LeaseLost,
    Move,
    RunWrite,
    Tally,
    Task,
)
from tests.fakes.time_and_chance import FakeClock
from tests.support.patience import SECONDS_MAX
from tests.support.writes import STREAM, a_write

ME = Owner(host="here", boot="b", pid=1, started="1")
OTHER = Owner(host="here", boot="b", pid=2, started="2")
TTL_MS = 60_000
BEGUN = RunSubmitted(workflow_id="w", workspace="/w", goal="g", model="m")


def run(number: int = 0) -> RunId:
    return task_id(number.to_bytes(16, "big"))


def submit(
    store: Store,
    number: int = 0,
    *,
    priority: int = 0,
    dedupe: str | None = None,
    provider: str | None = None,
) -> Task:
    task = Task(
        run=run(number),
        workflow_id="w",
        workspace=f"/w{number % 2}",
        goal="g",
        priority=priority,
        dedupe=dedupe,
        provider=provider,
    )
    return store.queue.submit(task, (BEGUN,), ())


def claim(store: Store, which: RunId | None = None, owner: Owner = ME) -> Task | None:
    return store.queue.claim(Claiming(owner=owner, ttl_ms=TTL_MS, run=which))


def claimed(store: Store, which: RunId | None = None, owner: Owner = ME) -> Task:
    task = claim(store, which, owner)
    assert task is not None
    return task


def write(version: int, *events: RunEvent, fence: int | None = 1, ends: bool = False) -> RunWrite:
    move = Move(state="ended", outcome="success") if ends else None
    return RunWrite(
        run=run(),
        expected_version=version,
        events=events or (ModelAsked(turn=1),),
        fence=fence,
        move=move,
    )


def test_a_submitted_run_waits_with_its_first_event(store: Store) -> None:
    task = submit(store)
    assert (task.state, task.fence, task.owner) == ("queued", 0, None)
    assert [each.event for each in store.queue.scan(run())] == [BEGUN]
    assert store.queue.tasks(("queued",), 10).rows == (task,)
    assert store.queue.find(run()[:8], 10).rows == (task,)
    assert store.queue.find("task_zz", 10).rows == ()


def test_a_claim_stands_in_the_row_and_in_the_stream(store: Store) -> None:
    submit(store)
    task = claimed(store)
    assert (task.state, task.fence, task.owner) == ("claimed", 1, ME)
    assert store.queue.scan(run(), 1)[0].event == RunClaimed(fence=1, owner=ME)


def test_what_is_claimed_cannot_be_claimed_until_its_lease_runs_out(
    store: Store, clock: FakeClock
) -> None:
    submit(store)
    claimed(store)
    assert claim(store, owner=OTHER) is None
    assert claim(store, run(), OTHER) is None
    clock.next_ms += TTL_MS
    assert claimed(store, owner=OTHER).fence == 2


def test_a_renewed_lease_lasts_longer_and_a_run_that_was_handed_back_waits_again(
    store: Store, clock: FakeClock
) -> None:
    submit(store)
    claimed(store)
    clock.next_ms += TTL_MS - 10
    store.queue.renew(run(), 1, TTL_MS)
    clock.next_ms += TTL_MS - 10
    assert claim(store, owner=OTHER) is None
    store.queue.hand_back(run(), 7)
    assert claim(store, owner=OTHER) is None
    store.queue.hand_back(run(), 1)
    (row,) = store.queue.find(run(), 1).rows
    assert (row.state, row.lease_until) == ("queued", 0)
    assert claimed(store, owner=OTHER).fence == 2
    with pytest.raises(LeaseLost):
        store.queue.renew(run(), 1, TTL_MS)


def test_a_worker_that_lost_its_lease_writes_nothing(store: Store, clock: FakeClock) -> None:
    submit(store)
    claimed(store)
    store.queue.append(write(2))
    clock.next_ms += TTL_MS
    claimed(store, owner=OTHER)
    before = store.queue.scan(run())
    lost = replace(write(4), blobs=(Blob(digest=digest(b"late"), data=b"late"),))
    with pytest.raises(LeaseLost):
        store.queue.append(lost)
    assert store.queue.scan(run()) == before
    with pytest.raises(SessionNotHealthy):
        store.ledger.blob(digest(b"late"))
    store.queue.append(write(4, fence=2))


def test_an_append_names_the_version_it_follows(store: Store) -> None:
    submit(store)
    claimed(store)
    with pytest.raises(Conflict):
        store.queue.append(write(1))
    written = store.queue.append(write(2, ModelAsked(turn=1), ModelAsked(turn=2)))
    assert [each.version for each in written] == [3, 4]
    assert store.queue.scan(run(), 2) == written
    assert store.queue.scan(run(), 4) == ()


def test_an_outsider_writes_without_a_fence_before_and_during_a_claim(store: Store) -> None:
    submit(store)
    steer = RunSteered(text=digest(b"left"), by="me")
    text = Blob(digest=digest(b"left"), data=b"left")
    store.queue.append(replace(write(1, steer, fence=None), blobs=(text,)))
    claimed(store)
    store.queue.append(write(3, steer, fence=None))
    assert store.ledger.blob(digest(b"left")) == b"left"
    assert len(store.queue.scan(run())) == 4


def test_a_run_that_ended_is_claimed_by_nobody_and_keeps_no_key(store: Store) -> None:
    submit(store, dedupe="once")
    claimed(store)
    store.queue.append(write(2, RunEnded(outcome=Success()), ends=True))
    assert claim(store) is None
    (task,) = store.queue.tasks(("ended",), 10).rows
    assert (task.outcome, task.dedupe) == ("success", None)
    with pytest.raises(LeaseLost):
        store.queue.append(write(3))
    submit(store, 1, dedupe="once")


def test_a_dedupe_key_belongs_to_one_unfinished_run(store: Store) -> None:
    submit(store, 1, dedupe="once")
    with pytest.raises(DuplicateRun) as caught:
        submit(store, 2, dedupe="once")
    assert caught.value.run == run(1)
    assert len(store.queue.tasks(("queued",), 10).rows) == 1
    assert store.queue.scan(run(2)) == ()


def test_the_next_in_turn_is_of_the_highest_priority_and_then_the_first(store: Store) -> None:
    for number, priority in enumerate((0, 5, 0, 5)):
        submit(store, number, priority=priority)
    listed = [each.run for each in store.queue.queued(9).rows]
    assert [each.run for each in store.queue.queued(3).rows] == listed[:3]
    order = [claimed(store).run for _ in range(4)]
    assert order == listed == [run(1), run(3), run(0), run(2)]
    assert store.queue.queued(9).rows == ()


def test_a_named_run_is_claimed_out_of_turn(store: Store) -> None:
    for number in range(3):
        submit(store, number)
    assert claimed(store, run(2)).run == run(2)
    assert claim(store, run(2)) is None


def test_runs_of_providers_that_are_left_out_wait_unless_they_are_named(store: Store) -> None:
    for number, provider in enumerate(("a", "b", None, "c")):
        submit(store, number, provider=provider)
    claiming = Claiming(owner=ME, ttl_ms=TTL_MS, without=("a", "c"))
    found = [store.queue.claim(claiming) for _ in range(3)]
    assert [None if task is None else task.run for task in found] == [run(1), run(2), None]
    named = store.queue.claim(replace(claiming, run=run(3)))
    assert named is not None
    assert named.provider == "c"


def test_no_more_are_claimed_than_the_bounds_allow(store: Store) -> None:
    for number in range(4):  # two in each of two workspaces
        submit(store, number)
    claiming = Claiming(owner=ME, ttl_ms=TTL_MS, per_workspace_max=1)
    first, second = store.queue.claim(claiming), store.queue.claim(claiming)
    assert first is not None
    assert second is not None
    assert {first.workspace, second.workspace} == {"/w0", "/w1"}
    assert store.queue.claim(claiming) is None
    assert store.queue.claim(Claiming(owner=ME, ttl_ms=TTL_MS, claimed_max=2)) is None
    assert store.queue.claim(Claiming(owner=ME, ttl_ms=TTL_MS, claimed_max=3)) is not None


def test_claims_at_once_never_go_beyond_their_bounds(store: Store) -> None:
    runs, workers = 8, 8
    for number in range(runs):  # four in each of two workspaces
        submit(store, number)
    together = threading.Barrier(workers)
    claiming = Claiming(owner=ME, ttl_ms=TTL_MS, per_workspace_max=2, claimed_max=3)

    def work(_: int) -> list[Task | None]:
        together.wait()
        return [store.queue.claim(claiming) for _ in range(3)]

    with ThreadPoolExecutor(workers) as pool:
        taken = [each for mine in pool.map(work, range(workers)) for each in mine if each]
    assert len(taken) == 3
    assert max(Counter(each.workspace for each in taken).values()) == 2


def test_who_holds_runs_is_told_and_all_it_holds_can_be_ended_at_once(
    store: Store, clock: FakeClock
) -> None:
    for number in range(4):
        submit(store, number)
    for owner in (ME, ME, OTHER):
        claimed(store, owner=owner)
    holders = {holder.owner: holder.runs for holder in store.queue.holders()}
    assert holders == {ME: 2, OTHER: 1}
    store.queue.expire_all(ME)
    assert [holder.owner for holder in store.queue.holders()] == [OTHER]
    assert {claimed(store, owner=OTHER).run for _ in range(3)} == {run(0), run(1), run(3)}
    clock.next_ms += TTL_MS
    assert store.queue.holders() == ()


def test_a_bell_rings_when_there_may_be_a_run_to_claim(store: Store) -> None:
    def hand_back() -> None:
        claimed(store)
        store.queue.hand_back(run(), 1)

    def end() -> None:
        claimed(store)
        store.queue.append(write(3, RunEnded(outcome=Success()), fence=2, ends=True))

    changes: list[Callable[[], object]] = [
        lambda: submit(store),
        hand_back,
        end,
    ]
    with closing(store.bell()) as bell, ThreadPoolExecutor(1) as other:
        bell.wait(0.5)  # what it may ring for nothing at first
        for change in changes:
            began = time.monotonic()
            waits = other.submit(bell.wait, SECONDS_MAX)
            change()
            waits.result()
            assert time.monotonic() - began < SECONDS_MAX / 2


def test_a_bell_rings_though_it_happened_before_it_was_listened_to(store: Store) -> None:
    with closing(store.bell()) as bell:
        bell.wait(0.5)
        submit(store)
        began = time.monotonic()
        bell.wait(SECONDS_MAX)
        assert time.monotonic() - began < SECONDS_MAX / 2


def test_a_wait_for_a_bell_can_be_cut_short(store: Store) -> None:
    with closing(store.bell()) as bell, ThreadPoolExecutor(1) as other:
        bell.wait(0.1)
        began = time.monotonic()
        waits = other.submit(bell.wait, SECONDS_MAX)
        bell.cut()
        waits.result()
        bell.wait(SECONDS_MAX)
        assert time.monotonic() - began < SECONDS_MAX / 2


def test_of_many_workers_each_run_is_claimed_by_one(store: Store) -> None:
    runs, workers = 12, 6
    for number in range(runs):
        submit(store, number)
    together = threading.Barrier(workers)

    def work(_: int) -> list[RunId]:
        together.wait()
        mine: list[RunId] = []
        while len(mine) < runs:
            task = claim(store)
            if task is None and not store.queue.tasks(("queued",), 1).rows:
                break
            if task is not None:
                mine.append(task.run)
        return mine

    with ThreadPoolExecutor(workers) as pool:
        taken = [each for mine in pool.map(work, range(workers)) for each in mine]
    assert sorted(taken) == sorted(run(number) for number in range(runs))


def test_the_streams_of_runs_stand_beside_those_of_sessions(store: Store) -> None:
    submit(store)
    assert store.records.streams() == (run_stream(run()),)


def test_a_run_that_nobody_submitted_has_no_stream(store: Store) -> None:
    assert store.queue.scan(run()) == ()
    with pytest.raises(SessionNotHealthy):
        store.queue.append(write(0, fence=None))
    assert claim(store, run()) is None


def test_what_a_run_took_stands_in_its_row_until_it_rests_again(store: Store) -> None:
    submit(store)
    claimed(store)
    tally = Tally(spent=Spent(turns=3, input_tokens=900, money=4_200), steps=2)
    rests = Move(state="resting", outcome="paused", tally=tally)
    store.queue.append(replace(write(2), move=rests))
    (task,) = store.queue.find(run(), 1).rows
    assert (task.state, task.tally) == ("resting", tally)
    store.queue.append(replace(write(3, fence=None), move=Move(state="queued")))
    (task,) = store.queue.find(run(), 1).rows
    assert (task.state, task.outcome, task.tally) == ("queued", None, tally)


def test_rows_are_found_by_workflow_workspace_and_time(store: Store, clock: FakeClock) -> None:
    for number in range(4):
        submit(store, number)
    since = clock.next_ms
    submit(store, 4)
    tasks = store.queue.tasks
    assert [each.run for each in tasks(("queued",), 9, workspace="/w1").rows] == [run(3), run(1)]
    assert len(tasks(("queued",), 9, workflow_id="w").rows) == 5
    assert tasks(("queued",), 9, workflow_id="w", workspace="/elsewhere").rows == ()
    assert [each.run for each in tasks(("queued",), 9, since=since).rows] == [run(4)]
    assert len(tasks(("queued",), 2, workspace="/w0").rows) == 2


def test_rows_that_are_given_new_positions_are_claimed_in_their_order(store: Store) -> None:
    for number in range(4):
        submit(store, number)
    claimed(store, run(1))

    def turned_round(queued: tuple[Task, ...]) -> tuple[Task, ...]:
        assert [each.run for each in queued] == [run(0), run(2), run(3)]
        positions = [each.position for each in reversed(queued)]
        return tuple(
            replace(each, position=position)
            for each, position in zip(queued, positions, strict=True)
        )

    store.queue.rearrange(turned_round)
    store.queue.rearrange(lambda queued: (replace(queued[-1], priority=7),))
    assert [claimed(store).run for _ in range(3)] == [run(0), run(3), run(2)]
    submit(store, 5)
    assert claimed(store).run == run(5)


def test_a_change_that_is_refused_leaves_every_row_where_it_is(store: Store) -> None:
    for number in range(2):
        submit(store, number)
    before = store.queue.tasks(("queued",), 9).rows

    def refused(_: tuple[Task, ...]) -> tuple[Task, ...]:
        raise DuplicateRun(run())

    with pytest.raises(DuplicateRun):
        store.queue.rearrange(refused)
    assert store.queue.tasks(("queued",), 9).rows == before


def test_of_rows_moved_and_claimed_at_once_each_is_claimed_once(store: Store) -> None:
    runs = 12
    for number in range(runs):
        submit(store, number)
    together = threading.Barrier(2)

    def turn_round(queued: tuple[Task, ...]) -> tuple[Task, ...]:
        positions = [each.position for each in reversed(queued)]
        return tuple(
            replace(each, position=position)
            for each, position in zip(queued, positions, strict=True)
        )

    def move() -> None:
        together.wait()
        for _ in range(runs):
            store.queue.rearrange(turn_round)

    with ThreadPoolExecutor(1) as pool:
        moving = pool.submit(move)
        together.wait()
        taken: list[RunId] = []
        while len(taken) < runs:
            task = claim(store)  # where rows are held singly, none is to be had in mid-change
            assert task is not None or store.queue.tasks(("queued",), 1).rows
            taken += [task.run] if task else []
        moving.result()
    assert sorted(taken) == sorted(run(number) for number in range(runs))


def test_a_session_is_written_to_under_the_lease_of_its_run_or_not_at_all(
    store: Store, clock: FakeClock
) -> None:
    submit(store)
    claimed(store)
    mine, next_one = Lease(run=run(), fence=1), Lease(run=run(), fence=2)
    store.ledger.append(replace(a_write(0), lease=mine))
    clock.next_ms += TTL_MS
    claimed(store, owner=OTHER)
    with pytest.raises(LeaseLost):
        store.ledger.append(replace(a_write(1), lease=mine))
    store.ledger.append(replace(a_write(1), lease=next_one))
    assert len(store.ledger.scan(STREAM)) == 2

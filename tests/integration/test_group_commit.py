"""Writes that come at once: one commit for many, each caller gets what its own write came to."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from headway.adapters.storage import group_commit
from headway.adapters.storage.database import Cursor
from headway.adapters.storage.group_commit import Job
from headway.adapters.storage.sqlite import SqliteDatabase, SqliteOptions
from headway.domain.errors import SessionNotHealthy, StoreUnavailable
from tests.support.group_writes import (
    Holding,
    Interruption,
    Strike,
    Work,
    commits_of,
    interruptions,
    keeping,
    kept,
    small_store,
    until_waiting,
    waiting,
    waits_again,
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with small_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def interruption() -> Iterator[Interruption]:
    with interruptions() as heeded:
        yield heeded


def at_once(database: SqliteDatabase, *works: Work) -> list[Future[int]]:
    """Hand works in while another write has its turn, so that one commit takes all of them."""
    held = Holding()
    with ThreadPoolExecutor(len(works) + 1) as pool:
        held.take_turn(database, pool)
        done = []
        for number, work in enumerate(works, 1):
            done.append(pool.submit(database.write, work))
            until_waiting(database, number)
        held.go.set()
    return done


def test_writes_that_come_at_once_all_come_back(database: SqliteDatabase) -> None:
    done = at_once(database, *map(keeping, range(20)))
    assert [each.result() for each in done] == list(range(20))
    assert kept(database) == list(range(20))


def test_one_that_raises_is_undone_alone(database: SqliteDatabase) -> None:
    def stumble(cursor: Cursor) -> int:
        keeping(7)(cursor)
        raise KeyError("seven")

    done = at_once(database, keeping(1), stumble, keeping(2))
    assert (done[0].result(), done[2].result()) == (1, 2)
    with pytest.raises(KeyError):
        done[1].result()
    assert kept(database) == [1, 2]


def test_the_one_that_leads_may_be_the_one_that_raises(database: SqliteDatabase) -> None:
    database.write(keeping(1))
    done = at_once(database, keeping(1), keeping(2))
    with pytest.raises(SessionNotHealthy):
        done[0].result()
    assert done[1].result() == 2
    assert kept(database) == [1, 2]


def test_a_commit_that_fails_fails_all_it_held(database: SqliteDatabase) -> None:
    done = at_once(database, keeping(1), keeping(2, size=1 << 20), keeping(3))
    for each in done:
        with pytest.raises(StoreUnavailable, match="no room left"):
            each.result()
    assert kept(database) == []
    assert database.write(keeping(4)) == 4


def test_one_that_is_interrupted_as_it_is_to_lead_has_the_next_lead(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Holding()

    def interrupted(job: Job[int], seconds: float = -1) -> bool:
        monkeypatch.setattr(Job, "wait", wait)  # no signal can be aimed at so short a moment
        held.go.set()
        wait(job, seconds)
        raise KeyboardInterrupt

    wait = Job.wait
    with ThreadPoolExecutor(2) as pool:
        first = held.take_turn(database, pool)
        monkeypatch.setattr(Job, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            database.write(keeping(1))
        last = pool.submit(database.write, keeping(2))
        held.go.set()
        assert first.result() == -1
        assert last.result(20) == 2
    assert kept(database) == [2]


def test_one_that_is_interrupted_as_it_wakes_those_it_led_wakes_them_all(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Holding()

    def interrupted(_: Job[int]) -> None:
        monkeypatch.setattr(Job, "wake", wake)  # no signal can be aimed at so short a moment
        raise KeyboardInterrupt

    def lead(cursor: Cursor) -> int:
        monkeypatch.setattr(Job, "wake", interrupted)
        return keeping(1)(cursor)

    def queue_behind(pool: ThreadPoolExecutor) -> list[Future[int]]:
        until_waiting(database, 1)
        behind = [pool.submit(database.write, keeping(number)) for number in (2, 3)]
        until_waiting(database, 3)
        held.go.set()
        return behind

    wake = Job.wake
    with ThreadPoolExecutor(4) as pool:
        held.take_turn(database, pool)
        queueing = pool.submit(queue_behind, pool)
        with pytest.raises(KeyboardInterrupt):
            database.write(lead)
        assert [each.result(20) for each in queueing.result()] == [2, 3]
    assert database.write(keeping(4)) == 4
    assert sorted(kept(database)) == [1, 2, 3, 4]


def test_those_a_commit_held_go_on_before_the_next_begins(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, go_on = Holding(), threading.Event()
    commits = commits_of(database)

    def wait_slowly(job: Job[int], seconds: float = -1) -> bool:
        if threading.current_thread() is slow:
            go_on.wait()
        return wait(job, seconds)

    wait = Job.wait
    slow = threading.Thread(target=database.write, args=(keeping(2),))
    monkeypatch.setattr(Job, "wait", wait_slowly)
    with ThreadPoolExecutor(3) as pool:
        held.take_turn(database, pool)
        twice = pool.submit(lambda: [database.write(keeping(number)) for number in (1, 4)])
        until_waiting(database, 1)
        slow.start()
        until_waiting(database, 2)
        held.go.set()
        while kept(database) != [1, 2]:
            threading.Event().wait(0.001)
        other = pool.submit(database.write, keeping(3))
        until_waiting(database, 2)  # nobody leads them yet
        go_on.set()
        assert (twice.result(20), other.result(20)) == ([1, 4], 3)
    slow.join()
    assert len(commits) == 3


def test_too_many_that_wait_are_refused(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "WAITING_MAX", 2)
    refused: list[str] = []

    def one_more(_: Cursor) -> int:
        return 1

    def hold(_: Cursor) -> int:
        with ThreadPoolExecutor(2) as pool:
            waiters = [pool.submit(database.write, one_more) for _ in range(2)]
            while waiting(database) < len(waiters):
                threading.Event().wait(0.001)
            with pytest.raises(StoreUnavailable) as caught:
                ThreadPoolExecutor(1).submit(database.write, one_more).result()
            refused.append(caught.value.remedy)
            pool.shutdown(wait=False)
        return 0

    monkeypatch.setattr(group_commit, "WAIT_SECONDS", 0.2)
    assert database.write(hold) == 0
    assert refused


def test_one_that_is_interrupted_before_its_turn_leaves_the_others_theirs(
    database: SqliteDatabase, interruption: Interruption
) -> None:
    held = Holding()

    def interrupt(pool: ThreadPoolExecutor) -> Future[int]:
        until_waiting(database, 1)
        behind = pool.submit(database.write, keeping(2))
        until_waiting(database, 2)
        interruption.strike()
        until_waiting(database, 1)
        held.go.set()
        return behind

    with ThreadPoolExecutor(3) as pool:
        held.take_turn(database, pool)
        interrupting = pool.submit(interrupt, pool)
        with pytest.raises(KeyboardInterrupt):
            database.write(keeping(1))
        assert interrupting.result().result() == 2
    assert kept(database) == [2]


def test_one_that_is_interrupted_in_its_turn_is_kept_and_so_are_the_others(
    database: SqliteDatabase, interruption: Interruption
) -> None:
    held = Holding()

    def lead(cursor: Cursor) -> int:
        interruption.strike()  # while this leads the one that is struck
        return keeping(0)(cursor)

    def queue_around(pool: ThreadPoolExecutor) -> Future[int]:
        until_waiting(database, 2)
        behind = pool.submit(database.write, keeping(2))
        until_waiting(database, 3)
        held.go.set()
        return behind

    with ThreadPoolExecutor(4) as pool:
        held.take_turn(database, pool)
        leading = pool.submit(database.write, lead)
        until_waiting(database, 1)
        queueing = pool.submit(queue_around, pool)
        with pytest.raises(KeyboardInterrupt):
            database.write(keeping(1))
        assert leading.result() == 0
        assert queueing.result().result() == 2
    assert kept(database) == [0, 1, 2]


def test_one_that_is_interrupted_again_while_its_write_is_made_leaves_the_others_theirs(
    database: SqliteDatabase, interruption: Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, again = Holding(), waits_again(interruption, monkeypatch)

    def lead(cursor: Cursor) -> int:
        interruption.strike_twice(again)
        return keeping(0)(cursor)

    def queue_behind(pool: ThreadPoolExecutor) -> Future[int]:
        until_waiting(database, 2)
        behind = pool.submit(database.write, keeping(2))
        until_waiting(database, 3)
        held.go.set()
        return behind

    with ThreadPoolExecutor(4) as pool:
        held.take_turn(database, pool)
        leading = pool.submit(database.write, lead)
        until_waiting(database, 1)
        queueing = pool.submit(queue_behind, pool)
        with pytest.raises(KeyboardInterrupt):
            database.write(keeping(1))
        assert leading.result(20) == 0
        assert queueing.result().result(20) == 2
    assert kept(database) == [0, 1, 2]


@pytest.mark.parametrize("size", [1, 1 << 20], ids=["kept", "without room"])
@pytest.mark.parametrize(
    ("place", "together"), [(0, 64), (0, 1), (1, 64)], ids=["leading", "alone", "led"]
)
def test_one_that_is_interrupted_at_any_moment_leaves_the_others_theirs(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, place: int, together: int, size: int
) -> None:
    monkeypatch.setattr(group_commit, "BATCH_MAX", together)
    for moment in count(1):
        strike = Strike(moment)
        works = [keeping(3 * moment), keeping(3 * moment + 1), keeping(3 * moment + 2, size)]
        calls: list[Callable[[], int]] = [partial(database.write, work) for work in works]
        calls[place] = partial(strike.during, calls[place])
        returned = returned_of(database, calls, place)
        assert returned <= set(kept(database))
        assert database.write(lambda _: -1) == -1
        if not strike.came:
            break


def returned_of(database: SqliteDatabase, calls: list[Callable[[], int]], struck: int) -> set[int]:
    """Return what came of calls at once, of which one is struck and the others come back."""
    held = Holding()
    pool = ThreadPoolExecutor(len(calls) + 1)
    held.take_turn(database, pool)
    done: list[Future[int]] = []
    for call in calls:
        number = waiting(database) + 1
        done.append(pool.submit(call))
        while waiting(database) < number and not done[-1].done():
            threading.Event().wait(0.001)
    held.go.set()
    ended = [each.exception(5) for each in done]
    pool.shutdown()
    assert all(
        error is None or number == struck or isinstance(error, StoreUnavailable)
        for number, error in enumerate(ended)
    )
    return {each.result() for each, error in zip(done, ended, strict=True) if error is None}


def test_closing_waits_for_the_writes_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    database = SqliteDatabase(path, SqliteOptions())
    database.write(lambda cursor: cursor.execute("CREATE TABLE kept (n INTEGER, data BLOB)"))
    held = Holding(keeping(1))
    with ThreadPoolExecutor(2) as pool:
        written = held.take_turn(database, pool)
        closing = pool.submit(database.close)
        while not database._queue._closed:  # noqa: SLF001  to see that it has begun
            threading.Event().wait(0.001)
        with pytest.raises(StoreUnavailable, match="is closed"):
            database.write(keeping(2))
        assert not closing.done()
        held.go.set()
        assert written.result() == 1
    again = SqliteDatabase(path, SqliteOptions())
    assert kept(again) == [1]
    again.close()

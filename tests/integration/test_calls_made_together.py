"""Calls made together, in one thread: what they write is one commit, what each gets is its own."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from headway.adapters.storage.database import Cursor
from headway.adapters.storage.sqlite import SqliteDatabase, SqliteOptions
from headway.domain.errors import StoreUnavailable
from tests.support.group_writes import (
    Holding,
    Interruption,
    Work,
    commits_of,
    interruptions,
    keeping,
    kept,
    small_store,
    until_waiting,
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


def made_together(database: SqliteDatabase, *works: Work) -> list[Future[int]]:
    """Make calls that write, in this thread; each has what its own write came to."""
    done: list[Future[int]] = [Future() for _ in works]

    def call(work: Work, future: Future[int]) -> None:
        try:
            future.set_result(database.write(work))
        except Exception as error:  # noqa: BLE001 - raised again by who asks for it
            future.set_exception(error)

    database.together(
        [partial(call, work, future) for work, future in zip(works, done, strict=True)]
    )
    return done


def test_calls_made_together_share_a_commit(database: SqliteDatabase) -> None:
    commits = commits_of(database)
    done = made_together(database, *map(keeping, range(20)))
    assert [each.result() for each in done] == list(range(20))
    assert kept(database) == list(range(20))
    assert len(commits) == 1


def test_a_call_finds_what_it_wrote_and_may_write_again(database: SqliteDatabase) -> None:
    seen: dict[int, list[int]] = {}

    def call(number: int) -> None:
        for each in range(number):
            database.write(keeping(10 * number + each))
        seen[number] = kept(database)

    commits = commits_of(database)
    database.together([partial(call, number) for number in range(4)])
    assert seen[0] == []
    assert all(10 * number in seen[number] for number in range(1, 4))
    assert kept(database) == [10, 20, 21, 30, 31, 32]
    assert len(commits) == 3


def test_of_calls_made_together_one_that_raises_is_undone_alone(database: SqliteDatabase) -> None:
    def stumble(cursor: Cursor) -> int:
        keeping(7)(cursor)
        raise KeyError("seven")

    done = made_together(database, keeping(1), stumble, keeping(2))
    assert (done[0].result(), done[2].result()) == (1, 2)
    with pytest.raises(KeyError):
        done[1].result()
    assert kept(database) == [1, 2]


def test_a_commit_that_fails_fails_all_calls_made_together(database: SqliteDatabase) -> None:
    done = made_together(database, keeping(1), keeping(2, size=1 << 20), keeping(3))
    for each in done:
        with pytest.raises(StoreUnavailable, match="no room left"):
            each.result()
    assert kept(database) == []
    assert made_together(database, keeping(4), keeping(5))[1].result() == 5


def test_calls_made_together_take_their_turn_among_other_threads(database: SqliteDatabase) -> None:
    held = Holding()
    commits = commits_of(database)
    with ThreadPoolExecutor(5) as pool:
        held.take_turn(database, pool)
        batches = []
        for first in (10, 20, 30):
            batches.append(
                pool.submit(made_together, database, *map(keeping, range(first, first + 5)))
            )
            until_waiting(database, 5 * len(batches))
        alone = pool.submit(database.write, keeping(99))
        until_waiting(database, 16)
        held.go.set()
    assert [each.result() for batch in batches for each in batch.result()] == kept(database)[:-1]
    assert alone.result() == kept(database)[-1] == 99
    assert len(commits) == 2


def test_calls_made_together_on_a_closed_store_are_told(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "some.db", SqliteOptions())
    database.close()
    for each in made_together(database, keeping(1), keeping(2)):
        with pytest.raises(StoreUnavailable, match="is closed"):
            each.result()


def test_calls_made_together_that_are_interrupted_leave_the_others_their_turn(
    database: SqliteDatabase, interruption: Interruption
) -> None:
    held = Holding()

    def interrupt(pool: ThreadPoolExecutor) -> Future[int]:
        until_waiting(database, 3)
        behind = pool.submit(database.write, keeping(4))
        until_waiting(database, 4)
        interruption.strike()
        until_waiting(database, 1)
        held.go.set()
        return behind

    told: list[str] = []

    def call(number: int) -> None:
        try:
            database.write(keeping(number))
        except StoreUnavailable as fault:
            told.append(fault.message)

    with ThreadPoolExecutor(3) as pool:
        held.take_turn(database, pool)
        interrupting = pool.submit(interrupt, pool)
        with pytest.raises(KeyboardInterrupt):
            database.together([partial(call, number) for number in range(1, 4)])
        assert interrupting.result().result() == 4
    assert len(told) == 3
    assert kept(database) == [4]
    database.close()


def test_calls_made_together_that_are_interrupted_twice_leave_the_others_theirs(
    database: SqliteDatabase, interruption: Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, again = Holding(), waits_again(interruption, monkeypatch)

    def lead(cursor: Cursor) -> int:
        interruption.strike_twice(again)
        return keeping(0)(cursor)

    def queue_behind(pool: ThreadPoolExecutor) -> Future[int]:
        until_waiting(database, 3)
        behind = pool.submit(database.write, keeping(3))
        until_waiting(database, 4)
        held.go.set()
        return behind

    pool = ThreadPoolExecutor(4)
    held.take_turn(database, pool)
    leading = pool.submit(database.write, lead)
    until_waiting(database, 1)
    queueing = pool.submit(queue_behind, pool)
    with pytest.raises(KeyboardInterrupt):
        made_together(database, keeping(1), keeping(2))
    assert leading.result(20) == 0
    assert queueing.result().result(20) == 3
    pool.shutdown()
    assert kept(database) == [0, 1, 2, 3]

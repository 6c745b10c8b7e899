"""Writes that come at once: one commit for many, each caller gets what its own write came to."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from headway.adapters.storage import group_commit
from headway.adapters.storage.database import Cursor
from headway.adapters.storage.group_commit import Job
from headway.adapters.storage.sqlite import SqliteDatabase, SqliteOptions
from headway.domain.errors import SessionNotHealthy, StoreUnavailable

Work = Callable[[Cursor], int]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "some.db", SqliteOptions(pages_max=40))
    opened.write(lambda cursor: cursor.execute("CREATE TABLE kept (n INTEGER UNIQUE, data BLOB)"))
    yield opened
    opened.close()


def keeping(number: int, size: int = 1) -> Work:
    def work(cursor: Cursor) -> int:
        cursor.execute("INSERT INTO kept VALUES (?, ?)", (number, bytes(size)))
        return number

    return work


def kept(database: SqliteDatabase) -> list[int]:
    def work(cursor: Cursor) -> list[int]:
        cursor.execute("SELECT n FROM kept ORDER BY n")
        return [row[0] for row in cursor.fetchall()]

    return database.read(work)


def at_once(database: SqliteDatabase, *works: Work) -> list[Future[int]]:
    """Hand works in while another write has its turn, so that one commit takes all of them."""
    go, begun = threading.Event(), threading.Event()

    def hold(_: Cursor) -> int:
        begun.set()
        go.wait()
        return -1

    with ThreadPoolExecutor(len(works) + 1) as pool:
        pool.submit(database.write, hold)
        begun.wait()
        done = []
        for number, work in enumerate(works, 1):
            done.append(pool.submit(database.write, work))
            until_waiting(database, number)
        go.set()
    return done


def until_waiting(database: SqliteDatabase, number: int) -> None:
    while waiting(database) != number:
        threading.Event().wait(0.001)


def waiting(database: SqliteDatabase) -> int:
    return len(database._queue._waiting)  # noqa: SLF001  to see that they have come


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
    begun, go = threading.Event(), threading.Event()

    def hold(_: Cursor) -> int:
        begun.set()
        go.wait()
        return 1

    def interrupted(job: Job[int], seconds: float = -1) -> bool:
        monkeypatch.setattr(Job, "wait", wait)  # no signal can be aimed at so short a moment
        go.set()
        wait(job, seconds)
        raise KeyboardInterrupt

    wait = Job.wait
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(database.write, hold)
        begun.wait()
        monkeypatch.setattr(Job, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            database.write(keeping(1))
        last = pool.submit(database.write, keeping(2))
        go.set()
        assert first.result() == 1
        assert last.result(20) == 2
    assert kept(database) == [2]


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


class Interruption:
    """Strikes the main thread, which runs the test, as Ctrl-C would."""

    def __init__(self) -> None:
        self.told = threading.Event()

    def strike(self) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        self.told.wait()

    def raise_it(self, _number: int, _frame: object) -> None:
        self.told.set()
        raise KeyboardInterrupt


@pytest.fixture
def interruption() -> Iterator[Interruption]:
    interruption = Interruption()
    before = signal.signal(signal.SIGUSR1, interruption.raise_it)
    yield interruption
    signal.signal(signal.SIGUSR1, before)


def test_one_that_is_interrupted_before_its_turn_leaves_the_others_theirs(
    database: SqliteDatabase, interruption: Interruption
) -> None:
    go, begun = threading.Event(), threading.Event()

    def hold(_: Cursor) -> int:
        begun.set()
        go.wait()
        return -1

    def interrupt(pool: ThreadPoolExecutor) -> Future[int]:
        until_waiting(database, 1)
        behind = pool.submit(database.write, keeping(2))
        until_waiting(database, 2)
        interruption.strike()
        until_waiting(database, 1)
        go.set()
        return behind

    with ThreadPoolExecutor(3) as pool:
        pool.submit(database.write, hold)
        begun.wait()
        interrupting = pool.submit(interrupt, pool)
        with pytest.raises(KeyboardInterrupt):
            database.write(keeping(1))
        assert interrupting.result().result() == 2
    assert kept(database) == [2]


def test_one_that_is_interrupted_in_its_turn_is_kept_and_so_are_the_others(
    database: SqliteDatabase, interruption: Interruption
) -> None:
    go, begun = threading.Event(), threading.Event()

    def hold(_: Cursor) -> int:
        begun.set()
        go.wait()
        return -1

    def lead(cursor: Cursor) -> int:
        interruption.strike()  # while this leads the one that is struck
        return keeping(0)(cursor)

    def queue_around(pool: ThreadPoolExecutor) -> Future[int]:
        until_waiting(database, 2)
        behind = pool.submit(database.write, keeping(2))
        until_waiting(database, 3)
        go.set()
        return behind

    with ThreadPoolExecutor(4) as pool:
        pool.submit(database.write, hold)
        begun.wait()
        leading = pool.submit(database.write, lead)
        until_waiting(database, 1)
        queueing = pool.submit(queue_around, pool)
        with pytest.raises(KeyboardInterrupt):
            database.write(keeping(1))
        assert leading.result() == 0
        assert queueing.result().result() == 2
    assert kept(database) == [0, 1, 2]


def test_closing_waits_for_the_writes_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    database = SqliteDatabase(path, SqliteOptions())
    database.write(lambda cursor: cursor.execute("CREATE TABLE kept (n INTEGER, data BLOB)"))
    begun, go = threading.Event(), threading.Event()

    def hold(cursor: Cursor) -> int:
        begun.set()
        go.wait()
        return keeping(1)(cursor)

    with ThreadPoolExecutor(2) as pool:
        written = pool.submit(database.write, hold)
        begun.wait()
        closing = pool.submit(database.close)
        while not database._queue._closed:  # noqa: SLF001  to see that it has begun
            threading.Event().wait(0.001)
        with pytest.raises(StoreUnavailable, match="is closed"):
            database.write(keeping(2))
        assert not closing.done()
        go.set()
        assert written.result() == 1
    again = SqliteDatabase(path, SqliteOptions())
    assert kept(again) == [1]
    again.close()


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


def commits_of(database: SqliteDatabase) -> list[str]:
    """Return the list into which every commit from now on goes."""
    commits: list[str] = []

    def note(statement: str) -> None:
        if statement == "COMMIT":
            commits.append(statement)

    database._writer.set_trace_callback(note)  # type: ignore[attr-defined]  # noqa: SLF001
    return commits


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
    go, begun = threading.Event(), threading.Event()

    def hold(_: Cursor) -> int:
        begun.set()
        go.wait()
        return -1

    commits = commits_of(database)
    with ThreadPoolExecutor(5) as pool:
        pool.submit(database.write, hold)
        begun.wait()
        batches = []
        for first in (10, 20, 30):
            batches.append(
                pool.submit(made_together, database, *map(keeping, range(first, first + 5)))
            )
            until_waiting(database, 5 * len(batches))
        alone = pool.submit(database.write, keeping(99))
        until_waiting(database, 16)
        go.set()
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
    go, begun = threading.Event(), threading.Event()

    def hold(_: Cursor) -> int:
        begun.set()
        go.wait()
        return -1

    def interrupt(pool: ThreadPoolExecutor) -> Future[int]:
        until_waiting(database, 3)
        behind = pool.submit(database.write, keeping(4))
        until_waiting(database, 4)
        interruption.strike()
        until_waiting(database, 1)
        go.set()
        return behind

    told: list[str] = []

    def call(number: int) -> None:
        try:
            database.write(keeping(number))
        except StoreUnavailable as fault:
            told.append(fault.message)

    with ThreadPoolExecutor(3) as pool:
        pool.submit(database.write, hold)
        begun.wait()
        interrupting = pool.submit(interrupt, pool)
        with pytest.raises(KeyboardInterrupt):
            database.together([partial(call, number) for number in range(1, 4)])
        assert interrupting.result().result() == 4
    assert len(told) == 3
    assert kept(database) == [4]
    database.close()

"""PostgreSQL as it fails: lines cut in mid-commit, a server that restarts, addresses that lie."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import psycopg
import pytest
from msgspec.structs import replace
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from headway.adapters.storage import postgres_driver
from headway.adapters.storage.custody import SqlCustody
from headway.adapters.storage.custody_statements import HOLD_BLOBS
from headway.adapters.storage.database import Cursor, SqlValue
from headway.adapters.storage.postgres import PostgresDatabase, open_postgres
from headway.adapters.storage.queue import SqlQueue
from headway.adapters.storage.queue_statements import DUPLICATE, MANY_WRITERS
from headway.adapters.storage.search import Search
from headway.adapters.storage.search_postgres import TsvectorIndex
from headway.adapters.storage.store import Store
from headway.domain.errors import Fault, StoreUnavailable
from headway.domain.ids import RunId, session_stream
from headway.domain.runs.events import RunSubmitted
from headway.domain.words import Asked
from headway.ports.custody import Projections, SealedEvent, Tombstone
from headway.ports.ledger import Conflict
from headway.ports.queue import Claiming, Task
from simulation.cutting_line import Line, Moment, line_to
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.postgres import require_server, require_url, schema
from tests.support.recorded_runs import ME, run_id, waiting_run
from tests.support.writes import STREAM, a_blob, a_row, a_session, a_write, an_event

T = TypeVar("T")

FAR_BEYOND_SECONDS = 30.0  # any patience of these tests


@contextmanager
def opened(url: str) -> Iterator[Store]:
    store = open_postgres(url, FakeClock(), FakeEntropy())
    try:
        yield store
    finally:
        store.close()


@pytest.fixture
def url() -> Iterator[str]:
    with schema(require_url()) as made:
        yield made


@contextmanager
def through_a_line(url: str) -> Iterator[tuple[Line, str]]:
    parts = conninfo_to_dict(url)
    host, port = str(parts.get("host") or ""), int(parts.get("port") or 5432)
    if host.startswith("/") or not host:
        pytest.skip("the server listens on no port")
    with line_to(host, port) as line:
        yield line, make_conninfo(url, host="127.0.0.1", port=line.port)


def refusal(url: str) -> Fault:
    with pytest.raises(Fault) as caught, opened(url):
        pass
    return caught.value


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_line_lost_in_mid_commit_loses_nothing_and_doubles_nothing(
    url: str, moment: Moment
) -> None:
    with through_a_line(url) as (line, address), opened(address) as store:
        store.ledger.append(a_write(0, an_event(0)))
        line.cut_next = moment
        (second,) = store.ledger.append(a_write(1, an_event(1)))
        assert line.cuts == 1
        assert second.version == 2
        events = store.ledger.scan(STREAM)
        assert events[1] == second
        assert [each.event for each in events] == [an_event(0), an_event(1)]
        store.ledger.append(a_write(2, an_event(2)))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_driver, "ANSWER_SECONDS_MAX", 1.0)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_falls_silent_is_told_and_found_again(url: str) -> None:
    with through_a_line(url) as (line, address):
        hasty = make_conninfo(address, connect_timeout="2")
        with opened(hasty) as store, ThreadPoolExecutor(2) as pool:
            store.ledger.append(a_write(0))
            line.mute.set()
            asked = pool.submit(store.ledger.scan, STREAM)
            written = pool.submit(store.ledger.append, a_write(1))
            for each in (asked, written):
                with pytest.raises(StoreUnavailable, match="cannot be reached"):
                    each.result(FAR_BEYOND_SECONDS)
            line.mute.clear()
            store.ledger.append(a_write(1))
            assert len(store.ledger.scan(STREAM)) == 2


@pytest.mark.usefixtures("impatient")
def test_a_commit_that_is_never_answered_is_followed_up(url: str) -> None:
    with through_a_line(url) as (line, address), opened(address) as store:
        line.cut_next = "mute"
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(store.ledger.append, a_write(0))
            (first,) = written.result(FAR_BEYOND_SECONDS)
        assert line.cuts == 1
        assert store.ledger.scan(STREAM) == (first,)


@pytest.mark.usefixtures("impatient")
def test_tables_take_as_long_to_make_as_they_take(url: str) -> None:
    database = PostgresDatabase(url)
    database.define(lambda core: core.exec_driver_sql("SELECT pg_sleep(1.5)"))
    database.close()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_key_rotated_while_the_line_is_lost_is_rotated_once(url: str, moment: Moment) -> None:
    with through_a_line(url) as (line, address), opened(address) as store:
        first = store.keyring.keys()
        line.cut_next = moment
        second = store.keyring.rotate()
        assert line.cuts == 1
        assert second.previous == first.current
        assert store.keyring.keys() == second


def test_a_loser_of_a_race_that_was_cut_off_is_told_of_the_conflict(url: str) -> None:
    with through_a_line(url) as (line, address), opened(address) as one, opened(url) as other:
        one.ledger.append(a_write(0))
        other.ledger.append(a_write(1, an_event(7)))
        line.cut_next = "after"
        with pytest.raises(Conflict):
            one.ledger.append(a_write(1, an_event(8)))
        assert one.ledger.scan(STREAM)[1].event == an_event(7)


def test_connections_that_the_server_ended_are_replaced(url: str) -> None:
    with opened(url) as store:
        store.ledger.append(a_write(0))
        end_all(url)
        assert len(store.ledger.scan(STREAM)) == 1
        end_all(url)
        store.ledger.append(a_write(1))
        assert len(store.ledger.scan(STREAM)) == 2


def test_a_write_cut_in_the_middle_begins_anew(url: str) -> None:
    database = PostgresDatabase(url)
    begun: list[int] = []

    def work(cursor: Cursor) -> int:
        begun.append(1)
        cursor.execute("CREATE TABLE kept (n bigint)")
        if len(begun) == 1:
            end_all(url)
        cursor.execute("INSERT INTO kept VALUES (?)", (1,))
        return len(begun)

    assert database.write(work) == 2
    database.close()


def test_a_server_that_restarts_is_told_and_found_again() -> None:
    server = require_server()
    with schema(server.url) as url, opened(url) as store:
        store.ledger.append(a_write(0))
        server.control("-m", "immediate", "stop")
        with pytest.raises(StoreUnavailable, match="cannot be reached") as caught:
            store.ledger.append(a_write(1))
        assert caught.value.retry_after_ms == 1_000
        with pytest.raises(StoreUnavailable):
            store.ledger.scan(STREAM)
        server.control("-o", f"-c listen_addresses= -k {server.folder}", "start")
        assert len(store.ledger.scan(STREAM)) == 1
        store.ledger.append(a_write(1))
        assert len(store.ledger.scan(STREAM)) == 2


def test_threads_that_append_at_once_all_do(url: str) -> None:
    with opened(url) as store:

        def fill(number: int) -> int:
            for version in range(5):
                write = a_write(version, an_event(version), session=a_session(number))
                store.ledger.append(write)
            return 5

        with ThreadPoolExecutor(24) as pool:
            assert sum(pool.map(fill, range(24))) == 120


def test_a_claim_within_bounds_does_not_wait_for_words_that_are_folded(url: str) -> None:
    with opened(url) as store, ThreadPoolExecutor(1) as pool:
        run = waiting_run(store)
        database = PostgresDatabase(url)
        claiming = Claiming(owner=ME, ttl_ms=60_000, claimed_max=1)

        def work(cursor: Cursor) -> Task | None:
            TsvectorIndex().hold(cursor)
            cursor.fetchall()
            return pool.submit(store.queue.claim, claiming).result(timeout=20)

        claimed = database.write(work)
        assert claimed is not None
        assert claimed.run == run
        database.close()


def test_a_run_submitted_as_its_namesake_ends_is_kept(url: str) -> None:
    with opened(url) as store:
        first = Task(run=run_id(1), workflow_id="w", workspace="/w", goal="g", dedupe="key")
        begun = RunSubmitted(workflow_id="w", workspace="/w", goal="g", model="m")
        store.queue.submit(first, (begun,), ())
        database = EndedBetween(url, first.run)
        queue = SqlQueue(database, FakeClock(), MANY_WRITERS)
        second = replace(first, run=run_id(2))
        assert queue.submit(second, (begun,), ()).run == second.run
        assert database.ended
        database.close()


class EndedBetween(PostgresDatabase):
    """A database in which a run ends right before anybody looks for who has its key."""

    def __init__(self, url: str, run: RunId) -> None:
        super().__init__(url)
        self._run = run
        self.ended = False

    def write(self, work: Callable[[Cursor], T]) -> T:
        def watched(cursor: Cursor) -> T:
            return work(Watched(cursor, self._end))

        return super().write(watched)

    def _end(self, sql: str) -> None:
        if sql == DUPLICATE and not self.ended:
            self.ended = True
            end = "UPDATE tasks SET state = 'ended', dedupe = NULL WHERE run = ?"
            super().write(lambda cursor: cursor.execute(end, (self._run,)))


class Watched:
    """A cursor that tells of each statement before it runs."""

    def __init__(self, cursor: Cursor, tell: Callable[[str], None]) -> None:
        self._cursor = cursor
        self._tell = tell
        self.executemany = cursor.executemany
        self.fetchone = cursor.fetchone
        self.fetchall = cursor.fetchall

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def execute(self, sql: str, values: Sequence[SqlValue] = (), /) -> object:
        self._tell(sql)
        return self._cursor.execute(sql, values)


def test_a_rebuild_does_not_write_over_what_a_call_recorded_meanwhile(url: str) -> None:
    with opened(url) as store:
        store.ledger.append(a_write(0))
        stale = Projections(attempts=(), summary=None)
        with pytest.raises(Conflict):
            while_waiting(
                url,
                "UPDATE streams SET version = version + 1",
                lambda: store.custody.restate(STREAM, 1, stale),
            )


def test_an_attempt_minted_while_its_node_changes_stands_as_the_node_does_then(url: str) -> None:
    with opened(url) as store:
        store.ledger.append(replace(a_write(0), attempts=(a_row(1),)))
        while_waiting(
            url,
            "UPDATE streams SET version = version + 1; UPDATE attempts SET opened_at = 2",
            lambda: store.ledger.mint(a_row(2)),
        )
        head = store.ledger.head(a_row(2).nonce)
        assert head is not None
        assert head.row.opened_at == 2


def test_of_two_that_bring_the_same_stream_at_once_the_second_is_told(url: str) -> None:
    events = [SealedEvent(1, 0, bytes(32), b"as another had it")]
    nothing = Projections(attempts=(), summary=None)
    with opened(url) as store, pytest.raises(Conflict):
        while_waiting(
            url,
            f"INSERT INTO streams (name, version, head_hash) VALUES ('{STREAM}', 1, '')",  # noqa: S608  a name of ours
            lambda: store.custody.place(STREAM, events, (), nothing),
        )


def test_a_purge_that_begins_anew_spares_what_was_shared_meanwhile(url: str) -> None:
    shared = a_blob(b"what both speak of")
    names_it = an_event(0, shared.digest)
    own, other = a_session(1), a_session(2)

    class Repeats(PostgresDatabase):
        """Another client shares the blob, then the first try is lost before its commit."""

        def write(self, work: Callable[[Cursor], T]) -> T:
            store.ledger.append(a_write(0, names_it, session=other))
            with pytest.raises(Conflict):
                super().write(partial(undone, work))
            return super().write(work)

    def undone(work: Callable[[Cursor], T], cursor: Cursor) -> T:
        work(cursor)
        raise Conflict

    with opened(url) as store:
        store.ledger.append(replace(a_write(0, names_it, session=own), blobs=(shared,)))
        database = Repeats(url)
        custody = SqlCustody(database, Search(database, TsvectorIndex()), HOLD_BLOBS)
        purged = custody.purge(session_stream(own), Tombstone(session=own, purged_at=1, reason=""))
        database.close()
        assert purged is not None
        assert purged.blobs == 0
        assert store.ledger.blob(shared.digest) == shared.data


def test_a_statement_that_the_server_refuses_late_leaves_nothing_of_its_write(url: str) -> None:
    database = PostgresDatabase(url)

    def work(cursor: Cursor) -> None:
        cursor.execute("CREATE TABLE kept (n bigint PRIMARY KEY)")
        cursor.executemany("INSERT INTO kept VALUES (?)", [(1,), (1,)])

    with pytest.raises(Fault, match="duplicate key"):
        database.write(work)
    found = database.read(tables)
    database.close()
    assert found == []


def test_a_search_that_fails_leaves_its_line_as_it_was(url: str) -> None:
    index = TsvectorIndex()

    def search(cursor: Cursor) -> None:
        for word in ("lamp", "'"):
            with index.ready(cursor):
                cursor.execute(*index.holding(Asked(word=word, beginning=False)))
                cursor.fetchall()

    def setting(cursor: Cursor) -> str:
        cursor.execute("SELECT current_setting('enable_seqscan')")
        (found,) = cursor.fetchall()[0]
        return str(found)

    with opened(url):
        database = PostgresDatabase(url)
        with pytest.raises(Fault):
            database.read(search)
        assert database.read(setting) == "on"
        database.close()


def test_processes_that_make_the_tables_at_once_share_one_ledger(url: str) -> None:
    together = threading.Barrier(4)

    def make(seed: int) -> str:
        together.wait()
        store = open_postgres(url, FakeClock(), FakeEntropy(seed))
        store.close()
        return store.ledger_id

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(make, range(4)))) == 1


def test_a_schema_of_something_else_is_left_alone(url: str) -> None:
    change(url, "CREATE TABLE others (a int)")
    fault = refusal(url)
    assert "search_path" in fault.remedy
    assert fault.retry_after_ms is None


def test_a_store_of_a_newer_version_is_refused_with_the_remedy(url: str) -> None:
    with opened(url):
        pass
    change(url, "UPDATE meta SET value = '1000' WHERE name = 'schema'")
    assert "Update Headway" in refusal(url).remedy


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dbname": "no_such_database"}, "no_such_database"),
        ({"user": "no_such_user"}, "no_such_user"),
        ({"port": "1"}, "See that the server runs"),
        ({"options": "-csearch_path=no_such_schema"}, "Create the schema"),
    ],
)
def test_an_address_that_leads_nowhere_is_told_without_its_password(
    changed: dict[str, str], said: str
) -> None:
    address = make_conninfo(require_url(), password="hushed", **changed)
    fault = refusal(address)
    assert said in f"{fault.message} {fault.remedy}"
    assert "hushed" not in f"{fault.message} {fault.remedy} {fault.details}"


def test_an_address_that_is_none_is_told_without_its_password() -> None:
    fault = refusal("postgresql://user:hushed@[host")
    assert "not an address" in fault.message
    assert "hushed" not in f"{fault.message} {fault.remedy}"
    assert fault.__cause__ is None


def test_a_closed_store_says_so(url: str) -> None:
    with opened(url) as store:
        store.ledger.append(a_write(0))
    with pytest.raises(StoreUnavailable, match="is closed"):
        store.ledger.scan(STREAM)
    with pytest.raises(StoreUnavailable, match="is closed"):
        store.ledger.append(a_write(1))


def tables(cursor: Cursor) -> list[str]:
    cursor.execute("SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()")
    return [row[0] for row in cursor.fetchall()]


def while_waiting(url: str, sql: str, call: Callable[[], None]) -> None:
    """Make a call while another client's change is on its way, and let that one be first."""
    with psycopg.connect(url) as other, ThreadPoolExecutor(1) as pool:
        other.execute(sql.encode())
        calling = pool.submit(call)
        with psycopg.connect(url, autocommit=True) as watcher:
            blocked = (
                "SELECT 1 FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))",
                (other.info.backend_pid,),
            )
            while watcher.execute(*blocked).fetchone() is None:
                assert not calling.done(), "it did not wait for the other one"
        other.commit()
        calling.result()


def change(url: str, sql: str) -> None:
    """Tamper with the tables as no Headway would."""
    with psycopg.connect(url, autocommit=True) as raw:
        raw.execute(sql.encode())


def end_all(url: str) -> None:
    """End every connection into this schema, as an administrator or a restart would."""
    with psycopg.connect(url, autocommit=True) as raw:
        raw.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name"
            " = current_setting('application_name') AND pid <> pg_backend_pid()"
        )

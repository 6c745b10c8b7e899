"""The store's file: what becomes of it when processes come, go, die, and disks refuse."""

import random
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from headway.adapters.storage.drivers import SAFE_VERSION, Driver, best_driver
from headway.adapters.storage.sqlite import SqliteOptions, open_sqlite
from headway.adapters.storage.store import Store
from headway.domain.errors import Fault, SessionNotHealthy, StoreUnavailable
from headway.domain.ids import digest, session_stream
from headway.ports.ledger import Recorded
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.processes import process, told
from tests.support.walked import begin, engine_of, go_on
from tests.support.writes import (
    SESSION,
    STREAM,
    a_blob,
    a_row,
    a_session,
    a_summary,
    a_write,
    an_event,
)

OLD = Driver(sqlite3, (3, 40, 1))  # whatever it is, it is taken for an affected one
NEW = best_driver()

needs_company = pytest.mark.skipif(
    not NEW.shares_files, reason="SQLite is too old here for several processes on one file"
)


@contextmanager
def opened(
    path: Path, driver: Driver = NEW, pages_max: int | None = None, busy_timeout_ms: int = 10_000
) -> Iterator[Store]:
    options = SqliteOptions(driver=driver, pages_max=pages_max, busy_timeout_ms=busy_timeout_ms)
    store = open_sqlite(path, FakeClock(), FakeEntropy(), options)
    try:
        yield store
    finally:
        store.close()


def fill(store: Store, count: int) -> tuple[Recorded, ...]:
    for version in range(count):
        store.ledger.append(a_write(version, an_event(version, "text " * 50)))
    return store.ledger.scan(STREAM)


def refusal(path: Path, driver: Driver = NEW) -> Fault:
    with pytest.raises(Fault) as caught, opened(path, driver):
        pass
    return caught.value


def test_a_new_store_is_private(tmp_path: Path) -> None:
    with opened(tmp_path / "home" / "headway.db") as store:
        fill(store, 1)
        files = list((tmp_path / "home").iterdir())
        assert {file.name for file in files} >= {"headway.db", "headway.db-wal"}
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


@pytest.mark.parametrize("driver", [OLD, NEW], ids=["old", "new"])
def test_a_store_opened_again_has_everything(tmp_path: Path, driver: Driver) -> None:
    path = tmp_path / "headway.db"
    with opened(path, driver) as store:
        write = a_write(0, an_event(1), an_event(2))
        whole = replace(write, blobs=(a_blob(b"blob"),), attempts=(a_row(1),), summary=a_summary())
        written = store.ledger.append(whole)
        store.ledger.mint(a_row(2))
        store.sources.attach("/flows")
        keys, ledger_id = store.keyring.rotate(), store.ledger_id
        summary = store.sessions.summary(SESSION)
    with opened(path, driver) as store:
        assert store.ledger_id == ledger_id
        assert store.ledger.scan(STREAM) == written
        assert store.ledger.blob(digest(b"blob")) == b"blob"
        assert store.ledger.head(a_row(1).nonce) is not None
        assert store.ledger.head(a_row(2).nonce) is not None
        assert store.sessions.summary(SESSION) == summary
        assert store.keyring.keys() == keys
        assert store.sources.attached().rows == ("/flows",)


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    with opened(tmp_path / "headway.db") as store:
        fill(store, 1)
    with pytest.raises(StoreUnavailable, match="is closed"):
        store.ledger.scan(STREAM)
    with pytest.raises(StoreUnavailable, match="is closed"):
        store.ledger.append(a_write(1))


@needs_company
def test_another_process_adds_to_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    with opened(path) as store:
        fill(store, 2)
        with process("append", path, count=5) as other:
            assert told(other) == {"closed": True}
        assert len(store.ledger.scan(STREAM)) == 7
        store.ledger.append(a_write(7))
    with opened(path) as store:
        assert len(store.ledger.scan(STREAM)) == 8


@needs_company
def test_processes_that_make_the_file_at_once_share_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "home" / "headway.db"
    with process("append", path, count=10) as one, process("append", path, count=10) as other:
        assert told(one) == told(other) == {"closed": True}
    with opened(path) as store:
        assert len(store.ledger.scan(STREAM)) == 20


@needs_company
def test_a_key_rotated_by_another_store_is_seen_at_once(tmp_path: Path) -> None:
    with opened(tmp_path / "headway.db") as one, opened(tmp_path / "headway.db") as other:
        one.keyring.keys()
        rotated = other.keyring.rotate()
        assert one.keyring.keys() == rotated


@pytest.mark.skipif(sqlite3.sqlite_version_info >= SAFE_VERSION, reason="no old SQLite here")
@pytest.mark.parametrize("here", [OLD, NEW], ids=["old here", "new here"])
@pytest.mark.parametrize("options", [["--standard"], []], ids=["old there", "new there"])
def test_an_old_sqlite_is_never_in_company(
    tmp_path: Path, here: Driver, options: list[str]
) -> None:
    path = tmp_path / "headway.db"
    with process("hold", path, *options) as other:
        assert "open" in told(other)
        if here.shares_files and not options and NEW.shares_files:
            with opened(path, here) as store:
                fill(store, 1)
        else:
            fault = refusal(path, here)
            assert isinstance(fault, StoreUnavailable)
            assert "pysqlite3" in fault.remedy
        other.kill()
        other.wait()
        with opened(path, here) as store:  # the system freed what the dead one held
            store.ledger.append(a_write(len(store.ledger.scan(STREAM))))


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "headway.db"
    acknowledged = 0
    with process("write", path) as writer:
        for _ in range(random.Random(seed).randrange(1, 80)):  # noqa: S311  a moment, no secret
            acknowledged = told(writer)["version"]
        writer.kill()
    with opened(path) as store:
        found = store.ledger.scan(STREAM)
        assert len(found) >= acknowledged
        assert [record.event for record in found] == [an_event(n) for n in range(len(found))]
        store.ledger.append(a_write(len(found)))


def test_a_key_rotated_in_elsewhere_is_good_with_its_first_token(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    with opened(path) as here, opened(path) as there:
        one, other = engine_of(here), engine_of(there, seed=11)
        begin(one)  # has looked at the keys just now
        for _ in range(3):
            there.keyring.rotate()
            told = begin(other)
            assert go_on(one, told["continueToken"], "done")["kind"] == "ok"


def test_a_flipped_byte_is_named_and_harms_no_other_session(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    with opened(path) as store:
        fill(store, 5)
        store.ledger.append(a_write(0, an_event(1), session=a_session(7)))
    change(
        path,
        "UPDATE events SET data = replace(CAST(data AS TEXT), 'xt te', 'xt tE')"
        " WHERE stream = 1 AND version = 3",
    )
    with opened(path) as store:
        assert len(store.ledger.read(STREAM, (1, 2, 4, 5))) == 4
        with pytest.raises(SessionNotHealthy) as caught:
            store.ledger.read(STREAM, (3,))
        assert caught.value.details == {"stream": STREAM, "version": 3}
        with pytest.raises(SessionNotHealthy) as caught:
            store.ledger.scan(STREAM)
        assert caught.value.details == {"stream": STREAM, "version": 3}
        assert len(store.ledger.scan(session_stream(a_session(7)))) == 1


@pytest.mark.parametrize(
    ("sql", "version"),
    [
        ("UPDATE events SET data = CAST(CAST(data AS TEXT) || ' ' AS BLOB) WHERE version = 3", 3),
        ("UPDATE events SET recorded_at = recorded_at + 1 WHERE version = 3", 3),
        ("UPDATE events SET recorded_at = 'noon' WHERE version = 3", 3),
        ("UPDATE events SET hash = zeroblob(32) WHERE version = 3", 3),
        ("UPDATE events SET hash = zeroblob(3) WHERE version = 3", 3),
        ("DELETE FROM events WHERE version = 3", 3),
        ("DELETE FROM events WHERE version = 1", 1),
        ("DELETE FROM events WHERE version = 5", 5),
        ("DELETE FROM events", 1),
        ("UPDATE streams SET version = 4", 5),
        ("UPDATE streams SET version = 'four'", None),
        ("UPDATE streams SET head_hash = zeroblob(32)", 5),
    ],
)
def test_a_scan_names_the_first_event_that_is_not_as_recorded(
    tmp_path: Path, sql: str, version: int | None
) -> None:
    path = tmp_path / "headway.db"
    with opened(path) as store:
        fill(store, 5)
    change(path, sql)
    with opened(path) as store:
        with pytest.raises(SessionNotHealthy) as caught:
            store.ledger.scan(STREAM)
        assert caught.value.details == {"stream": STREAM, "version": version}


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE attempts SET node = X'FF'",
        "UPDATE attempts SET opened_at = 'one'",
        "UPDATE blobs SET data = X'00'",
        "UPDATE sessions SET status = 'lost'",
        "UPDATE sessions SET depth = 'deep'",
        "UPDATE sessions SET goal = CAST(X'FF' AS TEXT)",
        "UPDATE streams SET version = 'four'",
    ],
)
def test_a_damaged_row_is_a_coded_refusal(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "headway.db"
    with opened(path) as store:
        write = replace(a_write(), blobs=(a_blob(b"blob"),), attempts=(a_row(1),))
        store.ledger.append(replace(write, summary=a_summary()))
    change(path, sql)
    refused = 0
    with opened(path) as store:
        reads: list[Callable[[], object]] = [
            partial(store.ledger.head, a_row(1).nonce),
            partial(store.ledger.blob, digest(b"blob")),
            partial(store.sessions.summary, SESSION),
        ]
        for read in reads:
            try:
                read()
            except SessionNotHealthy:
                refused += 1
    assert refused == 1


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    large = "long " * 2_000
    with opened(path, pages_max=60) as store:
        kept = 0
        with pytest.raises(StoreUnavailable, match="no room left") as caught:  # noqa: PT012
            for kept in range(1_000):
                store.ledger.append(a_write(kept, an_event(kept, large)))
        assert "Free some space" in caught.value.remedy
        assert len(store.ledger.scan(STREAM)) == kept > 0
    with opened(path) as store:
        assert len(store.ledger.scan(STREAM)) == kept
        store.ledger.append(a_write(kept, an_event(kept, large)))


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder whose parents anyone may pass through, unlike those of `tmp_path`."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("there", [False, True], ids=["without a store", "with a store"])
def test_a_read_only_folder_is_told_and_loses_nothing(reachable: Path, *, there: bool) -> None:
    path = reachable / "headway.db"
    if there:
        with opened(path) as store:
            fill(store, 3)
        path.chmod(0o444)
    reachable.chmod(0o555)
    with process("append", path, "--nobody", count=1) as other:
        fault = told(other)
    reachable.chmod(0o755)
    assert fault["fault"] == "STORE_UNAVAILABLE"
    assert "HEADWAY_HOME" in fault["remedy"]
    assert path.exists() == there
    if there:
        path.chmod(0o600)
        with opened(path) as store:
            assert len(store.ledger.scan(STREAM)) == 3


def test_a_read_only_file_is_told_and_loses_nothing(reachable: Path) -> None:
    path = reachable / "headway.db"
    with opened(path) as store:
        fill(store, 3)
    reachable.chmod(0o777)
    path.chmod(0o444)
    path.with_name("headway.db-open").chmod(0o666)
    with process("append", path, "--nobody", count=1) as other:
        fault = told(other)
    assert fault["fault"] == "STORE_UNAVAILABLE"
    assert "right to write" in fault["remedy"]
    with opened(path) as store:
        assert len(store.ledger.scan(STREAM)) == 3


def test_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert isinstance(refusal(tmp_path / "file" / "headway.db"), StoreUnavailable)
    (tmp_path / "folder").mkdir()
    assert isinstance(refusal(tmp_path / "folder"), StoreUnavailable)


@needs_company
def test_a_locked_store_is_told_after_a_while(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    with opened(path, busy_timeout_ms=50) as store:
        fill(store, 1)
        with process("lock", path) as other:
            assert told(other) == {"locked": True}
            with pytest.raises(StoreUnavailable, match="locked") as caught:
                store.ledger.append(a_write(1))
            assert caught.value.retry_after_ms == 250
            assert len(store.ledger.scan(STREAM)) == 1  # reading goes on
        store.ledger.append(a_write(1))


@pytest.mark.parametrize(
    "data", [b"not a database at all" * 400, b"SQLite format 3\0" + b"x" * 4_080]
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "headway.db"
    path.write_bytes(data)
    fault = refusal(path)
    assert isinstance(fault, StoreUnavailable | SessionNotHealthy)
    assert path.read_bytes() == data


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    change(path, "CREATE TABLE others (a)")
    fault = refusal(path)
    assert "not a Headway store" in fault.message
    assert fault.retry_after_ms is None


def test_a_store_of_a_newer_version_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    with opened(path):
        pass
    change(path, "UPDATE meta SET value = '99' WHERE name = 'schema'")
    fault = refusal(path)
    assert "Update Headway" in fault.remedy
    assert fault.retry_after_ms is None


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_raises_nothing_but_coded_refusals(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "headway.db"
    with opened(path) as store:
        written = fill(store, 40)
    chance = random.Random(seed)  # noqa: S311  reproducible damage
    data = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 60)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
    try:
        with opened(path) as store:
            found = store.ledger.scan(STREAM)
            store.ledger.append(a_write(len(found)))
    except Fault as fault:
        refused = fault
    else:
        assert len(found) in (0, 40)
        assert found == written[: len(found)]
        return
    assert refused.remedy


def test_a_torn_log_is_cut_back_to_the_last_whole_write(tmp_path: Path) -> None:
    path, torn = tmp_path / "headway.db", tmp_path / "torn" / "headway.db"
    torn.parent.mkdir()
    with opened(path) as store:
        written = fill(store, 40)
        log = Path(f"{path}-wal").read_bytes()
        shutil.copy(path, torn)
    for cut in range(len(log), 0, -9_973):
        Path(f"{torn}-wal").write_bytes(log[:cut])
        Path(f"{torn}-shm").unlink(missing_ok=True)
        copy = tmp_path / f"cut-{cut}"
        shutil.copytree(torn.parent, copy)
        with opened(copy / "headway.db") as store:
            found = store.ledger.scan(STREAM)
            assert found == written[: len(found)]


def change(path: Path, sql: str) -> None:
    """Tamper with the file as no Headway would."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(sql)
    connection.close()

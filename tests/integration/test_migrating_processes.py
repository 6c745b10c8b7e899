"""A store of version 1, as a real older one was, brought up: by one process, by several at once."""

import sqlite3
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert

from headway.adapters.storage import migrating
from headway.adapters.storage.schema import SCHEMA_VERSION
from headway.adapters.storage.sqlite import SqliteDatabase, SqliteOptions, open_sqlite
from headway.adapters.storage.tables import META
from headway.domain.errors import Fault
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.processes import process, told
from tests.support.writes import STREAM, a_write, an_event

LEDGER = "ledger_of_an_older_store"
PROCESSES = 3
APPENDS = 5


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Make a store of version 1 with one event in it."""
    made = tmp_path / "headway.db"
    with_tables = SqliteDatabase(made, SqliteOptions())

    def make(core: Connection) -> None:
        migrating.migrate(core, "here", 0, 1)
        facts = {"ledger": LEDGER, "schema": "1"}
        core.execute(insert(META), [{"name": name, "value": text} for name, text in facts.items()])

    with_tables.define(make)
    with_tables.close()
    return made


def schema_of(path: Path) -> tuple[str, set[str]]:
    connection = sqlite3.connect(path)
    (version,) = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    connection.close()
    return version, tables


def test_an_older_store_is_brought_up_and_goes_on(path: Path) -> None:
    for version in range(2):
        store = open_sqlite(path, FakeClock(), FakeEntropy())
        store.ledger.append(a_write(version, an_event(version)))
        assert store.ledger_id == LEDGER
        assert len(store.ledger.scan(STREAM)) == version + 1
        store.close()
    version_now, tables = schema_of(path)
    assert version_now == str(SCHEMA_VERSION)
    assert tables >= {"gates", "tombstones", "buried"}


def test_processes_that_bring_a_store_up_at_once_all_go_on_with_it(path: Path) -> None:
    with ExitStack() as ends:
        started = [
            ends.enter_context(process("append", path, count=APPENDS)) for _ in range(PROCESSES)
        ]
        assert [told(each) for each in started] == [{"closed": True}] * PROCESSES
    assert schema_of(path)[0] == str(SCHEMA_VERSION)
    store = open_sqlite(path, FakeClock(), FakeEntropy())
    assert store.ledger_id == LEDGER
    assert len(store.ledger.scan(STREAM)) == PROCESSES * APPENDS
    store.close()


def test_a_half_migrated_store_is_refused_with_the_remedy_and_left_as_it_is(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE tombstones (id INTEGER PRIMARY KEY)")
    connection.close()
    before = schema_of(path)
    with pytest.raises(Fault) as caught:
        open_sqlite(path, FakeClock(), FakeEntropy())
    assert "schema version 2" in caught.value.message
    assert "backup" in caught.value.remedy
    assert caught.value.retry_after_ms is None
    assert schema_of(path) == before

"""Every onlooker: what a store holds is told as it is, and looking leaves no trace."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from headway.adapters.storage.looking import SqliteOnlooker
from headway.adapters.storage.looking_postgres import PostgresOnlooker
from headway.adapters.storage.postgres import open_postgres
from headway.adapters.storage.sqlite import SqliteDatabase, SqliteOptions, open_sqlite
from headway.adapters.storage.store import Store
from headway.domain.errors import StoreUnavailable
from headway.ports.onlooker import Onlooker
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.postgres import require_url, schema
from tests.support.walked import engine_of, finish, sessions, walk

Opening = Callable[[], Store]


@contextmanager
def on_a_file(folder: Path) -> Iterator[tuple[Onlooker, Opening]]:
    path = folder / "home" / "odd ?#% name.db"
    yield SqliteOnlooker(path), lambda: open_sqlite(path, FakeClock(), FakeEntropy())
    assert {each.name for each in folder.iterdir()} <= {"home"}


@contextmanager
def on_a_server(_: Path) -> Iterator[tuple[Onlooker, Opening]]:
    with schema(require_url()) as url:
        yield PostgresOnlooker(url), lambda: open_postgres(url, FakeClock(), FakeEntropy())


@pytest.fixture(params=[on_a_file, on_a_server])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Onlooker, Opening]]:
    with request.param(tmp_path) as found:
        yield found


def test_where_there_is_no_store_nothing_is_told_and_none_is_made(
    place: tuple[Onlooker, Opening], tmp_path: Path
) -> None:
    onlooker, _ = place
    for _ in range(2):
        facts = onlooker.look(5)
        assert facts.schema is None
        assert (facts.sessions, facts.latest, facts.newest_at) == ({}, (), None)
    assert not (tmp_path / "home").exists()


def test_a_store_is_told_as_it_is_while_others_have_it_open(
    place: tuple[Onlooker, Opening],
) -> None:
    onlooker, opening = place
    store = opening()
    engine = engine_of(store)
    finish(engine, walk(engine, "One"))
    walk(engine, "Two")
    facts = onlooker.look(1)
    assert facts.schema == onlooker.known_schema
    assert facts.sessions == {"in_progress": 1, "complete": 1}
    assert facts.keys == 1
    (latest,) = facts.latest
    assert latest == engine.sessions.summary(sessions(engine)[1])
    assert facts.newest_at == latest.updated_at
    assert facts.size_bytes
    store.close()


def test_a_store_of_before_there_were_tallies_is_told_without_them(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    open_sqlite(path, FakeClock(), FakeEntropy()).close()
    database = SqliteDatabase(path, SqliteOptions())

    def age(core: Connection) -> None:
        for name in ("provider", "tally"):
            core.execute(text(f"ALTER TABLE tasks DROP COLUMN {name}"))
        core.execute(text("UPDATE meta SET value = '5' WHERE name = 'schema'"))

    database.define(age)
    database.close()
    facts = SqliteOnlooker(path).look(1)
    assert (facts.schema, facts.runs, facts.resting) == (5, {}, {})


def test_a_file_of_something_else_is_refused_with_words(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    path.write_bytes(b"something else " * 100)
    with pytest.raises(StoreUnavailable) as caught:
        SqliteOnlooker(path).look(1)
    assert caught.value.remedy

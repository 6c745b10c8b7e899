"""Older stores brought up to date: once, whole or not at all, to just what a new store is."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from headway.adapters.storage import making, migrating, schema
from headway.adapters.storage.postgres import PostgresDatabase, open_postgres
from headway.adapters.storage.schema import SCHEMA_VERSION, TABLE_NAMES
from headway.adapters.storage.sqlite import SqliteDatabase, SqliteOptions, open_sqlite
from headway.adapters.storage.store import Store
from headway.adapters.storage.tables import METADATA
from headway.application.verify_store import verify_store
from headway.domain.errors import Fault
from headway.ports.sessions import SessionQuery
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.postgres import require_url
from tests.support.postgres import schema as own_schema
from tests.support.walked import engine_of, finish, stream_of, walk
from tests.support.writes import STREAM, a_write

Database: TypeAlias = SqliteDatabase | PostgresDatabase
AHEAD = SCHEMA_VERSION + 1

REVISION = """
from alembic import op
from sqlalchemy import Column, Integer

revision = "{ahead}"
down_revision = "{now}"

def upgrade():
    op.create_table("later", Column("n", Integer, primary_key=True))
    op.add_column("meta", Column("added", Integer))
"""


class Kept:
    """A place for one store: opened through the front, or looked into from behind."""

    def __init__(self, look: Callable[[], Database], store: Callable[[], Store]) -> None:
        self._look = look
        self._store = store

    @contextmanager
    def opened(self) -> Iterator[Store]:
        store = self._store()
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def behind(self) -> Iterator[Database]:
        database = self._look()
        try:
            yield database
        finally:
            database.close()

    def change(self, sql: str) -> None:
        with self.behind() as database:
            database.define(lambda core: core.execute(text(sql)))

    def tables(self) -> dict[str, list[str]]:
        def look(core: Connection) -> dict[str, list[str]]:
            found = inspect(core)
            names = found.get_table_names()
            return {name: [each["name"] for each in found.get_columns(name)] for name in names}

        with self.behind() as database:
            return database.define(look)


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    clock, entropy = FakeClock(), FakeEntropy()
    if request.param == "sqlite":
        path = tmp_path / "headway.db"
        options = SqliteOptions()
        yield Kept(lambda: SqliteDatabase(path, options), lambda: open_sqlite(path, clock, entropy))
        return
    with ExitStack() as ends:
        url = ends.enter_context(own_schema(require_url()))
        yield Kept(lambda: PostgresDatabase(url), lambda: open_postgres(url, clock, entropy))


@pytest.fixture
def ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a call that has this program know one version more."""
    folder = tmp_path / "revisions"
    folder.mkdir()
    for path in migrating.FOLDER.glob("[!_]*.py"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "later.py").write_text(REVISION.format(ahead=AHEAD, now=SCHEMA_VERSION), "utf-8")

    def know_more() -> None:
        monkeypatch.setattr(migrating, "FOLDER", folder)
        monkeypatch.setattr(schema, "SCHEMA_VERSION", AHEAD)

    return know_more


def _is_common(name: str | None, *_: object) -> bool:
    """Tell whether something is of every database; full text is each one's own."""
    return not str(name).startswith(("search_", "searched_by_words")) and name != "search"


def refusal(kept: Kept) -> Fault:
    with pytest.raises(Fault) as caught, kept.opened():
        pass
    return caught.value


def test_the_migrations_lead_to_just_the_tables_of_a_new_store(kept: Kept) -> None:
    with kept.behind() as database:

        def compare(core: Connection) -> list[object]:
            migrating.migrate(core, "here", 0, SCHEMA_VERSION)
            options = {"include_name": _is_common}
            found = compare_metadata(MigrationContext.configure(core, opts=options), METADATA)
            return list(found)

        assert database.define(compare) == []


def test_a_migrated_file_has_the_same_statements_as_a_new_one(tmp_path: Path) -> None:
    def told(core: Connection) -> set[str]:
        rows = core.execute(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        return {" ".join(str(row[0]).split()).replace(" ,", ",") for row in rows}

    new = SqliteDatabase(tmp_path / "new.db", SqliteOptions())
    new.define(making.make_tables)
    old = SqliteDatabase(tmp_path / "old.db", SqliteOptions())
    old.define(lambda core: migrating.migrate(core, "here", 0, SCHEMA_VERSION))
    try:
        assert old.define(told) == new.define(told)
    finally:
        new.close()
        old.close()


def test_a_schema_is_known_by_the_names_of_its_tables() -> None:
    assert set(METADATA.tables) == TABLE_NAMES


def test_an_older_store_is_brought_up_with_all_it_holds(
    kept: Kept, ahead: Callable[[], None]
) -> None:
    with kept.opened() as store:
        ledger_id = store.ledger_id
        written = store.ledger.append(a_write(0))
    ahead()
    for _ in range(2):
        with kept.opened() as store:
            assert store.ledger_id == ledger_id
            assert store.ledger.scan(STREAM) == written
    assert "later" in kept.tables()
    assert "added" in kept.tables()["meta"]


def test_the_sessions_of_an_older_store_are_found_by_every_word(kept: Kept) -> None:
    with kept.opened() as store:
        engine = engine_of(store)
        walk(engine, "Mend the lighthouse")
        finish(engine, walk(engine, "Paint the harbour"))
        stream = stream_of(engine)
    for name in ("unsearched", "searched", "git_sources", "tasks"):
        kept.change(f"DROP TABLE {name}")
    if "search" in kept.tables():
        kept.change("DROP TABLE search_terms")
        kept.change("DROP TABLE search")
    kept.change("UPDATE meta SET value = '2' WHERE name = 'schema'")
    with kept.opened() as store:
        engine = engine_of(store)
        found = [
            each.goal for each in store.sessions.find(SessionQuery(text="lighthouse judged")).rows
        ]
        assert found == ["Mend the lighthouse"]
        assert len(store.sessions.find(SessionQuery(text="long note kept")).rows) == 2
        assert verify_store(engine).problems == ()
        standing = store.records.standing(stream)
        assert standing is not None
        assert {"lighthouse", "judged", "blob"} <= standing.words


def test_a_store_that_was_brought_up_is_refused_by_the_older_program(
    kept: Kept, ahead: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with kept.opened():
        pass
    ahead()
    with kept.opened():
        pass
    monkeypatch.setattr(schema, "SCHEMA_VERSION", SCHEMA_VERSION)
    assert "Update Headway" in refusal(kept).remedy


def test_of_many_that_bring_a_store_up_at_once_one_does_and_all_open_it(
    kept: Kept, ahead: Callable[[], None]
) -> None:
    with kept.opened() as store:
        store.ledger.append(a_write(0))
    ahead()

    def look(_: int) -> int:
        with kept.opened() as store:
            return len(store.ledger.scan(STREAM))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(look, range(6))) == [1] * 6


def test_a_half_migrated_store_is_refused_and_left_as_it_is(
    kept: Kept, ahead: Callable[[], None]
) -> None:
    with kept.opened():
        pass
    kept.change("ALTER TABLE meta ADD COLUMN added INTEGER")
    before = kept.tables()
    ahead()
    fault = refusal(kept)
    assert f"schema version {AHEAD}" in fault.message
    assert "backup" in fault.remedy
    assert kept.tables() == before


def test_a_store_that_lacks_a_table_is_refused(kept: Kept) -> None:
    with kept.opened():
        pass
    kept.change("DROP TABLE sources")
    assert "lacks the table sources" in refusal(kept).message


def test_a_store_is_made_without_alembic_and_opened_without_sqlalchemy(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from headway.adapters.clock import SystemClock, SystemEntropy;"
        "from headway.adapters.storage.sqlite import open_sqlite;"
        "open_sqlite(Path(sys.argv[1]), SystemClock(), SystemEntropy()).close();"
        "assert sys.argv[2] not in sys.modules"
    )
    for spared in ("alembic", "sqlalchemy"):
        arguments = [str(tmp_path / "new.db"), spared]
        subprocess.run([sys.executable, "-c", program, *arguments], check=True)

"""Stores whose rows are changed past Headway, as a bad disk or another program leaves them."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg

from headway.adapters.storage.looking import SqliteOnlooker
from headway.adapters.storage.looking_postgres import PostgresOnlooker
from headway.adapters.storage.postgres import open_postgres
from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.ports.onlooker import Onlooker
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.postgres import require_url, schema


class Hit(Protocol):
    """Changes exactly one row; the values are those of the question marks."""

    def __call__(self, sql: str, *values: str | int | bytes) -> None: ...


@dataclass(frozen=True)
class Open:
    """An open store, what looks at it from outside, and what changes its rows."""

    store: Store
    onlooker: Onlooker
    hit: Hit


def hit_file(path: Path, sql: str, values: Sequence[str | int | bytes] = ()) -> None:
    """Change exactly one row of a store in a file."""
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(sql, values).rowcount == 1


@contextmanager
def on_a_file(folder: Path, clock: FakeClock) -> Iterator[Open]:
    path = folder / "headway.db"
    store = open_sqlite(path, clock, FakeEntropy())
    yield Open(store, SqliteOnlooker(path), lambda sql, *values: hit_file(path, sql, values))
    store.close()


@contextmanager
def on_a_server(_: Path, clock: FakeClock) -> Iterator[Open]:
    with schema(require_url()) as url:

        def hit(sql: str, *values: str | int | bytes) -> None:
            with psycopg.connect(url) as connection:
                changed = connection.execute(sql.replace("?", "%s").encode(), values)
                assert changed.rowcount == 1

        store = open_postgres(url, clock, FakeEntropy())
        yield Open(store, PostgresOnlooker(url), hit)
        store.close()

"""Every store there is, empty, one after the other; what the suites here say holds for all."""

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

from headway.adapters.storage.drivers import best_driver, driver_of
from headway.adapters.storage.memory import open_memory
from headway.adapters.storage.postgres import open_postgres
from headway.adapters.storage.sqlite import SqliteOptions, open_sqlite
from headway.adapters.storage.store import Store
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.postgres import require_url, schema

Opener: TypeAlias = Callable[[Path, FakeClock, FakeEntropy], Store]


def in_memory(_: Path, clock: FakeClock, entropy: FakeEntropy) -> Store:
    return open_memory(clock, entropy)


def in_sqlite(folder: Path, clock: FakeClock, entropy: FakeEntropy) -> Store:
    return open_sqlite(folder / "headway.db", clock, entropy, SqliteOptions(driver=best_driver()))


def in_standard_sqlite(folder: Path, clock: FakeClock, entropy: FakeEntropy) -> Store:
    return open_sqlite(
        folder / "headway.db", clock, entropy, SqliteOptions(driver=driver_of(sqlite3))
    )


def in_postgres(_: Path, clock: FakeClock, entropy: FakeEntropy) -> Store:
    with ExitStack() as made:
        url = made.enter_context(schema(require_url()))
        store = open_postgres(url, clock, entropy)
        made.callback(store.close)
        ends = made.pop_all()
    return dataclasses.replace(store, close=ends.close)


OPENERS: dict[str, Opener] = {
    "memory": in_memory,
    "sqlite": in_sqlite,
    "sqlite-standard": in_standard_sqlite,
    "postgres": in_postgres,
}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=OPENERS)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Store]:
    opened = OPENERS[str(request.param)](tmp_path, clock, FakeEntropy())
    yield opened
    opened.close()

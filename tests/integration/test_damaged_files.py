"""A store's file with flipped bits, cut short, or with any value in any row: every door is asked.

What they raise is a fault with a code, and each comes to an end. Seeded: a number that fails fails
again.
"""

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path

import pytest

from headway.adapters.storage.looking import SqliteOnlooker
from headway.adapters.storage.schema import TABLE_NAMES
from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.application.claim_run import claim_run
from headway.application.engine import Engine
from headway.application.export_session import export_session
from headway.application.list_gates import list_gates
from headway.application.list_queue import list_queue
from headway.application.list_runs import list_runs
from headway.application.list_sessions import list_sessions
from headway.application.rebuild_store import rebuild_store
from headway.application.requests import ResumeSession
from headway.application.resume_session import resume_session
from headway.application.run_stats import run_stats
from headway.application.runs import Runs
from headway.application.verify_store import verify_store
from headway.domain.errors import Code, Fault
from headway.domain.ids import SessionId
from headway.domain.runs.outcomes import Success
from tests.fakes.places import StandingPlaces
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.engines import WORKSPACE
from tests.support.recorded_runs import Alone, recorded_run, waiting_run
from tests.support.walked import begin, engine_of, go_on, rehydrate, sessions, walk

ODD = (None, -1, 0, 2**62, 1.5, "text", "\0x", "", b"", b"\xff\xfe", bytes(12))
KEYED_BY_NONCE = ("attempts", "buried")


def opened(path: Path) -> Store:
    return open_sqlite(path, FakeClock(1_700_000_100_000), FakeEntropy(99))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[SessionId]]:
    """Make a store of three sessions, gates that wait, runs, and a source; its log is empty."""
    path = tmp_path_factory.mktemp("sound") / "headway.db"
    store = opened(path)
    engine = engine_of(store)
    for number in range(3):
        walk(engine, f"Session {number}", f"Notes of session {number}. " * 50)
    recorded_run(store, engine, 1, Success(commit=None))
    for number in (2, 3):
        waiting_run(store, number)
    store.sources.attach("/flows")
    ids = sessions(engine)
    store.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO gates SELECT id, 1, randomblob(12), 5 FROM streams"
            " WHERE name GLOB 'session:*'"
        )
    return path, ids


def flip(path: Path, chance: random.Random) -> None:
    """Flip one bit or a few of the file; cut one file in five short."""
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 3, 30))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data if chance.randrange(5) else data[: chance.randrange(len(data))])


def bend(path: Path, chance: random.Random) -> None:
    """Put into one column of one row another value, where the tables allow it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.text_factory = bytes
        table = chance.choice(sorted(TABLE_NAMES))
        columns = [row[1].decode() for row in connection.execute(f"PRAGMA table_info({table})")]
        column, key = chance.choice(columns), "nonce" if table in KEYED_BY_NONCE else "rowid"
        rows = connection.execute(
            f"SELECT {key}, typeof({column}), CAST({column} AS BLOB) FROM {table}"  # noqa: S608  names from the file
        ).fetchall()
        if not rows:
            return
        which, kind, stored = chance.choice(rows)
        value, kept = chance.choice(ODD), "?"
        if stored and kind != b"integer" and chance.randrange(2):
            bent = bytearray(stored)
            bent[chance.randrange(len(bent))] ^= 1 << chance.randrange(8)
            value, kept = bytes(bent), "CAST(? AS TEXT)" if kind == b"text" else "?"
        with suppress(sqlite3.IntegrityError):
            connection.execute(
                f"UPDATE {table} SET {column} = {kept} WHERE {key} = ?",  # noqa: S608  as above
                (value, which),
            )


def exported(engine: Engine, session: SessionId) -> None:
    for _ in export_session(engine, session).lines:
        pass


def taken_up(engine: Engine, session: SessionId) -> None:
    """Take a session up and hand in its step, where it is found."""
    asked = ResumeSession(workspace_path=WORKSPACE, session_id=session)
    candidates = resume_session(engine, asked)["candidates"]
    assert isinstance(candidates, list)
    for each in candidates:
        go_on(engine, rehydrate(engine, each["resumeToken"])["continueToken"])


def questions(store: Store, ids: list[SessionId], seed: int) -> Iterator[Callable[[], object]]:
    """Yield what is asked of the damaged store, one after the other."""
    engine = engine_of(store, 1_000 + seed)  # draws other ids than those that are there
    runs = Runs(engine=engine, queue=store.queue, owners=Alone(), places=StandingPlaces())
    yield lambda: list_sessions(engine, 9)
    yield lambda: list_sessions(engine, 9, "session")
    yield lambda: list_gates(engine, 9)
    yield lambda: list_runs(runs, 9)
    yield lambda: list_queue(runs, 9)
    yield lambda: run_stats(runs)
    yield lambda: resume_session(engine, ResumeSession(workspace_path=WORKSPACE))
    yield store.sources.attached
    for session in ids:
        yield partial(exported, engine, session)
        yield partial(taken_up, engine, session)
    yield lambda: begin(engine, "After the damage")
    yield lambda: verify_store(engine)
    yield from (lambda: claim_run(runs),) * 3
    yield lambda: rebuild_store(engine)
    yield store.keyring.rotate


@pytest.mark.parametrize("damage", [flip, bend])
@pytest.mark.parametrize("seed", range(40))
def test_whatever_a_file_holds_every_door_answers_or_refuses_with_a_code(
    sound: tuple[Path, list[SessionId]],
    tmp_path: Path,
    seed: int,
    damage: Callable[[Path, random.Random], None],
) -> None:
    kept, ids = sound
    path = tmp_path / "headway.db"
    shutil.copy(kept, path)
    damage(path, random.Random(seed))  # noqa: S311  reproducible damage
    met: list[Fault] = []

    def asked(question: Callable[[], object]) -> None:
        try:
            question()
        except Fault as fault:
            met.append(fault)

    asked(lambda: SqliteOnlooker(path).look(5))
    with ExitStack() as stack:
        stores: list[Store] = []
        asked(lambda: stores.append(stack.enter_context(closing(opened(path)))))
        for store in stores:
            for question in questions(store, ids, seed):
                asked(question)
    assert all(fault.code is not Code.INTERNAL_ERROR and fault.remedy for fault in met)

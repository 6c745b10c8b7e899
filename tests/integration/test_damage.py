"""Damage by chance: one row harms its session alone, a torn log loses nothing acknowledged.

Seeded: a number that fails fails again.
"""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.application.engine import Engine
from headway.application.export_session import export_session
from headway.application.rebuild_store import rebuild_store
from headway.application.verify_store import verify_store
from headway.domain.errors import Code, Fault
from headway.domain.ids import SessionId, StreamId, digest, session_stream
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.hitting import hit_file
from tests.support.walked import begin, engine_of, finish, go_on, rehydrate, resumed, sessions, walk
from tests.support.writes import STREAM, a_write, an_event

DAMAGED = 1  # of three sessions, the one whose rows are hit
UNHEALTHY = {Code.SESSION_NOT_HEALTHY, Code.NOT_FOUND, Code.TOKEN_UNKNOWN_NODE}


def opened(path: Path) -> Store:
    return open_sqlite(path, FakeClock(1_700_000_100_000), FakeEntropy(99))


def notes_of(number: int) -> str:
    return f"Notes of session {number}. " * 4_000  # a blob of this session's own


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[SessionId]]:
    """Make a store of three sessions, each with a blob of its own."""
    path = tmp_path_factory.mktemp("three") / "headway.db"
    store = opened(path)
    engine = engine_of(store)
    for number in range(3):
        walk(engine, f"Session {number}", notes_of(number))
    ids = sessions(engine)
    store.close()
    return path, ids


def flipped(value: int | bytes, chance: random.Random) -> int | bytes | str:
    """Return a value with one bit changed, or one of another kind."""
    if chance.randrange(8) == 0:
        others: tuple[int | bytes | str, ...] = (-1, "text", b"", b"\xff" * 40, 2**62)
        return chance.choice(others)
    if isinstance(value, int):
        return value ^ 1 << chance.randrange(62)
    data = bytearray(value)
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def hit(path: Path, stream: StreamId, chance: random.Random) -> None:
    """Change one value in one event or blob row of a session, as no Headway would."""
    connection = sqlite3.connect(path)
    (key,) = connection.execute("SELECT id FROM streams WHERE name = ?", (stream,)).fetchone()
    if chance.randrange(4) == 0:
        table, where = "blobs", "digest = ?"
        wanted: tuple[object, ...] = (bytes.fromhex(digest(notes_of(DAMAGED).encode())[7:]),)
        column = "data"
    else:
        table, where = "events", "stream = ? AND version = ?"
        rows = connection.execute("SELECT version FROM events WHERE stream = ?", (key,)).fetchall()
        wanted = (key, chance.choice(rows)[0])
        column = chance.choice(["data", "hash", "recorded_at"])
    (value,) = connection.execute(
        f"SELECT {column} FROM {table} WHERE {where}",  # noqa: S608  names from above
        wanted,
    ).fetchone()
    new = flipped(value, chance)
    assert new != value
    with connection:
        found = connection.execute(
            f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {where}",  # noqa: S608  as above
            (new, *wanted),
        )
    assert found.rowcount == 1
    connection.close()


def works(engine: Engine, session: SessionId) -> None:
    """See that a session is proven, found, read and finished."""
    assert verify_store(engine, session).problems == ()
    list(export_session(engine, session).lines)
    finish(engine, rehydrate(engine, resumed(engine, session)))
    assert verify_store(engine, session).problems == ()


@pytest.mark.parametrize("seed", range(40))
def test_one_damaged_row_is_named_and_harms_no_other_session(
    three: tuple[Path, list[SessionId]], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  reproducible damage
    kept, ids = three
    path = tmp_path / "headway.db"
    shutil.copy(kept, path)
    hit(path, session_stream(ids[DAMAGED]), chance)
    store = opened(path)
    engine = engine_of(store, seed + 100)
    found = verify_store(engine)
    assert found.problems
    assert {problem.stream for problem in found.problems} == {session_stream(ids[DAMAGED])}
    for number in (0, 2):
        works(engine, ids[number])
    with pytest.raises(Fault) as caught:
        list(export_session(engine, ids[DAMAGED]).lines)
    assert caught.value.code is Code.SESSION_NOT_HEALTHY
    refused: list[Fault] = []
    try:
        finish(engine, rehydrate(engine, resumed(engine, ids[DAMAGED])))
    except Fault as fault:
        refused.append(fault)
    # None where it never needed the row: it went on from a later one.
    assert all(fault.code in UNHEALTHY and fault.remedy for fault in refused)
    walk(engine, "After the damage")
    store.close()


TEXTS = {
    "the goal": "UPDATE sessions SET goal = {bad} WHERE stream = {key}",
    "a node": "UPDATE attempts SET node = {bad} WHERE nonce ="
    " (SELECT MAX(nonce) FROM attempts WHERE stream = {key})",
    "a word": "UPDATE unsearched SET words = {bad} WHERE id ="
    " (SELECT MAX(id) FROM unsearched WHERE stream = {key})",
}
NO_TEXT = "CAST(X'ff' AS TEXT)"


def hit_text(path: Path, stream: StreamId, sql: str) -> None:
    """Put into one text a byte that no text has."""
    connection = sqlite3.connect(path)
    (key,) = connection.execute("SELECT id FROM streams WHERE name = ?", (stream,)).fetchone()
    with connection:
        assert connection.execute(sql.format(bad=NO_TEXT, key=key)).rowcount == 1
    connection.close()


@pytest.mark.parametrize("where", TEXTS)
def test_a_text_that_is_none_is_named_and_what_can_be_is_rebuilt(
    three: tuple[Path, list[SessionId]], tmp_path: Path, where: str
) -> None:
    kept, ids = three
    path = tmp_path / "headway.db"
    shutil.copy(kept, path)
    stream = session_stream(ids[DAMAGED])
    hit_text(path, stream, TEXTS[where])
    store = opened(path)
    engine = engine_of(store, 100)
    problems = verify_store(engine).problems
    assert {problem.stream for problem in problems} == {stream}
    works(engine, ids[0])
    assert rebuild_store(engine).problems == ()
    assert verify_store(engine).problems == ()
    works(engine, ids[DAMAGED])
    store.close()


def test_a_stream_whose_name_is_no_text_is_told_of(
    three: tuple[Path, list[SessionId]], tmp_path: Path
) -> None:
    kept, ids = three
    path = tmp_path / "headway.db"
    shutil.copy(kept, path)
    name = "UPDATE streams SET name = {bad} WHERE id = {key}"
    hit_text(path, session_stream(ids[DAMAGED]), name)
    store = opened(path)
    engine = engine_of(store, 100)
    told = [problem.text() for problem in verify_store(engine).problems]
    assert "the store has 1 stream whose name cannot be read." in told
    works(engine, ids[0])
    store.close()


def logged(path: Path) -> tuple[bytes, list[int], Path]:
    """Return a log of many writes, its size when each was acknowledged, and the file before it."""
    store = opened(path)
    before = path.with_name("before.db")
    shutil.copy(path, before)
    sizes = []
    for version in range(30):
        store.ledger.append(a_write(version, an_event(version, "text " * (50 * (version % 7)))))
        sizes.append(Path(f"{path}-wal").stat().st_size)
    log = Path(f"{path}-wal").read_bytes()
    store.close()
    return log, sizes, before


def found_with(log: bytes, before: Path, folder: Path) -> int:
    """Return how many events a store has that was left with this log, and add one more to it."""
    folder.mkdir()
    path = folder / "headway.db"
    shutil.copy(before, path)
    Path(f"{path}-wal").write_bytes(log)
    store = opened(path)
    events = [record.event for record in store.ledger.scan(STREAM)]
    count = len(events)
    kept = [an_event(version, "text " * (50 * (version % 7))) for version in range(count)]
    assert events == kept
    store.ledger.append(a_write(count))
    store.close()
    return count


@pytest.mark.parametrize("seed", range(3))
def test_a_log_torn_or_flipped_anywhere_keeps_every_write_before_that_place(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  reproducible damage
    log, sizes, before = logged(tmp_path / "headway.db")
    first = min(size for size in sizes)
    for number in range(20):
        at = chance.randrange(first, len(log))
        acknowledged = sum(size <= at for size in sizes)
        torn, bent = log[:at], bytearray(log)
        bent[at] ^= 1 << chance.randrange(8)
        filled = torn + chance.randbytes(len(log) - at)
        for kind, damaged in (("torn", torn), ("bent", bytes(bent)), ("filled", filled)):
            left = found_with(damaged, before, tmp_path / f"{kind}-{number}")
            assert left == acknowledged, (kind, at)


@pytest.mark.parametrize(
    "column", ["version = version - 1", "version = version + 1", "head_hash = zeroblob(32)"]
)
def test_a_stream_that_names_another_end_than_its_last_event_takes_nothing_and_says_so(
    tmp_path: Path, column: str
) -> None:
    path = tmp_path / "headway.db"
    store = opened(path)
    token = begin(engine_of(store))["continueToken"]
    store.close()
    hit_file(path, f"UPDATE streams SET {column}")  # noqa: S608  from above
    store = opened(path)
    with pytest.raises(Fault) as caught:
        go_on(engine_of(store), token)
    assert caught.value.code == Code.SESSION_NOT_HEALTHY
    store.close()

"""verify, export, import, purge, rebuild and rotate, as a person calls them on a damaged home."""

import json
import os
import random
import re
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.application.engine import Engine
from headway.application.export_session import export_session
from headway.application.purge_session import purge_session
from headway.application.rebuild_store import rebuild_store
from headway.application.requests import Reply
from headway.application.verify_store import verify_store
from headway.bootstrap import DATABASE_NAME
from headway.cli.main import cli
from headway.domain.errors import Fault
from headway.domain.ids import SessionId
from headway.domain.tokens import sign
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.walked import engine_of, finish, go_on, rehydrate, sessions, walk

SESSIONS = 3


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HEADWAY_HOME", str(folder))
    return folder


@pytest.fixture
def ids(home: Path) -> list[str]:
    """Make sessions in the home, each with notes of its own; return their ids, the first first."""
    with_store = opened(home / DATABASE_NAME)
    engine = engine_of(with_store)
    for number in range(SESSIONS):
        walk(engine, f"Session {number}", f"Notes of session {number}. " * 4_000)
    found = [str(each) for each in sessions(engine)]
    with_store.close()
    return found


def opened(path: Path) -> Store:
    return open_sqlite(path, FakeClock(1_700_000_100_000), FakeEntropy(99))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def change(home: Path, sql: str) -> None:
    """Tamper with the file as no Headway would."""
    connection = sqlite3.connect(home / DATABASE_NAME)
    with connection:
        connection.execute(sql)
    connection.close()


def test_a_sound_home_verifies_clean(ids: list[str]) -> None:
    told = run("verify")
    assert told.exit_code == 0, told.output
    assert told.output.startswith("All is as recorded: 3 sessions, ")
    assert run("verify", ids[0]).exit_code == 0
    report = json.loads(run("verify", "--json").output)
    assert report["ok"] is True
    assert (report["streams"], report["problems"]) == (3, [])


def test_verify_cannot_run_without_such_a_session_or_store(home: Path, ids: list[str]) -> None:
    assert run("verify", "sess_nobody").exit_code == 2
    assert run("verify", "sess_").exit_code == 2
    (home / DATABASE_NAME).write_bytes(b"not a database at all" * 400)
    told = run("verify")
    assert told.exit_code == 2
    assert ids
    assert "Restore" in told.output


@pytest.mark.parametrize(
    ("sql", "event", "words"),
    [
        ("UPDATE events SET recorded_at = recorded_at + 1 WHERE version = 3", 3, "hash"),
        ("UPDATE events SET recorded_at = 'noon' WHERE version = 3", 3, "damaged"),
        ("UPDATE events SET hash = zeroblob(32) WHERE version = 4", 4, "hash"),
        ("UPDATE events SET data = 7 WHERE version = 4", 4, "damaged"),
        ("DELETE FROM events WHERE version = 2", 2, "missing"),
        ("UPDATE streams SET version = version - 1", 6, "not the end"),
        ("UPDATE streams SET version = version + 1", 8, "missing"),
        ("UPDATE streams SET version = 'four'", None, "where it names its end"),
        ("UPDATE streams SET head_hash = zeroblob(32)", 7, "not the end"),
        ("DELETE FROM blobs", 1, "missing"),
        ("UPDATE blobs SET data = X'00'", 1, "does not match its digest"),
        ("DELETE FROM sessions", None, "summary that is missing"),
        ("UPDATE sessions SET goal = 'Else', depth = 7", None, "differs"),
        ("UPDATE sessions SET status = 'lost'", None, "cannot be read"),
        ("UPDATE attempts SET opened_at = 'one'", None, "attempt that cannot be read"),
        ("DELETE FROM attempts WHERE outcome_at = 5", None, "has lost its attempt"),
        ("UPDATE attempts SET blocks = 5 WHERE outcome_at = 5", None, "differs from its events"),
        ("UPDATE attempts SET node = 'x' WHERE outcome_at IS NULL", None, "stands for nothing"),
    ],
)
def test_verify_names_what_is_wrong_in_each_session(
    home: Path, ids: list[str], sql: str, event: int | None, words: str
) -> None:
    only = " stream = 2" if "streams" not in sql and "blobs" not in sql else ""
    only = only or (" id = 2" if "streams" in sql else "")
    narrowed = sql + (" AND" if "WHERE" in sql else " WHERE") + only if only else sql
    change(home, narrowed)
    told = run("verify", "--json")
    assert told.exit_code == 1, told.output
    found = json.loads(told.output)["problems"]
    assert any(words in each["what"] and each["version"] == event for each in found), found
    if only:
        assert {each["stream"] for each in found} == {f"session:{ids[1]}"}
    assert re.search(r"^\d+ problems? found in ", run("verify").output, re.MULTILINE)


def test_what_stands_without_a_stream_is_named(home: Path, ids: list[str]) -> None:
    change(home, "DELETE FROM streams WHERE id = 2")
    told = run("verify")
    assert told.exit_code == 1
    for row in ("event", "attempt", "summary"):
        assert f"{row} row" in told.output
    assert ids[0] not in told.output


def test_a_blob_that_no_event_names_is_found(home: Path, ids: list[str]) -> None:
    change(home, "INSERT INTO blobs VALUES (zeroblob(32), X'00')")
    told = run("verify")
    assert told.exit_code == 1
    assert "1 blobs that no event names" in told.output
    assert run("verify", ids[0]).exit_code == 0


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM sessions",
        "UPDATE sessions SET goal = 'Else', depth = 7, started_at = 0, updated_at = 0",
        "UPDATE sessions SET status = 'lost', nonce = 'x'",
        "DELETE FROM attempts WHERE outcome_at IS NOT NULL",
        "UPDATE attempts SET blocks = 5, outcome_at = NULL, node = 'x'",
        "UPDATE attempts SET opened_at = 'one'",
        "DELETE FROM attempts",
    ],
)
def test_rebuild_mends_every_row_beside_the_events(home: Path, ids: list[str], sql: str) -> None:
    change(home, sql)
    assert run("verify").exit_code == 1
    told = run("rebuild")
    assert told.exit_code == 0, told.output
    assert told.output.startswith("3 sessions, 3 mended")
    assert run("verify").exit_code == 0
    assert run("rebuild").output == "3 sessions, 0 mended.\n"
    assert all(each in run("sessions", "list").output for each in ids)


def test_rebuild_builds_nothing_on_a_damaged_history(home: Path, ids: list[str]) -> None:
    change(home, "UPDATE events SET hash = zeroblob(32) WHERE stream = 2 AND version = 3")
    change(home, "DELETE FROM sessions")
    told = run("rebuild")
    assert told.exit_code == 1
    assert f"event 3 of session:{ids[1]}" in told.output
    listed = run("sessions", "list").output
    assert ids[0] in listed
    assert ids[1] not in listed


def test_a_session_is_exported_imported_and_exported_again_the_same(
    home: Path, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one.jsonl"
    told = run("export", ids[0][:14], "-o", str(file))
    assert told.exit_code == 0, told.output
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("export", ids[0], "-o", str(file)).exit_code == 1
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path / "elsewhere"))
    told = run("import", str(file))
    assert told.exit_code == 0, told.output
    assert f'resume_session with sessionId "{ids[0]}"' in told.output
    assert run("verify").exit_code == 0
    twice = run("import", str(file)).output
    assert twice == f"{ids[0]} is here already, event for event the same: nothing was changed.\n"
    as_new = run("import", str(file), "--as-new")
    assert f"born as {ids[0]}" in as_new.output
    assert run("verify").exit_code == 0
    again = tmp_path / "again.jsonl"
    assert run("export", ids[0], "-o", str(again)).exit_code == 0
    assert again.read_bytes().splitlines()[1:-1] == file.read_bytes().splitlines()[1:-1]
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "again.jsonl", "elsewhere", home.name, "one.jsonl",
    ]  # fmt: skip


def test_an_export_that_is_told_of_is_on_the_disk_with_its_name(
    ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one.jsonl"
    synced: list[tuple[bool, bool]] = []  # a folder, and whether the file has its name by then
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        fsync(descriptor)
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), file.exists()))

    monkeypatch.setattr(os, "fsync", watched)
    assert run("export", ids[0], "-o", str(file)).exit_code == 0
    assert synced[-1] == (True, True)  # a purge of the session may follow at once


def test_an_export_writes_into_the_folder_at_hand_or_says_why_not(
    ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("export", ids[0]).exit_code == 0
    assert (tmp_path / f"{ids[0]}.headway.jsonl").exists()
    told = run("export", ids[1], "-o", str(tmp_path / "no" / "where"))
    assert told.exit_code == 1
    assert "name another file" in told.output


def test_a_damaged_session_is_not_exported_and_others_are(
    home: Path, ids: list[str], tmp_path: Path
) -> None:
    change(home, "UPDATE events SET hash = zeroblob(32) WHERE stream = 2 AND version = 3")
    told = run("export", ids[1], "-o", str(tmp_path / "bad"))
    assert told.exit_code == 1
    assert "event 3" in told.output
    assert not (tmp_path / "bad").exists()
    assert run("export", ids[0], "-o", str(tmp_path / "good")).exit_code == 0


@pytest.mark.parametrize("data", [b"", b"{}", b"{}\n", b"\xff\n", b'{"bundle":9}\n'])
def test_a_file_of_something_else_is_not_imported(home: Path, tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    told = run("import", str(file))
    assert told.exit_code == 1
    assert "line 1" in told.output or "version 9" in told.output
    assert run("import", str(tmp_path / "none")).exit_code == 1
    assert home.exists()


def test_a_purge_asks_for_yes_and_leaves_a_tombstone(ids: list[str]) -> None:
    asked = run("sessions", "purge", ids[1])
    assert asked.exit_code == 2
    assert "--yes" in asked.output
    assert ids[1] in run("sessions", "list").output
    purged = run("sessions", "purge", ids[1], "--yes", "--reason", "a test")
    assert purged.exit_code == 0, purged.output
    assert ids[1] not in run("sessions", "list").output
    assert run("verify").exit_code == 0
    again = run("sessions", "purge", ids[1], "--yes")
    assert again.exit_code == 1
    assert "was purged on" in again.output
    assert "(a test)" in again.output
    assert "was purged on" in run("sessions", "tree", ids[1]).output


def test_a_damaged_session_can_be_purged(home: Path, ids: list[str]) -> None:
    change(home, "UPDATE events SET data = 7 WHERE stream = 2 AND version = 3")
    change(home, "UPDATE attempts SET opened_at = 'one' WHERE stream = 2")
    assert run("verify").exit_code == 1
    assert run("sessions", "purge", ids[1], "--yes").exit_code == 0
    told = run("verify")
    assert told.exit_code == 0 or "blobs that no event names" in told.output


def test_keys_are_rotated(home: Path) -> None:
    first = run("keys", "rotate")
    assert first.exit_code == 0
    assert "stay good" not in first.output
    assert "stay good" in run("keys", "rotate").output
    assert home.exists()


def exported(engine: Engine, name: str) -> list[bytes]:
    return list(export_session(engine, name).lines)


def everything(engine: Engine) -> list[Fault]:
    """Do everything there is to each session; return the refusals. Nothing else may be raised."""
    refused: list[Fault] = []

    def tried(work: Callable[[], object]) -> None:
        try:
            work()
        except Fault as fault:
            refused.append(fault)

    streams: list[str] = []
    tried(lambda: streams.extend(engine.records.streams()))
    tried(lambda: verify_store(engine))
    for stream in streams:
        name = stream.removeprefix("session:")
        tried(partial(verify_store, engine, name))
        tried(partial(exported, engine, name))
    tried(lambda: rebuild_store(engine))
    tried(lambda: walk(engine, "After the damage"))
    if streams:
        tried(lambda: purge_session(engine, streams[0].removeprefix("session:")))
    return refused


@pytest.mark.parametrize("seed", range(25))
def test_flipped_bits_and_torn_files_raise_nothing_but_coded_refusals(
    home: Path, ids: list[str], seed: int
) -> None:
    path = home / DATABASE_NAME
    chance = random.Random(seed)  # noqa: S311  reproducible damage
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 3, 30, 300])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data[: chance.choice([len(data), len(data), chance.randrange(len(data))])])
    told = run("verify")
    assert told.exit_code in (0, 1, 2), told.output
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
    with suppress(Fault):
        store = opened(path)
        try:
            assert all(fault.remedy for fault in everything(engine_of(store, seed + 100)))
        finally:
            store.close()
    assert ids


def test_a_flipped_bit_in_one_session_leaves_the_others_working(home: Path, ids: list[str]) -> None:
    path = home / DATABASE_NAME
    data = bytearray(path.read_bytes())
    at = data.find(b'"Tried for Session 1')
    data[at] ^= 1
    path.write_bytes(data)
    told = run("verify")
    assert told.exit_code == 1
    assert told.output.count("event ") == 1
    assert f"session:{ids[1]} does not match its hash" in told.output
    store = opened(path)
    engine = engine_of(store)
    for name in (ids[0], ids[2]):
        summary = engine.sessions.summary(SessionId(name))
        assert summary is not None
        finish(engine, go_on_from(engine, summary.nonce))
    store.close()
    assert run("verify").output.count("event ") == 1


def test_a_torn_log_verifies_clean_at_every_cut(home: Path, tmp_path: Path) -> None:
    path, torn = home / DATABASE_NAME, tmp_path / "torn"
    torn.mkdir()
    store = opened(path)
    walk(engine_of(store, 5))
    shutil.copy(path, torn / DATABASE_NAME)
    log = Path(f"{path}-wal").read_bytes()
    store.close()
    for cut in range(len(log), 0, -(len(log) // 12)):
        copy = tmp_path / f"cut-{cut}"
        shutil.copytree(torn, copy)
        Path(f"{copy / DATABASE_NAME}-wal").write_bytes(log[:cut])
        with suppress(Fault):
            again = opened(copy / DATABASE_NAME)
            assert verify_store(engine_of(again)).problems == ()
            again.close()


def go_on_from(engine: Engine, nonce: bytes) -> Reply:
    token = sign("ct", nonce, engine.keyring.keys().current)
    fresh = rehydrate(engine, token)
    return go_on(engine, fresh["continueToken"])

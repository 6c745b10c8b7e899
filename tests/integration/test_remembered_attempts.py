"""A session led by two processes: what one of them remembers of it, the other may have outdated."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from headway.adapters.storage.postgres import open_postgres
from headway.adapters.storage.sqlite import open_sqlite
from headway.application.change_preferences import change_preferences
from headway.application.checkpoint_workflow import checkpoint_workflow
from headway.application.engine import Engine
from headway.application.purge_session import purge_session
from headway.application.requests import ChangePreferences, CheckpointWorkflow, JsonObject
from headway.application.verify_store import verify_store
from headway.domain.errors import Code, InvalidInput, TokenFault
from headway.ports.sessions import SessionQuery
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.postgres import require_url, schema
from tests.support.walked import begin, engine_of, finish, go_on, sessions

REFUSED: JsonObject = {"is_autonomous": True}  # a key that no agent may set


@pytest.fixture(params=["sqlite", "postgres"])
def engines(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    with ExitStack() as opened:
        stores = []
        url = opened.enter_context(schema(require_url())) if request.param == "postgres" else None
        for seed in (1, 2):
            clock, entropy = FakeClock(), FakeEntropy(seed)
            store = (
                open_postgres(url, clock, entropy)
                if url
                else open_sqlite(tmp_path / "headway.db", clock, entropy)
            )
            opened.callback(store.close)
            stores.append(store)
        one, other = stores
        yield engine_of(one, 3), engine_of(other, 4)


def test_an_attempt_left_open_is_remembered_once(engines: tuple[Engine, Engine]) -> None:
    here, there = engines
    begin(here)
    nonce = here.sessions.find(SessionQuery()).rows[0].nonce
    first, again = (here.ledger.head(nonce, lately=True) for _ in range(2))
    assert first is not None
    assert again is not None
    assert (first.remembered, again.remembered) == (True, False)
    assert (first.row, first.version) == (again.row, again.version)
    elsewhere = there.ledger.head(nonce, lately=True)
    assert elsewhere == again


def test_what_the_other_process_did_with_a_token_is_told_here(
    engines: tuple[Engine, Engine],
) -> None:
    here, there = engines
    token = begin(here)["continueToken"]
    answer = go_on(there, token, "Done over there.")
    assert go_on(here, token, "Done here, too.") == answer
    assert finish(here, answer)["isComplete"]
    assert verify_store(there).problems == ()


def test_a_refusal_is_not_told_of_an_attempt_that_the_other_process_ended(
    engines: tuple[Engine, Engine],
) -> None:
    here, there = engines
    token = begin(here)["continueToken"]
    answer = go_on(there, token)
    assert go_on(here, token, context=REFUSED) == answer


def test_a_refusal_of_an_open_attempt_changes_nothing(engines: tuple[Engine, Engine]) -> None:
    here, _ = engines
    token = begin(here)["continueToken"]
    for _ in range(2):
        with pytest.raises(InvalidInput):
            go_on(here, token, context=REFUSED)
    assert go_on(here, token)["kind"] == "ok"


def test_preferences_changed_by_the_other_process_count_here(
    engines: tuple[Engine, Engine],
) -> None:
    here, there = engines
    token = begin(here)["continueToken"]
    change_preferences(
        there, ChangePreferences(session=sessions(there)[0], autonomy="full_auto_never_stop")
    )
    preferences = {"autonomy": "full_auto_never_stop", "riskPolicy": "conservative"}
    assert go_on(here, token)["preferences"] == preferences


def test_a_checkpoint_saved_by_the_other_process_is_kept(engines: tuple[Engine, Engine]) -> None:
    here, there = engines
    reply = begin(here)
    saving = CheckpointWorkflow(checkpoint_token=str(reply["checkpointToken"]))
    saved = checkpoint_workflow(there, saving)
    go_on(here, reply["continueToken"])
    assert checkpoint_workflow(here, saving) == saved
    assert verify_store(here).problems == ()


def test_a_session_purged_by_the_other_process_is_told_as_such(
    engines: tuple[Engine, Engine],
) -> None:
    here, there = engines
    token = begin(here)["continueToken"]
    purge_session(there, sessions(there)[0])
    begin(there, "Another one, which may get the place of the first.")
    with pytest.raises(TokenFault, match="purged") as caught:
        go_on(here, token)
    assert caught.value.code == Code.TOKEN_UNKNOWN_NODE
    assert verify_store(here).problems == ()


def test_what_is_remembered_of_a_store_that_was_restored_meanwhile_is_not_built_upon(
    tmp_path: Path,
) -> None:
    path, backup = tmp_path / "headway.db", tmp_path / "backup.db"
    with ExitStack() as opened:
        here, there = (
            engine_of(opened.enter_context(closing(open_sqlite(path, FakeClock(), FakeEntropy(n)))))
            for n in (1, 2)
        )
        token = begin(here)["continueToken"]
        copy(path, backup)
        lost = go_on(here, token, "Done, and lost with the restoration.")
        copy(backup, path)
        kept = go_on(there, token, "Done after the restoration.")
        with suppress(TokenFault):  # a token of the lost history
            go_on(here, lost["continueToken"], "Goes on with what was lost.")
        assert verify_store(there).problems == ()
        assert go_on(there, token) == kept


def copy(source: Path, target: Path) -> None:
    """Copy a store that is open, in a process of its own: two SQLites in one undo their locks."""
    script = (
        "import sqlite3, sys\n"
        "read, written = (sqlite3.connect(path) for path in sys.argv[1:])\n"
        "read.backup(written)\n"
    )
    subprocess.run([sys.executable, "-c", script, source, target], check=True)

"""Damage in a run's blob, event or row: named by verify, and no other run waits for it."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.application.claim_run import claim_run
from headway.application.engine import Engine
from headway.application.resume_parked import resume_parked
from headway.application.runs import Runs
from headway.application.verify_store import verify_store
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import RunId, run_stream
from headway.domain.runs.outcomes import Parked, Success
from tests.fakes.places import StandingPlaces
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.recorded_runs import Alone, recorded_run, waiting_run
from tests.support.walked import engine_of

FLIP = {
    "data": "UPDATE events SET data = CAST(X'ff' || SUBSTR(data, 2) AS BLOB)"
    " WHERE stream = (SELECT id FROM streams WHERE name = ?) AND version = ?",
    "hash": "UPDATE events SET hash = CAST(X'ff' || SUBSTR(hash, 2) AS BLOB)"
    " WHERE stream = (SELECT id FROM streams WHERE name = ?) AND version = ?",
}
CUT_END = "UPDATE streams SET head_hash = X'00' WHERE name = ?"
CUT_FIRST = "UPDATE events SET data = X'c0' WHERE stream = (SELECT id FROM streams WHERE name = ?)"


@dataclass
class Kept:
    path: Path
    store: Store
    engine: Engine

    def problems(self) -> list[str]:
        return [problem.text() for problem in verify_store(self.engine).problems]

    def runs(self) -> Runs:
        return Runs(
            engine=self.engine, queue=self.store.queue, owners=Alone(), places=StandingPlaces()
        )

    def hit(self, sql: str, *values: str | int | bytes) -> None:
        """Change one row, as no Headway would."""
        connection = sqlite3.connect(self.path)
        with connection:
            assert connection.execute(sql, values).rowcount == 1
        connection.close()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    path = tmp_path / "headway.db"
    store = open_sqlite(path, FakeClock(), FakeEntropy())
    yield Kept(path, store, engine_of(store))
    store.close()


@pytest.mark.parametrize("column", ["data", "hash"])
@pytest.mark.parametrize("version", range(1, 10))
def test_a_flipped_byte_in_any_event_of_a_run_is_named(
    kept: Kept, version: int, column: str
) -> None:
    run, _, _ = recorded_run(kept.store, kept.engine, 1, Success(commit=None))
    recorded_run(kept.store, kept.engine, 2, Success(commit=None))
    kept.hit(FLIP[column], run_stream(run), version)
    assert kept.problems() == [f"event {version} of run:{run} does not match its hash."]


@pytest.mark.parametrize("said", ["The system.", "Step of {run}.", "Result of {run}."])
def test_a_flipped_byte_in_a_blob_of_a_run_is_named(kept: Kept, said: str) -> None:
    run, _, _ = recorded_run(kept.store, kept.engine, 1, Success(commit=None))
    text = said.format(run=run).encode()
    kept.hit("UPDATE blobs SET data = ? WHERE data = ?", text.swapcase(), text)
    (problem,) = kept.problems()
    assert problem.startswith("event ")
    assert f"of run:{run} names the blob sha256:" in problem
    assert problem.endswith("it does not match its digest.")


def test_a_lost_reply_of_a_run_is_named(kept: Kept) -> None:
    run, _, _ = recorded_run(kept.store, kept.engine, 1, Success(commit=None))
    kept.hit("DELETE FROM blobs WHERE CAST(data AS TEXT) LIKE ?", f"%I am {run}%")
    (problem,) = kept.problems()
    assert problem.startswith(f"event 6 of run:{run} names the blob")
    assert problem.endswith("it is missing.")


def test_rows_and_runs_that_lost_each_other_are_named(kept: Kept) -> None:
    run = waiting_run(kept.store, 1)
    kept.hit("DELETE FROM tasks")
    assert kept.problems() == [f"run:{run} has no row in the queue."]


@pytest.mark.parametrize("cut", [CUT_END, CUT_FIRST])
def test_a_damaged_run_is_set_aside_and_those_behind_it_have_their_turn(
    kept: Kept, cut: str
) -> None:
    damaged, next_one = waiting_run(kept.store, 1), waiting_run(kept.store, 2)
    kept.hit(cut, run_stream(damaged))
    held = claim_run(kept.runs(), per_workspace_max=1)
    assert held is not None
    assert held.run == next_one
    (row,) = kept.store.queue.find(damaged, 1).rows
    assert (row.state, row.outcome) == ("ended", "error")
    assert claim_run(kept.runs()) is None
    assert any(damaged in problem for problem in kept.problems())


def test_who_claims_a_damaged_run_by_its_name_is_told(kept: Kept) -> None:
    run = waiting_run(kept.store)
    kept.hit(CUT_END, run_stream(run))
    with pytest.raises(SessionNotHealthy):
        claim_run(kept.runs(), run)


def test_a_claimed_row_whose_owner_is_damaged_keeps_nobody_from_claiming(kept: Kept) -> None:
    held, next_one = waiting_run(kept.store, 1), waiting_run(kept.store, 2)
    assert claim_run(kept.runs(), held) is not None
    kept.hit("UPDATE tasks SET owner = '{' WHERE run = ?", held)
    claimed = claim_run(kept.runs())
    assert claimed is not None
    assert claimed.run == next_one


# One byte of a text flipped, a text cut short, a number that is none: as a bad disk leaves them.
ROW_DAMAGE = {
    "no UTF-8": "UPDATE tasks SET goal = CAST(X'ff' || 'oal' AS TEXT) WHERE run = ?",
    "no text": "UPDATE tasks SET goal = X'ff' WHERE run = ?",
    "no JSON": "UPDATE tasks SET tally = '{' WHERE run = ?",
    "no number": "UPDATE tasks SET priority = 'much' WHERE run = ?",
}


@pytest.mark.parametrize("damage", ROW_DAMAGE)
def test_a_run_whose_row_is_damaged_is_set_aside_and_those_behind_it_have_their_turn(
    kept: Kept, damage: str
) -> None:
    damaged, next_one = waiting_run(kept.store, 1), waiting_run(kept.store, 2)
    kept.hit(ROW_DAMAGE[damage], damaged)
    held = claim_run(kept.runs())
    assert held is not None
    assert held.run == next_one
    assert claim_run(kept.runs()) is None


@pytest.mark.parametrize("damage", ["CAST(X'61ff' AS TEXT)", "X'61ff'", "X''", "'text'"])
def test_a_row_whose_run_cannot_be_named_waits_for_nobody_and_is_listed_as_damaged(
    kept: Kept, damage: str
) -> None:
    damaged, next_one = waiting_run(kept.store, 1), waiting_run(kept.store, 2)
    kept.hit(f"UPDATE tasks SET run = {damage} WHERE run = ?", damaged)  # noqa: S608  from above
    held = claim_run(kept.runs())
    assert held is not None
    assert held.run == next_one
    assert claim_run(kept.runs()) is None
    ended = kept.store.queue.tasks(("ended",), 9)
    assert [*ended.unreadable, *(task.run for task in ended.rows)] != []
    assert f"run:{damaged} has no row in the queue." in kept.problems()


def test_a_run_whose_row_is_damaged_is_told_of_when_it_is_set_aside(kept: Kept) -> None:
    damaged = waiting_run(kept.store, 1)
    kept.hit(ROW_DAMAGE["no text"], damaged)
    told: list[tuple[RunId, str]] = []
    assert claim_run(kept.runs(), tell=lambda run, fault: told.append((run, fault.message))) is None
    ((run, message),) = told
    assert run == damaged
    assert "is damaged" in message


def test_a_gate_that_is_decided_tells_when_the_run_it_parked_is_damaged(kept: Kept) -> None:
    run, session, _ = recorded_run(kept.store, kept.engine, 1, Parked(gate="gate_x"))
    assert kept.store.queue.task(run) is not None
    kept.hit("UPDATE tasks SET goal = X'ff' WHERE run = ?", run)
    with pytest.raises(SessionNotHealthy) as caught:
        resume_parked(kept.runs(), session, "me")
    assert run in caught.value.message

"""Custody of runs on every store: proven with their blobs and rows, purged with their session."""

import pytest
from msgspec.structs import replace

from headway.adapters.storage.store import Store
from headway.application.engine import Engine
from headway.application.purge_session import purge_session
from headway.application.rebuild_store import rebuild_store
from headway.application.verify_store import verify_store
from headway.domain.errors import NotFound, PreconditionFailed
from headway.domain.ids import run_stream, session_stream
from headway.domain.runs.events import ModelAsked, RunEnded
from headway.domain.runs.limits import Spent
from headway.domain.runs.outcomes import Parked, Paused, Success
from headway.ports.custody import Tombstone
from headway.ports.queue import LeaseLost, Move, RunWrite, Tally
from tests.support.recorded_runs import recorded_run, waiting_run
from tests.support.walked import engine_of, finish


@pytest.fixture
def engine(store: Store) -> Engine:
    return engine_of(store)


def problems(engine: Engine) -> list[str]:
    return [problem.text() for problem in verify_store(engine).problems]


def test_runs_in_every_state_verify_clean_with_their_blobs(store: Store, engine: Engine) -> None:
    waiting_run(store, 9)
    recorded_run(store, engine, 1)
    recorded_run(store, engine, 2, Success(commit=None))
    recorded_run(store, engine, 3, Paused(limit="turns"))
    report = verify_store(engine)
    assert report.problems == ()
    assert report.streams == 7  # three sessions with their runs, and the run that waits
    assert report.blobs == len(engine.records.blobs()) == 1 + 1 + 3 * 3  # workflow, system, own
    assert rebuild_store(engine).problems == ()
    assert problems(engine) == []


@pytest.mark.parametrize(
    ("moved", "field"),
    [(Move(state="ended", outcome="success"), "state, outcome"), (Move(state="resting"), "state")],
)
def test_a_row_that_says_otherwise_than_its_run_is_named(
    store: Store, engine: Engine, moved: Move, field: str
) -> None:
    run, _, _ = recorded_run(store, engine)
    moving = RunWrite(
        run=run, expected_version=8, events=(ModelAsked(turn=2),), fence=1, move=moved
    )
    store.queue.append(moving)
    assert problems(engine) == [
        f"run:{run} has a row in the queue that differs from its events in {field}."
    ]


@pytest.mark.parametrize(
    ("tally", "named"),
    [
        (Tally(spent=Spent(turns=1, unpriced=1), outcome="success"), []),
        (Tally(spent=Spent(turns=1, unpriced=1)), []),  # of an older version
        (Tally(spent=Spent(turns=2, unpriced=1)), ["tally"]),
        (Tally(spent=Spent(turns=1, unpriced=1), outcome="success", reason="turns"), ["tally"]),
    ],
)
def test_a_tally_that_is_not_what_the_run_took_is_named(
    store: Store, engine: Engine, tally: Tally, named: list[str]
) -> None:
    run, _, _ = recorded_run(store, engine)
    moving = RunWrite(
        run=run,
        expected_version=8,
        events=(RunEnded(outcome=Success(commit=None)),),
        fence=1,
        move=Move(state="ended", outcome="success", tally=tally),
    )
    store.queue.append(moving)
    told = f"run:{run} has a row in the queue that differs from its events in "
    assert problems(engine) == [f"{told}{each}." for each in named]


def test_a_session_that_went_without_its_run_is_missed(store: Store, engine: Engine) -> None:
    run, session, _ = recorded_run(store, engine)
    engine.custody.purge(session_stream(session), Tombstone(session=session, purged_at=1))
    assert problems(engine) == [f"run:{run} drives {session}, which is not there."]


def test_a_purge_takes_the_run_that_drove_the_session_with_it(store: Store, engine: Engine) -> None:
    other, _, opened = recorded_run(store, engine, 1, Success(commit=None))
    run, session, _ = recorded_run(store, engine, 2, Success(commit=None))
    blobs = len(engine.records.blobs())
    purged = purge_session(engine, session, "asked for")
    assert (purged.run, purged.removed.runs) == (run, 1)
    assert len(engine.records.blobs()) == blobs - 3  # what it was told, said and found
    assert store.queue.find(run, 1).rows == ()
    assert store.queue.scan(run) == ()
    assert run_stream(run) not in engine.records.streams()
    assert [task.run for task in store.queue.find("task_", 9).rows] == [other]
    assert problems(engine) == []
    finish(engine, opened)
    assert problems(engine) == []


@pytest.mark.parametrize("rests", [None, Paused(limit="turns"), Parked(gate="g")])
def test_a_session_whose_run_has_not_ended_is_not_purged(
    store: Store, engine: Engine, rests: Paused | Parked | None
) -> None:
    run, session, _ = recorded_run(store, engine, 0, rests)
    before = engine.records.blobs()
    with pytest.raises(PreconditionFailed, match="has not ended") as caught:
        purge_session(engine, session)
    assert f"headway runs abort {run}" in caught.value.remedy
    assert engine.records.blobs() == before
    assert len(store.queue.scan(run)) == 8 + (rests is not None)
    assert problems(engine) == []


def test_a_worker_writes_nothing_into_a_run_that_was_purged(store: Store, engine: Engine) -> None:
    run, session, _ = recorded_run(store, engine, 0, Success(commit=None))
    purge_session(engine, session)
    late = RunWrite(run=run, expected_version=9, events=(ModelAsked(turn=2),), fence=1)
    with pytest.raises(LeaseLost):
        store.queue.append(late)
    with pytest.raises(NotFound, match="was purged on"):
        purge_session(engine, session)


def test_a_purge_keeps_what_another_run_speaks_of(store: Store, engine: Engine) -> None:
    _, session, _ = recorded_run(store, engine, 1, Success(commit=None))
    other = recorded_run(store, engine, 2, Success(commit=None))
    purge_session(engine, session)
    assert problems(engine) == []  # the system's text and the workflow are shared
    purge_session(engine, other[1])
    assert engine.records.blobs() == ()


def test_a_row_set_aside_has_ended_and_is_not_claimed_again(store: Store, engine: Engine) -> None:
    run = waiting_run(store)
    store.queue.set_aside(run)
    (row,) = store.queue.find(run, 1).rows
    assert (row.state, row.outcome) == ("ended", "error")
    assert replace(row, dedupe=None) == row
    assert problems(engine) == [
        f"run:{run} has a row in the queue that differs from its events in state, outcome."
    ]

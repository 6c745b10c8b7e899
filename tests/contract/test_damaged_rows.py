"""A row that cannot be read is left out of every list and named there; the others are listed.

What is put into the rows here is what every database takes. What SQLite alone takes, which knows no
types, is in tests/integration/test_damaged_lists.py.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from headway.application.runs import ALL
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import SessionId, session_stream
from headway.domain.words import parted
from headway.ports.queue import Claiming, Task
from headway.ports.sessions import GateRow, SessionQuery
from tests.fakes.time_and_chance import FakeClock
from tests.support.hitting import Open, on_a_file, on_a_server
from tests.support.recorded_runs import ME, TTL_MS, run_id, waiting_run
from tests.support.writes import a_row, a_session, a_summary, a_write

SUMMARY = "UPDATE sessions SET {} WHERE stream = (SELECT id FROM streams WHERE name = ?)"
GATE = "UPDATE gates SET {} WHERE stream = (SELECT id FROM streams WHERE name = ?)"
TASK = "UPDATE tasks SET {} WHERE run = ?"

SUMMARIES = {
    "a status there is not": "status = 'in_pr0gress'",
    "a nonce cut short": "nonce = ?",
    "a time beyond all dates": f"updated_at = {2**60}",
    "a time before all": "started_at = -1",
}
TASKS = {
    "a tally that is none": "tally = '{'",
    "an owner that is none": "owner = '{'",
    "an outcome there is not": "outcome = 'succe55'",
    "a time beyond all dates": f"submitted_at = {2**60}",
}


@pytest.fixture(params=[on_a_file, on_a_server])
def open_(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    with request.param(tmp_path, FakeClock()) as made:
        yield made


def three_sessions(made: Open) -> tuple[SessionId, SessionId, SessionId]:
    """Keep three sessions, each with a gate that waits."""
    for number in range(3):
        session = a_session(number)
        gate = GateRow(session=session, version=1, nonce=a_row(1, session=session).nonce)
        summary = replace(a_summary(session), nonce=gate.nonce)
        write = replace(a_write(session=session), summary=summary, gates=(gate,))
        made.store.ledger.append(replace(write, words=parted(summary.goal)))
    return a_session(0), a_session(1), a_session(2)


def hit_summary(made: Open, session: SessionId, change: str) -> None:
    values = [b"short"] * change.count("?")
    made.hit(SUMMARY.format(change), *values, session_stream(session))


@pytest.mark.parametrize("change", SUMMARIES.values(), ids=SUMMARIES)
def test_a_damaged_summary_is_named_and_hides_no_other(open_: Open, change: str) -> None:
    first, damaged, last = three_sessions(open_)
    hit_summary(open_, damaged, change)
    for query in (SessionQuery(), SessionQuery(text="login"), SessionQuery(limit=2)):
        found = open_.store.sessions.find(query)
        assert [each.session for each in found.rows] == [last, first]
        assert found.unreadable == (damaged,)
    assert open_.store.sessions.find(SessionQuery(session=damaged)).unreadable == (damaged,)
    assert open_.store.sessions.find(SessionQuery(session=first)).unreadable == ()


@pytest.mark.parametrize("change", SUMMARIES.values(), ids=SUMMARIES)
def test_who_asks_for_a_damaged_summary_is_told_what_is_wrong(open_: Open, change: str) -> None:
    _, damaged, _ = three_sessions(open_)
    hit_summary(open_, damaged, change)
    with pytest.raises(SessionNotHealthy) as caught:
        open_.store.sessions.summary(damaged)
    assert damaged in caught.value.message
    assert "headway rebuild" in caught.value.remedy


def test_where_every_summary_is_damaged_each_is_named(open_: Open) -> None:
    for session in three_sessions(open_):
        hit_summary(open_, session, "status = ''")
    found = open_.store.sessions.find(SessionQuery(limit=1))
    assert found.rows == ()
    assert sorted(found.unreadable) == [a_session(number) for number in range(3)]


def test_a_damaged_gate_is_named_by_its_session_and_hides_no_other(open_: Open) -> None:
    first, damaged, last = three_sessions(open_)
    open_.hit(GATE.format("nonce = ?"), b"short", session_stream(damaged))
    found = open_.store.sessions.gates(2)
    assert [each.session for each in found.rows] == [first, last]
    assert found.unreadable == (damaged,)


@pytest.mark.parametrize("change", TASKS.values(), ids=TASKS)
def test_a_damaged_row_of_the_queue_is_named_and_hides_no_other(open_: Open, change: str) -> None:
    first, damaged, last = (waiting_run(open_.store, number) for number in range(3))
    open_.hit(TASK.format(change), damaged)
    queue = open_.store.queue
    for found in (queue.tasks(("queued",), 2), queue.tasks(ALL, 2)):
        assert [each.run for each in found.rows] == [last, first]
        assert found.unreadable == (damaged,)
    assert queue.find(damaged, 1).unreadable == (damaged,)
    assert queue.task(first) is not None
    with pytest.raises(SessionNotHealthy) as caught:
        queue.task(damaged)
    assert damaged in caught.value.message


def test_a_row_in_no_state_there_is_is_named_to_who_asks_for_all(open_: Open) -> None:
    run, other = waiting_run(open_.store, 1), waiting_run(open_.store, 2)
    open_.hit(TASK.format("state = 'queve'"), run)
    found = open_.store.queue.tasks(ALL, 9)
    assert ([each.run for each in found.rows], found.unreadable) == ([other], (run,))


def test_sound_rows_are_moved_around_a_damaged_one(open_: Open) -> None:
    first, damaged, last = (waiting_run(open_.store, number) for number in range(3))
    open_.hit(TASK.format("tally = '{'"), damaged)

    def swapped(queued: tuple[Task, ...]) -> tuple[Task, ...]:
        one, other = queued
        return replace(one, position=other.position), replace(other, position=one.position)

    open_.store.queue.rearrange(swapped)
    found = sorted(open_.store.queue.tasks(("queued",), 9).rows, key=lambda each: each.position)
    assert [each.run for each in found] == [last, first]


def test_a_row_without_a_stream_is_claimed_by_nobody(open_: Open) -> None:
    run = waiting_run(open_.store, 1)
    open_.hit("UPDATE tasks SET run = ? WHERE run = ?", run_id(2), run)
    with pytest.raises(SessionNotHealthy) as caught:
        open_.store.queue.claim(Claiming(owner=ME, ttl_ms=TTL_MS))
    assert caught.value.details["stream"] == f"run:{run_id(2)}"
    assert open_.store.queue.scan(run_id(2)) == ()


def test_an_onlooker_tells_what_is_damaged_and_shows_the_rest(open_: Open) -> None:
    first, damaged, last = three_sessions(open_)
    run, other = waiting_run(open_.store, 1), waiting_run(open_.store, 2)
    hit_summary(open_, damaged, "status = 'n0ne'")
    open_.hit(TASK.format("state = 'queve'"), run)
    facts = open_.onlooker.look(5)
    assert [each.session for each in facts.latest] == [last, first]
    assert [each.run for each in facts.latest_runs] == [other]
    assert facts.unreadable == (damaged, run)

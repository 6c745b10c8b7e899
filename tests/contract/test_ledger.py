import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.adapters.storage.store import Store
from headway.domain.chain import GENESIS, event_hash
from headway.domain.errors import InvalidInput, SessionNotHealthy
from headway.domain.event_codec import encode
from headway.domain.events import Event
from headway.domain.ids import NodeId, SessionId, StreamId, digest, session_stream
from headway.ports.ledger import Conflict, Recorded, Standing
from tests.fakes.time_and_chance import FakeClock
from tests.support.strategies import events
from tests.support.writes import (
    NODE,
    SESSION,
    STREAM,
    a_blob,
    a_row,
    a_session,
    a_summary,
    a_write,
    an_event,
)


def fill(store: Store, count: int) -> tuple[Recorded, ...]:
    for version in range(count):
        store.ledger.append(a_write(version, an_event(version)))
    return store.ledger.scan(STREAM)


def test_an_append_returns_its_events_as_recorded(store: Store, clock: FakeClock) -> None:
    now = clock.next_ms
    first, second = store.ledger.append(a_write(0, an_event(1), an_event(2)))
    assert (first.version, second.version) == (1, 2)
    assert (first.recorded_at, second.recorded_at) == (now, now)
    assert (first.event, second.event) == (an_event(1), an_event(2))
    assert first.stream == STREAM


def test_events_are_chained_by_their_hashes(store: Store) -> None:
    store.ledger.append(a_write(0, an_event(1), an_event(2)))
    store.ledger.append(a_write(2, an_event(3)))
    before = GENESIS
    for record in store.ledger.scan(STREAM):
        assert record.prev_hash == before
        before = event_hash(before, record.version, record.recorded_at, encode(record.event))
        assert record.hash == before


def test_read_and_scan_return_what_append_did(store: Store) -> None:
    written = store.ledger.append(a_write(0, *map(an_event, range(200))))
    assert store.ledger.scan(STREAM) == written
    assert store.ledger.read(STREAM, range(1, 201)) == written
    assert store.ledger.read(STREAM, range(1, 201)) == written
    assert store.ledger.read(STREAM, (3, 1, 3)) == (written[0], written[2])
    assert store.ledger.read(STREAM, ()) == ()


@pytest.mark.parametrize("after", [0, 1, 4, 5, 6, 100])
def test_a_scan_begins_after_a_version(store: Store, after: int) -> None:
    written = fill(store, 5)
    assert store.ledger.scan(STREAM, after) == written[after:]


def test_an_unknown_stream_is_empty(store: Store) -> None:
    assert store.ledger.scan(StreamId("session:nobody")) == ()


@pytest.mark.parametrize("version", [0, 4, 2**40])
def test_a_missing_event_is_named(store: Store, version: int) -> None:
    fill(store, 3)
    with pytest.raises(SessionNotHealthy) as caught:
        store.ledger.read(STREAM, (1, version))
    assert caught.value.details == {"stream": STREAM, "version": version}


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_write_that_expects_another_version_is_a_conflict(store: Store, expected: int) -> None:
    before = fill(store, 2)
    write = replace(
        a_write(expected, an_event(9)),
        blobs=(a_blob(b"lost"),),
        attempts=(a_row(9),),
        summary=a_summary(),
    )
    with pytest.raises(Conflict):
        store.ledger.append(write)
    assert store.ledger.scan(STREAM) == before
    assert store.ledger.head(a_row(9).nonce) is None
    assert store.sessions.summary(SESSION) is None
    with pytest.raises(SessionNotHealthy):
        store.ledger.blob(digest(b"lost"))


def test_a_new_stream_begins_at_version_nought(store: Store) -> None:
    with pytest.raises(Conflict):
        store.ledger.append(a_write(1))
    assert store.ledger.scan(STREAM) == ()
    store.ledger.append(a_write(0))


def test_a_write_without_events_is_a_bug(store: Store) -> None:
    with pytest.raises(AssertionError):
        store.ledger.append(replace(a_write(), events=()))


def test_an_event_that_could_not_be_read_back_is_refused_and_nothing_is_kept(store: Store) -> None:
    with pytest.raises(InvalidInput):
        store.ledger.append(a_write(0, an_event(1), an_event(2, "\ud800")))
    assert store.ledger.scan(STREAM) == ()


def test_streams_do_not_meet(store: Store) -> None:
    other = session_stream(a_session(7))
    store.ledger.append(a_write(0, an_event(1)))
    store.ledger.append(a_write(0, an_event(2), session=a_session(7)))
    store.ledger.append(a_write(1, an_event(3)))
    assert [each.event for each in store.ledger.scan(STREAM)] == [an_event(1), an_event(3)]
    assert [each.event for each in store.ledger.scan(other)] == [an_event(2)]


def test_the_same_events_have_the_same_hashes_in_another_stream(
    store: Store, clock: FakeClock
) -> None:
    clock.step_ms = 0
    (one,) = store.ledger.append(a_write(0, an_event(1)))
    (other,) = store.ledger.append(a_write(0, an_event(1), session=a_session(7)))
    assert one.hash == other.hash


def test_a_clock_that_jumps_back_harms_nothing(store: Store, clock: FakeClock) -> None:
    fill(store, 1)
    clock.next_ms -= 86_400_000
    (late,) = store.ledger.append(a_write(1))
    assert store.ledger.scan(STREAM)[1] == late


def test_blobs_come_back_and_may_be_written_twice(store: Store) -> None:
    blobs = (a_blob(b""), a_blob(b"\0" * 100_000), a_blob(b"twice"))
    store.ledger.append(replace(a_write(0), blobs=blobs))
    store.ledger.append(replace(a_write(1), blobs=blobs[2:]))
    for blob in blobs:
        assert store.ledger.blob(blob.digest) == blob.data
        assert store.ledger.blob(blob.digest) == blob.data


def test_a_missing_blob_is_named(store: Store) -> None:
    with pytest.raises(SessionNotHealthy, match=digest(b"nothing")):
        store.ledger.blob(digest(b"nothing"))


def test_the_head_of_an_attempt_has_its_row_and_the_version(store: Store) -> None:
    store.ledger.append(replace(a_write(0), attempts=(a_row(1), a_row(2, blocks=3))))
    store.ledger.append(a_write(1))
    head = store.ledger.head(a_row(2).nonce)
    assert head is not None
    assert (head.row, head.version) == (a_row(2, blocks=3), 2)
    assert store.ledger.head(b"unheard of!!") is None


def test_a_head_had_lately_is_good_for_an_append_or_found_out_by_it(store: Store) -> None:
    store.ledger.append(replace(a_write(0), attempts=(a_row(1), a_row(2))))
    first = store.ledger.head(a_row(1).nonce, lately=True)
    assert first is not None
    assert (first.row, first.version) == (a_row(1), 1)
    store.ledger.append(a_write(first.version))
    second = store.ledger.head(a_row(2).nonce, lately=True)
    assert second is not None
    assert (second.version == 1) == second.remembered
    if second.remembered:
        with pytest.raises(Conflict):
            store.ledger.append(a_write(second.version))
    now = store.ledger.head(a_row(2).nonce, lately=True)
    assert now is not None
    assert (now.row, now.version, now.remembered) == (a_row(2), 2, False)


@pytest.mark.parametrize("what", ["outcome_at", "checkpoint_at", "checks_at"])
def test_a_head_had_lately_tells_what_became_of_an_attempt(store: Store, what: str) -> None:
    store.ledger.append(replace(a_write(0), attempts=(a_row(1),)))
    left = replace(a_row(1), **{what: 2})
    store.ledger.head(left.nonce, lately=True)
    store.ledger.append(replace(a_write(1), attempts=(left,)))
    head = store.ledger.head(left.nonce, lately=True)
    assert head is not None
    assert (head.row, head.version) == (left, 2)
    assert not head.remembered or what == "checks_at", "else a reply could rest on it alone"


def test_a_later_append_replaces_what_became_of_an_attempt(store: Store) -> None:
    store.ledger.append(replace(a_write(0), attempts=(a_row(1),)))
    after = replace(a_row(1), opened_at=2, blocks=1, outcome_at=2, checkpoint_at=3, checks_at=4)
    store.ledger.append(replace(a_write(1), attempts=(after,)))
    head = store.ledger.head(after.nonce)
    assert head is not None
    assert head.row == after


def test_a_minted_attempt_is_known_without_an_event(store: Store) -> None:
    fill(store, 2)
    store.ledger.mint(a_row(5))
    head = store.ledger.head(a_row(5).nonce)
    assert head is not None
    assert (head.row, head.version) == (a_row(5), 2)


def test_minting_twice_keeps_the_first(store: Store) -> None:
    store.ledger.append(replace(a_write(0), attempts=(a_row(5, outcome_at=1),)))
    store.ledger.mint(a_row(5))
    store.ledger.mint(a_row(5))
    head = store.ledger.head(a_row(5).nonce)
    assert head is not None
    assert head.row.outcome_at == 1


def test_a_standing_moves_for_every_attempt_on_its_node_and_for_those_minted_later(
    store: Store,
) -> None:
    elsewhere = a_row(4, node=NodeId("elsewhere"))
    rows = (a_row(1, outcome_at=1), a_row(2), elsewhere)
    store.ledger.append(replace(a_write(0), attempts=rows))
    store.ledger.mint(a_row(5))
    store.ledger.append(replace(a_write(1), standings=(Standing(node=NODE, opened_at=2),)))
    store.ledger.mint(a_row(6))  # read before the standing moved
    on = store.ledger.attempts_on(SESSION, NODE)
    assert {row.nonce for row in on} == {a_row(number).nonce for number in (1, 2, 5, 6)}
    assert {row.opened_at for row in on} == {2}
    assert on[0].outcome_at == 1
    other = store.ledger.head(elsewhere.nonce)
    assert other is not None
    assert other.row == elsewhere


def test_minting_on_a_session_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(SessionNotHealthy):
        store.ledger.mint(a_row(5))
    assert store.ledger.head(a_row(5).nonce) is None


def test_the_attempts_on_a_node_come_ended_ones_first(store: Store) -> None:
    elsewhere = a_row(4, node=NodeId("elsewhere"))
    rows = (a_row(1), a_row(2, outcome_at=5), a_row(3, outcome_at=2), elsewhere)
    store.ledger.append(replace(a_write(0), attempts=rows))
    store.ledger.append(
        replace(a_write(0, session=a_session(7)), attempts=(a_row(1, session=a_session(7)),))
    )
    found = store.ledger.attempts_on(SESSION, NODE)
    assert found == (a_row(3, outcome_at=2), a_row(2, outcome_at=5), a_row(1))
    assert store.ledger.attempts_on(SESSION, NodeId("nowhere")) == ()
    assert store.ledger.attempts_on(SessionId("nobody"), NODE) == ()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(events, min_size=1, max_size=3))
def test_events_of_every_kind_come_back(store: Store, happened: list[Event]) -> None:
    written = store.ledger.append(a_write(len(store.ledger.scan(STREAM)), *happened))
    assert [record.event for record in written] == happened
    assert store.ledger.scan(STREAM)[-len(happened) :] == written
    assert store.ledger.read(STREAM, [record.version for record in written]) == written


def test_of_many_threads_at_one_version_exactly_one_wins(store: Store) -> None:
    fill(store, 1)
    threads = 8
    together = threading.Barrier(threads)

    def race(number: int) -> bool:
        together.wait()
        try:
            store.ledger.append(a_write(1, an_event(number)))
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(threads) as pool:
        assert sum(pool.map(race, range(threads))) == 1
    assert len(store.ledger.scan(STREAM)) == 2


def test_threads_that_read_and_write_at_once_see_whole_writes(store: Store) -> None:
    def write(number: int) -> None:
        for version in range(0, 40, 2):
            store.ledger.append(
                a_write(version, an_event(1), an_event(2), session=a_session(number))
            )

    def read(number: int) -> None:
        seen = 0
        while seen < 40:
            seen = len(store.ledger.scan(session_stream(a_session(number))))
            assert seen % 2 == 0

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, n) for n in range(4) for work in (write, read)]:
            done.result()

"""The gates that wait: kept and closed with the events that open and decide them."""

import pytest
from msgspec.structs import replace

from headway.adapters.storage.store import Store
from headway.ports.ledger import Conflict
from headway.ports.sessions import GateRow
from tests.fakes.time_and_chance import FakeClock
from tests.support.writes import a_row, a_session, a_write


def a_gate(number: int, version: int) -> GateRow:
    session = a_session(number)
    return GateRow(session=session, version=version, nonce=a_row(version, session=session).nonce)


def open_gate(store: Store, number: int, version: int) -> GateRow:
    gate = a_gate(number, version)
    store.ledger.append(replace(a_write(version - 1, session=gate.session), gates=(gate,)))
    return gate


def test_the_gate_that_waits_longest_comes_first_and_the_limit_holds(
    store: Store, clock: FakeClock
) -> None:
    start = clock.next_ms
    first, second, third = (open_gate(store, *each) for each in ((2, 1), (1, 1), (2, 2)))
    found = store.sessions.gates(10).rows
    assert [replace(gate, recorded_at=0) for gate in found] == [first, second, third]
    assert found[0].recorded_at == start
    assert store.sessions.gates(2).rows == found[:2]
    assert store.sessions.gates(0).rows == ()


def test_a_decided_gate_waits_no_longer_and_others_of_its_session_still_do(store: Store) -> None:
    open_gate(store, 1, 1)
    kept = open_gate(store, 1, 2)
    other = open_gate(store, 2, 1)
    store.ledger.append(replace(a_write(2, session=a_session(1)), decided=(1,)))
    found = [replace(gate, recorded_at=0) for gate in store.sessions.gates(10).rows]
    assert found == [kept, other]


def test_an_append_that_comes_too_late_opens_and_closes_nothing(store: Store) -> None:
    gate = open_gate(store, 1, 1)
    late = replace(a_write(0, session=gate.session), gates=(a_gate(1, 5),), decided=(1,))
    with pytest.raises(Conflict):
        store.ledger.append(late)
    assert [replace(each, recorded_at=0) for each in store.sessions.gates(10).rows] == [gate]

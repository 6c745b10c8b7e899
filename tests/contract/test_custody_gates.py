"""Custody of what stands beside an advance, on every store: waiting gates, outputs of checks."""

import pytest
from msgspec.structs import replace

from headway.adapters.storage.memory import open_memory
from headway.adapters.storage.store import Store
from headway.application.decide_gate import decide_gate
from headway.application.engine import Engine
from headway.application.export_session import export_session
from headway.application.import_session import import_session
from headway.application.list_gates import list_gates
from headway.application.purge_session import purge_session
from headway.application.rebuild_store import rebuild_store
from headway.application.record_checks import record_checks
from headway.application.requests import CheckRun, DecideGate, RecordChecks, Reply, ShowGate
from headway.application.show_gate import show_gate
from headway.application.verify_store import verify_store
from headway.domain.errors import InvalidInput, NotFound
from headway.domain.ids import SessionId, digest, gate_id, session_stream
from headway.domain.values import Json
from headway.domain.workflow import Check, Confirmation, Step
from headway.ports.custody import Projections, Standing
from headway.ports.sessions import GateRow
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.building import step, workflow
from tests.support.engines import engine_on
from tests.support.walked import begin, go_on, resumed, sessions

PLAN = Step(id="plan", title="Plan", confirmation=Confirmation(kind="human_approval"))
BUILD = Step(id="build", title="Build", checks=(Check(id="unit", run="make test"),))
GATED = replace(workflow(PLAN, BUILD, step("tell")), id="gated")
PRINTED = b"1 failed, 3 passed"


def engine_of(store: Store, seed: int = 7) -> Engine:
    return engine_on(store, GATED, FakeClock(), FakeEntropy(seed), gates="enforce")


@pytest.fixture
def engine(store: Store) -> Engine:
    return engine_of(store)


@pytest.fixture
def there() -> Engine:
    return engine_of(open_memory(FakeClock(), FakeEntropy(11)), 11)


def asked(engine: Engine, goal: str = "Try it") -> Reply:
    """Begin a session and hand in its gated step; return the reply that tells of the gate."""
    begun = begin(engine, goal, GATED.id)
    reply = go_on(engine, begun["continueToken"], "The plan.")
    assert reply["kind"] == "gate_checkpoint"
    return reply | {"continueToken": begun["continueToken"]}


def answered(engine: Engine, gate: Json, *, approve: bool = True) -> None:
    shown = str(show_gate(engine, ShowGate(gate=str(gate)))["shown"])
    request = DecideGate(gate=str(gate), approve=approve, decided_by="ann", shown=shown)
    decide_gate(engine, request)


def waiting(engine: Engine) -> list[tuple[SessionId, str]]:
    return [(row.session, gate_id(row.nonce)) for row in engine.sessions.gates(50).rows]


def problems(engine: Engine) -> list[str]:
    return [problem.text() for problem in verify_store(engine).problems]


def standing(engine: Engine, session: SessionId) -> Standing:
    found = engine.records.standing(session_stream(session))
    assert found is not None
    return found


def with_gates(engine: Engine, session: SessionId, *gates: GateRow) -> None:
    """Put other gates beside a session than its events tell of."""
    end = standing(engine, session)
    assert isinstance(end.version, int)
    projections = Projections(attempts=(), summary=end.summary, gates=gates)
    engine.custody.restate(session_stream(session), end.version, projections)


def test_a_gate_that_waits_goes_with_its_session_and_is_answered_where_it_came_to(
    engine: Engine, there: Engine
) -> None:
    reply = asked(engine)
    (session,) = sessions(engine)
    import_session(there, list(export_session(engine, session).lines))
    assert waiting(there) == waiting(engine) == [(session, reply["gateId"])]
    assert standing(there, session).gates == standing(engine, session).gates
    assert problems(there) == []
    answered(there, reply["gateId"])
    assert (waiting(there), problems(there)) == ([], [])
    assert go_on(there, resumed(there, session))["isComplete"] is False
    assert waiting(engine) == [(session, reply["gateId"])]


def test_a_bundle_brings_its_waiting_gates_into_every_store(engine: Engine, there: Engine) -> None:
    reply = asked(there)
    import_session(engine, list(export_session(there, sessions(there)[0]).lines))
    assert waiting(engine) == [(sessions(there)[0], reply["gateId"])]
    listed = list_gates(engine, 10)["gates"]
    assert isinstance(listed, list)
    assert len(listed) == 1
    assert problems(engine) == []
    answered(engine, reply["gateId"], approve=False)
    assert problems(engine) == []


def test_an_import_as_new_has_a_gate_of_its_own_and_each_is_answered_by_itself(
    engine: Engine,
) -> None:
    reply = asked(engine)
    (first,) = sessions(engine)
    imported = import_session(
        engine, list(export_session(engine, first).lines), as_new=True
    ).session
    gates = dict(waiting(engine))
    assert gates.keys() == {first, imported}
    assert len(set(gates.values())) == 2
    answered(engine, gates[imported], approve=False)
    assert waiting(engine) == [(first, reply["gateId"])]
    answered(engine, reply["gateId"])
    assert (waiting(engine), problems(engine)) == ([], [])
    assert go_on(engine, reply["continueToken"])["kind"] == "ok"
    blocked = go_on(engine, resumed(engine, imported), "Another plan.")
    assert blocked["kind"] == "gate_checkpoint"
    assert waiting(engine) == [(imported, blocked["gateId"])]
    assert problems(engine) == []


def test_a_decided_gate_does_not_come_back_with_an_import(engine: Engine, there: Engine) -> None:
    reply = asked(engine)
    answered(engine, reply["gateId"])
    lines = list(export_session(engine, sessions(engine)[0]).lines)
    import_session(there, lines)
    import_session(engine, lines, as_new=True)
    assert waiting(there) == waiting(engine) == []
    assert problems(there) == problems(engine) == []


def test_a_purged_session_takes_its_gates_with_it_and_no_other(engine: Engine) -> None:
    gone, kept = asked(engine, "Forget me"), asked(engine, "Keep me")
    first, second = sessions(engine)
    purge_session(engine, first, "asked for")
    assert waiting(engine) == [(second, kept["gateId"])]
    assert problems(engine) == []
    with pytest.raises(NotFound):
        show_gate(engine, ShowGate(gate=str(gone["gateId"])))
    answered(engine, kept["gateId"])
    assert problems(engine) == []


@pytest.mark.parametrize("wrong", ["lost", "doubled", "decided", "moved"])
def test_rebuild_puts_the_waiting_gates_right(engine: Engine, wrong: str) -> None:
    reply = asked(engine)
    (session,) = sessions(engine)
    if wrong == "decided":
        answered(engine, reply["gateId"])
    right = standing(engine, session).gates
    gate = GateRow(session=session, version=1, nonce=b"n" * 12, recorded_at=5)
    bad = {
        "lost": (),
        "doubled": (*right, gate),
        "decided": (gate,),
        "moved": tuple(replace(each, recorded_at=5) for each in right),
    }
    with_gates(engine, session, *sorted(bad[wrong], key=lambda each: each.version))
    assert any("other waiting gates" in each for each in problems(engine))
    assert rebuild_store(engine).mended == 1
    assert standing(engine, session).gates == right
    assert problems(engine) == []
    assert rebuild_store(engine).mended == 0


def checked(engine: Engine) -> SessionId:
    """Make a session that recorded a check's output; return its id."""
    reply = asked(engine)
    answered(engine, reply["gateId"])
    opened = go_on(engine, reply["continueToken"])
    run = CheckRun(check="unit", exit_code=1, output=PRINTED)
    record_checks(engine, RecordChecks(continue_token=str(opened["continueToken"]), runs=(run,)))
    return sessions(engine)[-1]


def test_the_output_of_a_check_goes_with_its_session(engine: Engine, there: Engine) -> None:
    session = checked(engine)
    assert problems(engine) == []
    import_session(there, list(export_session(engine, session).lines))
    assert there.ledger.blob(digest(PRINTED)) == PRINTED
    assert problems(there) == []
    assert purge_session(engine, session).removed.blobs == 2  # the workflow and the output
    assert (engine.records.blobs(), problems(engine)) == ((), [])


def test_a_bundle_without_the_output_of_a_check_is_refused(engine: Engine, there: Engine) -> None:
    session = checked(engine)
    lines = list(export_session(engine, session).lines)
    name = digest(PRINTED).encode()
    with pytest.raises(InvalidInput) as caught:
        import_session(there, [line for line in lines if not line.startswith(b'{"blob":"' + name)])
    assert caught.value.remedy
    assert there.records.streams() == ()

"""A clock that jumps back a day between calls: only the recorded times tell of it."""

from headway.adapters.storage.store import Store
from headway.application.export_session import export_session
from headway.application.import_session import import_session
from headway.application.purge_session import purge_session
from headway.application.rebuild_store import rebuild_store
from headway.application.verify_store import verify_store
from headway.domain.ids import session_stream
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.engines import engine_on
from tests.support.walked import (
    FOLLOWED,
    begin,
    finish,
    go_on,
    other_engine,
    rehydrate,
    resumed,
    sessions,
    walk,
)

DAY_MS = 86_400_000


def test_a_session_goes_on_is_found_proven_moved_and_purged_after_the_clock_jumps_back(
    store: Store, clock: FakeClock
) -> None:
    engine = engine_on(store, FOLLOWED, clock, FakeEntropy(7))
    first = begin(engine, "Before the jump")
    reply = go_on(engine, first["continueToken"])
    (session,) = sessions(engine)
    clock.next_ms -= DAY_MS
    assert go_on(engine, first["continueToken"]) == reply
    fresh = rehydrate(engine, resumed(engine, session))
    walk(engine, "After the jump")
    finish(engine, fresh)
    finish(engine, reply)
    assert verify_store(engine).problems == ()
    assert rebuild_store(engine).mended == 0
    events = engine.ledger.scan(session_stream(session))
    assert events[-1].recorded_at < events[0].recorded_at
    lines = list(export_session(engine, session).lines)
    there = other_engine()
    import_session(there, lines)
    assert verify_store(there).problems == ()
    clock.next_ms -= DAY_MS
    assert purge_session(engine, session).removed.events == len(events)
    assert len(sessions(engine)) == 1
    assert verify_store(engine).problems == ()

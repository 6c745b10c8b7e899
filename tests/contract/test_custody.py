"""Custody on every store: what is proven, mended, moved and removed there, through the verbs."""

import pytest
from msgspec.structs import replace

from headway.adapters.storage.search import FOLD_EVERY
from headway.adapters.storage.store import Store
from headway.application.engine import Engine
from headway.application.export_session import export_session
from headway.application.import_session import import_session
from headway.application.purge_session import purge_session
from headway.application.rebuild_store import rebuild_store
from headway.application.requests import ResumeSession
from headway.application.resume_session import resume_session
from headway.application.rotate_keys import rotate_keys
from headway.application.verify_store import verify_store
from headway.domain.errors import Code, InvalidInput, NotFound, PreconditionFailed, TokenFault
from headway.domain.event_codec import encode
from headway.domain.ids import SessionId, StreamId, digest, session_stream
from headway.domain.words import parted
from headway.ports.custody import Projections, SealedEvent
from headway.ports.ledger import Conflict
from headway.ports.sessions import SessionQuery
from tests.support.engines import WORKSPACE
from tests.support.walked import (
    begin,
    engine_of,
    finish,
    go_on,
    other_engine,
    rehydrate,
    resumed,
    sessions,
    stream_of,
    walk,
)
from tests.support.writes import a_blob, a_session, a_summary, a_write, an_event

LONG_WORD = "a1" * 40  # longer than what is looked at of a word


@pytest.fixture
def engine(store: Store) -> Engine:
    return engine_of(store)


def problems(engine: Engine) -> list[str]:
    return [problem.text() for problem in verify_store(engine).problems]


def test_a_sound_store_verifies_clean_and_is_counted(engine: Engine) -> None:
    walk(engine)
    finish(engine, walk(engine, "Walk to the end"))
    report = verify_store(engine)
    assert report.problems == ()
    assert (report.streams, report.blobs) == (2, 2)  # the workflow and the long note are shared
    assert report.events == sum(len(engine.ledger.scan(stream_of(engine, n))) for n in (0, 1))
    one = verify_store(engine, sessions(engine)[0])
    assert (one.streams, one.problems) == (1, ())
    told: list[tuple[int, int]] = []
    verify_store(engine, None, lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]


def test_an_empty_store_verifies_clean(engine: Engine) -> None:
    assert verify_store(engine).streams == 0
    assert problems(engine) == []


def test_a_history_that_does_not_hold_together_is_named(engine: Engine) -> None:
    engine.ledger.append(a_write(0, an_event(1)))
    (found,) = problems(engine)
    assert found.startswith("event 1 of session:")
    assert "start" in found
    assert len(rebuild_store(engine).problems) == 1


def test_blobs_that_no_event_names_are_found(engine: Engine) -> None:
    reply = walk(engine)
    stream = stream_of(engine)
    version = len(engine.ledger.scan(stream))
    write = a_write(version, an_event(1), session=sessions(engine)[0])
    engine.ledger.append(replace(write, blobs=(a_blob(b"nobody's"),)))
    assert reply["isComplete"] is False
    assert "was not open" in problems(engine)[0]


def test_what_is_stored_is_read_as_it_is(store: Store, engine: Engine) -> None:
    walk(engine)
    stream = stream_of(engine)
    scanned = engine.ledger.scan(stream)
    assert store.records.streams() == (stream,)
    rows = store.records.events(stream, 0, 100)
    assert [row[:3] for row in rows] == [(r.version, r.recorded_at, r.hash) for r in scanned]
    assert store.records.events(stream, 2, 2) == rows[2:4]
    assert store.records.events(StreamId("session:none"), 0, 9) == []
    assert store.records.standing(StreamId("session:none")) is None
    assert store.records.strays() == ()
    assert store.records.blob(digest(b"none")) is None
    assert {digest(store.records.blob(name) or b"") for name in store.records.blobs()} == set(
        store.records.blobs()
    )
    standing = store.records.standing(stream)
    assert standing is not None
    assert (standing.version, standing.hash) == (scanned[-1].version, scanned[-1].hash)
    assert standing.summary == store.sessions.summary(sessions(engine)[0])


def test_rebuild_mends_what_is_wrong_and_keeps_what_was_minted(
    store: Store, engine: Engine
) -> None:
    reply = walk(engine)
    fresh = rehydrate(engine, reply["continueToken"])
    stream, session = stream_of(engine), sessions(engine)[0]
    standing = store.records.standing(stream)
    assert standing is not None
    assert isinstance(standing.version, int)
    assert standing.summary is not None
    wrong = tuple(replace(row, blocks=row.blocks + 1) for row in standing.attempts)
    lying = replace(standing.summary, recap="Something else.", depth=9, started_at=1)
    store.custody.restate(stream, standing.version, Projections(attempts=wrong[:3], summary=lying))
    found = problems(engine)
    assert any("summary" in each and "recap" in each and "depth" in each for each in found)
    assert any("cannot be found by" in each for each in found)
    assert len(found) == 5
    report = rebuild_store(engine)
    assert (report.sessions, report.mended, report.problems) == (1, 1, ())
    assert problems(engine) == []
    assert store.sessions.summary(session) == standing.summary
    if not report.dropped:
        assert store.records.standing(stream) is not None
    assert rebuild_store(engine).mended == 0
    go_on(engine, fresh["continueToken"], "On from the minted one.")
    assert problems(engine) == []


def test_rebuild_makes_a_lost_summary_again(store: Store, engine: Engine) -> None:
    walk(engine)
    stream, session = stream_of(engine), sessions(engine)[0]
    before = store.records.standing(stream)
    assert before is not None
    assert isinstance(before.version, int)
    nonces = tuple(row.nonce for row in before.attempts if row.outcome_at is not None)
    gone = Projections(attempts=(), summary=None, dropped=nonces)
    store.custody.restate(stream, before.version, gone)
    assert store.sessions.summary(session) is None
    assert len(problems(engine)) == 2 + len(nonces)
    assert rebuild_store(engine).mended == 1
    after = store.records.standing(stream)
    assert after is not None
    assert after.summary == before.summary
    assert set(after.attempts) == set(before.attempts)
    assert problems(engine) == []


def test_a_restatement_of_a_stream_that_went_on_is_a_conflict(engine: Engine) -> None:
    walk(engine)
    nothing = Projections(attempts=(), summary=None)
    with pytest.raises(Conflict):
        engine.custody.restate(stream_of(engine), 1, nothing)
    with pytest.raises(Conflict):
        engine.custody.restate(StreamId("session:none"), 1, nothing)
    assert problems(engine) == []


def test_a_session_goes_to_another_machine_and_goes_on_there(engine: Engine) -> None:
    reply = walk(engine)
    session = sessions(engine)[0]
    lines = list(export_session(engine, session[:12]).lines)
    there = other_engine()
    imported = import_session(there, lines)
    assert (imported.session, imported.origin, imported.already) == (session, session, False)
    assert problems(there) == []
    assert there.ledger.scan(stream_of(there)) == engine.ledger.scan(stream_of(engine))
    assert there.sessions.summary(session) == engine.sessions.summary(session)
    with pytest.raises(TokenFault) as caught:
        go_on(there, reply["continueToken"])
    assert caught.value.code is Code.TOKEN_BAD_SIGNATURE
    finish(there, rehydrate(there, resumed(there, session)))
    assert problems(there) == []


def test_a_bundle_taken_in_on_every_store_is_the_session_it_was(engine: Engine) -> None:
    there = other_engine()
    finish(there, walk(there))
    lines = list(export_session(there, sessions(there)[0]).lines)
    import_session(engine, lines)
    assert problems(engine) == []
    assert list(export_session(engine, sessions(engine)[0]).lines)[1:-1] == lines[1:-1]
    assert engine.sessions.summary(sessions(engine)[0]) == there.sessions.summary(
        sessions(there)[0]
    )


def test_an_import_as_new_keeps_the_proofs_and_goes_its_own_way(engine: Engine) -> None:
    reply = walk(engine)
    first = sessions(engine)[0]
    lines = list(export_session(engine, first).lines)
    imported = import_session(engine, lines, as_new=True)
    assert imported.session != first
    assert imported.origin == first
    one = engine.ledger.scan(session_stream(first))
    other = engine.ledger.scan(session_stream(imported.session))
    assert [each.hash for each in one] == [each.hash for each in other]
    assert problems(engine) == []
    finish(engine, rehydrate(engine, resumed(engine, imported.session)))
    assert engine.ledger.scan(session_stream(first)) == one
    go_on(engine, reply["continueToken"])
    assert problems(engine) == []
    again = list(export_session(engine, imported.session).lines)
    assert import_session(other_engine(), again).origin == first


def test_importing_what_is_here_changes_nothing_and_another_state_is_refused(
    engine: Engine,
) -> None:
    reply = walk(engine)
    session = sessions(engine)[0]
    lines = list(export_session(engine, session).lines)
    assert import_session(engine, lines).already
    assert verify_store(engine).streams == 1
    go_on(engine, reply["continueToken"])
    with pytest.raises(PreconditionFailed) as caught:
        import_session(engine, lines)
    assert "--as-new" in caught.value.remedy


def test_placing_over_a_stream_is_a_conflict(engine: Engine) -> None:
    walk(engine)
    stream = stream_of(engine)
    nothing = Projections(attempts=(), summary=None)
    with pytest.raises(Conflict):
        engine.custody.place(stream, [], [], nothing)
    assert problems(engine) == []


def test_a_purged_session_is_gone_but_for_its_tombstone(engine: Engine) -> None:
    kept = walk(engine, "Keep me")
    gone = walk(engine, "Forget me", "Only here: " + "x" * 100_000)
    first, second = sessions(engine)
    blobs = len(engine.records.blobs())
    purged = purge_session(engine, second[:14], "asked for")
    assert purged.session == second
    assert (purged.removed.blobs, len(engine.records.blobs())) == (1, blobs - 1)
    assert problems(engine) == []
    assert sessions(engine) == [first]
    assert engine.ledger.scan(session_stream(second)) == ()
    assert (
        resume_session(engine, ResumeSession(workspace_path=WORKSPACE, session_id=second))[
            "candidates"
        ]
        == []
    )
    with pytest.raises(TokenFault, match=r"purged on 20.* \(asked for\)") as caught:
        go_on(engine, gone["continueToken"])
    assert caught.value.code is Code.TOKEN_UNKNOWN_NODE
    for again in (purge_session, export_session, verify_store):
        with pytest.raises(NotFound, match="was purged on"):
            again(engine, second)
    finish(engine, kept)
    assert problems(engine) == []


def test_purging_all_sessions_leaves_no_blob(engine: Engine) -> None:
    walk(engine)
    finish(engine, walk(engine, "Another"))
    for session in sessions(engine):
        purge_session(engine, session)
    assert engine.records.blobs() == ()
    assert engine.records.streams() == ()
    assert problems(engine) == []
    begin(engine)
    assert problems(engine) == []


def test_a_purged_session_comes_back_only_as_new(engine: Engine) -> None:
    walk(engine)
    (session,) = sessions(engine)
    lines = list(export_session(engine, session).lines)
    purge_session(engine, session)
    with pytest.raises(PreconditionFailed, match="was purged on"):
        import_session(engine, lines)
    assert engine.records.streams() == ()
    imported = import_session(engine, lines, as_new=True)
    assert sessions(engine) == [imported.session]
    assert problems(engine) == []


def test_a_stream_is_never_placed_under_a_purged_name(store: Store, engine: Engine) -> None:
    walk(engine)
    stream, nothing = stream_of(engine), Projections(attempts=(), summary=None)
    first = engine.ledger.scan(stream)[0]
    events = [SealedEvent(1, first.recorded_at, first.hash, encode(first.event))]
    purge_session(engine, sessions(engine)[0])
    with pytest.raises(Conflict):
        store.custody.place(stream, events, (), nothing)
    assert store.records.streams() == ()


def test_a_purge_of_nothing_is_refused(engine: Engine) -> None:
    walk(engine)
    walk(engine)
    with pytest.raises(NotFound):
        purge_session(engine, "sess_nobody")
    with pytest.raises(InvalidInput, match="2 sessions begin"):
        purge_session(engine, "sess_")
    with pytest.raises(InvalidInput, match="one line"):
        purge_session(engine, sessions(engine)[0], "two\nlines")
    assert len(sessions(engine)) == 2
    assert engine.custody.tombstone(SessionId("nobody")) is None
    assert engine.custody.tombstone_of(b"n" * 12) is None


def test_a_token_outlives_one_rotation_of_the_keys_and_not_two(engine: Engine) -> None:
    first = begin(engine)
    assert rotate_keys(engine)
    second = go_on(engine, first["continueToken"])
    assert rotate_keys(engine)
    with pytest.raises(TokenFault) as caught:
        go_on(engine, first["continueToken"])
    assert caught.value.code is Code.TOKEN_BAD_SIGNATURE
    third = go_on(engine, second["continueToken"])
    assert go_on(engine, second["continueToken"]) == third


def words_found(engine: Engine, text: str) -> list[SessionId]:
    return [each.session for each in engine.sessions.find(SessionQuery(text=text)).rows]


def test_a_session_is_found_by_words_of_different_notes(engine: Engine) -> None:
    walk(engine, "Mend the lighthouse")
    walk(engine, "Paint the harbour")
    one, other = sessions(engine)
    assert words_found(engine, "lighthouse judged another") == [one]
    assert set(words_found(engine, "kept blob judged")) == {one, other}  # of a long, early note
    assert words_found(engine, "lighthouse harbour") == []


def test_words_are_found_before_and_after_they_were_folded(store: Store, engine: Engine) -> None:
    for number in range(FOLD_EVERY + 3):
        write = a_write(session=a_session(number))
        summary = a_summary(a_session(number))
        words = parted(f"Common, number{number}x: {LONG_WORD}. Common!")
        store.ledger.append(replace(write, summary=summary, words=words))
        assert words_found(engine, f"common number{number}x") == [a_session(number)]
    again = replace(a_write(1, session=a_session(5)), words=parted("later"))
    store.ledger.append(again)
    assert words_found(engine, "number5x later") == [a_session(5)]
    assert len(words_found(engine, "common")) == len(words_found(engine, LONG_WORD)) == 50
    query = SessionQuery(text="common", statuses=("complete",))
    assert store.sessions.find(query).rows == ()
    assert len(store.sessions.find(SessionQuery(text="number", limit=7)).rows) == 7
    assert store.records.strays() == ()


@pytest.mark.parametrize("folded", [False, True])
def test_a_purge_takes_the_words_with_it(store: Store, engine: Engine, *, folded: bool) -> None:
    walk(engine, "Mend the lighthouse")
    walk(engine, "Paint the harbour")
    purged, kept = sessions(engine)
    if folded:
        fold(store)
    purge_session(engine, purged)
    assert words_found(engine, "lighthouse") == []
    assert words_found(engine, "judged") == [kept]
    assert problems(engine) == []
    walk(engine, "Another one")
    assert words_found(engine, "lighthouse") == []


def test_an_import_brings_the_words_along(engine: Engine) -> None:
    walk(engine, "Mend the lighthouse")
    session = sessions(engine)[0]
    lines = list(export_session(engine, session).lines)
    there = other_engine()
    import_session(there, lines)
    assert words_found(there, "lighthouse judged blob") == [session]
    new = import_session(engine, lines, as_new=True).session
    assert set(words_found(engine, "lighthouse judged blob")) == {session, new}
    assert problems(engine) == problems(there) == []


def test_lost_words_are_told_by_verify_and_brought_back_by_rebuild(
    store: Store, engine: Engine
) -> None:
    walk(engine, "Mend the lighthouse")
    fold(store)
    stream = stream_of(engine)
    standing = store.records.standing(stream)
    assert standing is not None
    assert isinstance(standing.version, int)
    fewer = Projections(
        attempts=(), summary=standing.summary, words=standing.words - {"lighthouse", "judged"}
    )
    store.custody.restate(stream, standing.version, fewer)
    assert words_found(engine, "lighthouse") == []
    assert any("cannot be found by 2 of its words" in each for each in problems(engine))
    assert rebuild_store(engine).mended == 1
    assert words_found(engine, "lighthouse judged") == [sessions(engine)[0]]
    assert problems(engine) == []


def fold(store: Store) -> None:
    """Append as many words elsewhere as it takes to have all that wait folded."""
    session = a_session(99)
    for version in range(FOLD_EVERY):
        event = an_event(version)
        write = replace(a_write(version, event, session=session), words="elsewhere")
        store.ledger.append(replace(write, stream=StreamId("other:99")))

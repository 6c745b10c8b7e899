import pytest
from msgspec.structs import replace

from headway.adapters.storage.store import Store
from headway.domain.ids import SessionId, digest
from headway.domain.words import parted
from headway.ports.sessions import SessionQuery, SessionSummary
from tests.fakes.time_and_chance import FakeClock
from tests.support.writes import SESSION, a_session, a_summary, a_write

REPOSITORY = digest(b"repository")


def keep(store: Store, *summaries: SessionSummary) -> None:
    for summary in summaries:
        said = f"{summary.goal} {summary.recap} {summary.workflow_id} {summary.workflow_name}"
        write = replace(a_write(session=summary.session), summary=summary, words=parted(said))
        store.ledger.append(write)


def found(store: Store, query: SessionQuery) -> list[int]:
    everyone = {a_session(number): number for number in range(10)}
    return [everyone[summary.session] for summary in store.sessions.find(query).rows]


def test_a_summary_is_kept_with_its_first_and_last_time(store: Store, clock: FakeClock) -> None:
    first = clock.next_ms
    keep(store, a_summary())
    begun = store.sessions.summary(SESSION)
    assert begun == replace(a_summary(), started_at=first, updated_at=first)
    last = clock.next_ms
    store.ledger.append(replace(a_write(1), summary=replace(a_summary(), depth=1)))
    assert store.sessions.summary(SESSION) == replace(
        a_summary(), depth=1, started_at=first, updated_at=last
    )


def test_every_field_of_progress_is_replaced(store: Store) -> None:
    keep(store, a_summary())
    later = replace(
        a_summary(),
        status="complete_with_gaps",
        step_id=None,
        step_title=None,
        nonce=b"",
        depth=4,
        recap="Done \0 \U0001f600",
    )
    store.ledger.append(replace(a_write(1), summary=later))
    kept = store.sessions.summary(SESSION)
    assert kept is not None
    assert replace(kept, started_at=0, updated_at=0) == later


def test_what_a_session_began_with_stays(store: Store) -> None:
    keep(store, a_summary(goal="First"))
    store.ledger.append(replace(a_write(1), summary=a_summary(goal="Second", branch="other")))
    kept = store.sessions.summary(SESSION)
    assert kept is not None
    assert (kept.goal, kept.branch) == ("First", "main")


def test_an_append_without_a_summary_leaves_it(store: Store) -> None:
    keep(store, a_summary())
    before = store.sessions.summary(SESSION)
    store.ledger.append(a_write(1))
    assert store.sessions.summary(SESSION) == before


def test_an_unknown_session_has_no_summary(store: Store) -> None:
    assert store.sessions.summary(SessionId("nobody")) is None
    assert store.sessions.find(SessionQuery()).rows == ()


def test_the_last_updated_comes_first_and_the_limit_holds(store: Store) -> None:
    keep(store, *(a_summary(a_session(number)) for number in range(4)))
    store.ledger.append(replace(a_write(1, session=a_session(1)), summary=a_summary(a_session(1))))
    assert found(store, SessionQuery()) == [1, 3, 2, 0]
    assert found(store, SessionQuery(limit=2)) == [1, 3]
    assert found(store, SessionQuery(limit=0)) == []
    assert found(store, SessionQuery(text="login", limit=3)) == [1, 3, 2]


def test_sessions_of_one_moment_come_in_the_order_of_their_ids(
    store: Store, clock: FakeClock
) -> None:
    clock.step_ms = 0
    keep(store, *(a_summary(a_session(number)) for number in (2, 0, 1)))
    assert found(store, SessionQuery()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (SessionQuery(session=a_session(2)), [2]),
        (SessionQuery(session=SessionId("nobody")), []),
        (SessionQuery(branch="main"), [3, 1, 0]),
        (SessionQuery(branch="Main"), []),
        (SessionQuery(git_head="1" * 40), [1]),
        (SessionQuery(workspace="/elsewhere"), [3]),
        (SessionQuery(repository=REPOSITORY), [2, 1]),
        (SessionQuery(repository=REPOSITORY, branch="main"), [1]),
        (SessionQuery(session=a_session(2), branch="main"), []),
        (SessionQuery(text="tests", branch="main"), [1]),
        (SessionQuery(text="  "), [3, 2, 1, 0]),
        (SessionQuery(statuses=("in_progress", "gated")), [3, 2, 1, 0]),
        (SessionQuery(statuses=("complete",)), []),
    ],
)
def test_every_given_field_narrows(store: Store, query: SessionQuery, expected: list[int]) -> None:
    keep(
        store,
        a_summary(a_session(0)),
        a_summary(a_session(1), goal="Add tests", git_head="1" * 40, repository=REPOSITORY),
        a_summary(a_session(2), branch=None, repository=REPOSITORY, recap="Ran the tests"),
        a_summary(a_session(3), workspace="/elsewhere"),
    )
    assert found(store, query) == expected


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("login", True),
        ("LOGIN page", True),
        ("page login", True),
        ("logi", True),
        ("log", False),
        ("cafe", True),
        ("CAFÉ", True),
        ("错", True),
        ("误", True),
        ("错登", False),
        ("login, page!", True),
        ("straße", True),
        ("STRASSE", True),
        ("bug-fix", True),
        ("hw.bug-fix", True),
        ("fix a bug", True),
        ("错误", True),
        ("100%", True),
        ("ogin", False),
        ("login cellar", False),
        ("100_", True),
        ("%", False),
        ("???", False),
        ("\0", False),
    ],
)
def test_all_words_must_stand_in_goal_notes_or_workflow(
    store: Store, text: str, *, matches: bool
) -> None:
    keep(
        store,
        a_summary(goal="Mend the Login page of Straße, Café", recap="修复登录错误 by 100 percent"),
    )
    assert bool(store.sessions.find(SessionQuery(text=text)).rows) is matches

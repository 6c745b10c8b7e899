"""Finding a session to go on with (D16): nothing rather than noise, and every session reachable."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest
from msgspec.structs import replace

from headway.application.requests import Reply, ResumeSession
from headway.domain.ids import digest, session_stream
from headway.domain.tokens import NONCE_BYTES
from headway.domain.words import parted
from headway.ports.ledger import Write
from headway.ports.sessions import SessionSummary
from tests.support.front_door import FrontDoor, open_front_door
from tests.support.writes import a_session, a_summary, a_write

SEEDED = 3_000
SECONDS_MAX = 2.0  # far above what it takes; a scan of every stream takes longer


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


def seed(door: FrontDoor, number: int, **given: str | None) -> SessionSummary:
    """Keep a session that was never played, as its first append would."""
    session = a_session(number)
    fields: dict[str, str | None] = {"workspace": "/elsewhere", "branch": None, **given}
    nonce = number.to_bytes(NONCE_BYTES, "big")
    summary = replace(a_summary(session), nonce=nonce, **fields)
    door.engine.ledger.append(
        Write(
            stream=session_stream(session),
            expected_version=0,
            events=a_write().events,
            summary=summary,
            words=parted(f"{summary.goal}\n{summary.recap}\n{summary.workflow_name}"),
        )
    )
    return summary


def resumed(door: FrontDoor, **asked: str | bool) -> Reply:
    request = ResumeSession(workspace_path=str(door.workspace), **asked)  # type: ignore[arg-type]  # tests name fields
    return door.verbs.resume_session(request)


def found(reply: Reply) -> list[str]:
    candidates = reply["candidates"]
    assert isinstance(candidates, list)
    return [str(each["sessionId"]) for each in candidates if isinstance(each, dict)]


def test_an_exact_id_comes_before_words_before_a_commit_before_a_branch(door: FrontDoor) -> None:
    on_branch = seed(door, 1, branch="fix")
    at_commit = seed(door, 2, git_head="c" * 40)
    with_words = seed(door, 3, goal="Mend the lamp")
    by_id = seed(door, 4)
    told = resumed(
        door,
        session_id=by_id.session,
        query="lamp",
        git_head_sha="c" * 40,
        git_branch="fix",
    )
    assert found(told) == [each.session for each in (by_id, with_words, at_commit, on_branch)]
    assert told["totalEligible"] == 4


@pytest.mark.parametrize("asked", ["{session}", "{run}", "go on with {session}, please"])
def test_an_id_is_found_wherever_it_stands(door: FrontDoor, asked: str) -> None:
    wanted = seed(door, 7)
    seed(door, 8)
    run = wanted.session.replace("sess_", "run_")
    assert found(resumed(door, query=asked.format(session=wanted.session, run=run))) == [
        wanted.session
    ]


def test_what_matches_nothing_asked_for_is_not_offered(door: FrontDoor) -> None:
    door.start()
    for query in ("cellar", "sess_nobody", "try cellar", "%"):
        assert resumed(door, query=query) == {"candidates": [], "totalEligible": 0}
    assert found(resumed(door, git_branch="nowhere")) == []
    assert len(found(resumed(door))) == 1


def test_the_latest_of_this_repository_are_offered_only_when_nothing_was_asked(
    door: FrontDoor,
) -> None:
    seed(door, 1)
    door.start()
    mine = found(resumed(door))
    assert len(mine) == 1
    assert mine[0] != a_session(1)
    assert found(resumed(door, query="Try it")) == mine


def test_within_a_reason_the_own_repository_comes_first_then_open_then_latest(
    door: FrontDoor,
) -> None:
    repository = door.engine.workspace.git_facts(str(door.workspace)).repository
    assert repository is not None
    other = digest(b"another")
    expected = [
        seed(door, 1, repository=repository),
        seed(door, 2, repository=repository, status="complete"),
        seed(door, 4, repository=other),
        seed(door, 3, repository=other, status="gated"),
        seed(door, 5, repository=other, status="complete"),
    ]
    # 3 was touched before 4, both are open; the lower id does not matter then
    order = [each.session for each in (*expected[:2], expected[3], expected[2], expected[4])]
    assert found(resumed(door, query="login")) == order


def test_every_session_is_reachable_and_soon_among_thousands(door: FrontDoor) -> None:
    repository = door.engine.workspace.git_facts(str(door.workspace)).repository
    first = seed(door, 1, repository=repository, status="complete", goal="Mend the login page once")
    second = seed(door, 2, repository=repository)
    third = seed(door, 3, goal="Mend the login lamp")
    for number in range(10, SEEDED):
        seed(door, number, status="complete" if number % 2 else "in_progress")
    began = process_time()
    assert found(resumed(door, query="login"))[:2] == [second.session, first.session]
    assert found(resumed(door, query="lamp")) == [third.session]
    assert found(resumed(door, session_id=first.session)) == [first.session]
    assert found(resumed(door)) == [second.session, first.session]
    assert process_time() - began < SECONDS_MAX


def test_sessions_outside_a_repository_are_offered_by_their_folder(door: FrontDoor) -> None:
    subprocess.run(["rm", "-rf", str(door.workspace / ".git")], check=True)
    door.start()
    seed(door, 1)
    mine = found(resumed(door, same_workspace_only=True))
    assert len(mine) == 1
    assert found(resumed(door)) == mine
    assert found(resumed(door, query="login", same_workspace_only=True)) == []

"""Checks (D14): what the engine's own runner recorded decides, for the attempt it ran them for."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.application.record_checks import CHECK_OUTPUT_BYTES_MAX, record_checks
from headway.application.requests import CheckRun, RecordChecks, Reply
from headway.application.verify_store import verify_store
from headway.bootstrap import DATABASE_NAME
from headway.domain.errors import Code
from headway.domain.events import ChecksRecorded
from headway.domain.ids import Digest
from headway.domain.values import Json, JsonObject
from headway.ports.sessions import SessionQuery
from tests.support.front_door import FrontDoor, open_front_door

CHECKED: JsonObject = {
    "id": "checked",
    "name": "Checked",
    "description": "A step with two checks.",
    "version": "1.0.0",
    "steps": [
        {
            "id": "fix",
            "title": "Fix",
            "prompt": "Fix it.",
            "checks": [{"id": "unit", "run": "make test"}, {"id": "lint", "run": "make lint"}],
        },
        {"id": "tell", "title": "Tell", "prompt": "Tell it."},
    ],
}


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        opened.write("checked.json", CHECKED)
        yield opened


def ran(door: FrontDoor, token: Json, *runs: CheckRun) -> Reply:
    return record_checks(door.engine, RecordChecks(continue_token=str(token), runs=runs))


def run(check: str, exit_code: int | None, output: bytes = b"") -> CheckRun:
    return CheckRun(check=check, exit_code=exit_code, output=output, duration_ms=12)


def test_passing_checks_let_a_step_be_left_without_a_gap(door: FrontDoor) -> None:
    token = door.start("checked")["continueToken"]
    ran(door, token, run("unit", 0), run("lint", 0))
    reply = door.advance(token)
    assert reply["kind"] == "ok"
    assert "warnings" not in reply
    door.advance(reply["continueToken"])
    assert door.engine.sessions.find(SessionQuery()).rows[0].status == "complete"


def test_a_failing_check_blocks_and_one_that_did_not_run_warns(door: FrontDoor) -> None:
    token = door.start("checked")["continueToken"]
    ran(door, token, run("unit", 2), run("lint", None))
    blocked = door.advance(token)
    assert blocked["kind"] == "blocked"
    assert "CHECK_FAILED" in str(blocked["blockers"])
    assert "make test" in str(blocked["blockers"])
    assert "lint" not in str(blocked["blockers"])
    ran(door, blocked["retryContinueToken"], run("unit", 0))
    passed = door.advance(blocked["retryContinueToken"])
    assert passed["kind"] == "ok"
    assert "CHECK_NOT_RUN" in str(passed["warnings"])
    assert "make lint" in str(passed["warnings"])


def test_results_count_for_the_attempt_they_were_recorded_for_alone(door: FrontDoor) -> None:
    first = door.start("checked")["continueToken"]
    other = door.rehydrate(first)["continueToken"]
    ran(door, first, run("unit", 1))
    assert door.advance(other)["kind"] == "ok"
    assert door.advance(first)["kind"] == "blocked"


def test_later_results_replace_the_earlier_ones(door: FrontDoor) -> None:
    token = door.start("checked")["continueToken"]
    ran(door, token, run("unit", 1), run("lint", 0))
    ran(door, token, run("unit", 0), run("lint", 0))
    assert "warnings" not in door.advance(token)


def test_what_a_check_printed_is_kept_and_its_digest_names_it(door: FrontDoor) -> None:
    token = door.start("checked")["continueToken"]
    long = b"begin" + b"x" * CHECK_OUTPUT_BYTES_MAX + b"end \xff"
    ran(door, token, run("unit", 0, b"3 passed"), run("lint", 1, long))
    (event,) = (r.event for r in door.events() if isinstance(r.event, ChecksRecorded))
    short, cut = (door.engine.ledger.blob(Digest(str(r.output_digest))) for r in event.results)
    assert short == b"3 passed"
    assert len(cut) == CHECK_OUTPUT_BYTES_MAX
    assert cut.startswith(b"beginx")
    assert cut.endswith(b"xend \xff")
    assert f"{len(long)} bytes in all".encode() in cut
    assert [result.duration_ms for result in event.results] == [12, 12]


@pytest.mark.parametrize(
    ("runs", "kind"),
    [
        ((run("unit", 0), run("smoke", 0)), "unknown_check"),
        ((run("unit", 0), run("unit", 1)), "check_results"),
        ((), "check_results"),
        ((run("unit", 2**40),), "check_results"),
        ((CheckRun(check="unit", exit_code=0, duration_ms=-1),), "check_results"),
    ],
)
def test_results_that_cannot_be_are_refused(
    door: FrontDoor, runs: tuple[CheckRun, ...], kind: str
) -> None:
    token = door.start("checked")["continueToken"]
    with door.refused(Code.VALIDATION_ERROR, kind):
        ran(door, token, *runs)
    assert door.advance(token)["kind"] == "ok"


def test_results_for_an_attempt_that_has_ended_are_refused(door: FrontDoor) -> None:
    token = door.start("checked")["continueToken"]
    ran(door, token, run("unit", 1))
    blocked = door.advance(token)
    with door.refused(Code.PRECONDITION_FAILED, "attempt_ended"):
        ran(door, token, run("unit", 0))
    after = door.advance(blocked["retryContinueToken"])
    with door.refused(Code.VALIDATION_ERROR, "unknown_check"):
        ran(door, after["continueToken"], run("unit", 0))
    with door.refused(Code.TOKEN_SCOPE_MISMATCH):
        ran(door, after["checkpointToken"], run("unit", 0))


def test_verify_names_the_event_whose_output_was_lost(tmp_path: Path) -> None:
    with open_front_door(tmp_path) as door:
        door.write("checked.json", CHECKED)
        token = door.start("checked")["continueToken"]
        ran(door, token, run("unit", 0, b"3 passed"))
        assert verify_store(door.engine).problems == ()
    tampered = sqlite3.connect(tmp_path / "home" / DATABASE_NAME)
    with tampered:
        lost = tampered.execute("DELETE FROM blobs WHERE data = ?", (b"3 passed",))
        assert lost.rowcount == 1
    tampered.close()
    with open_front_door(tmp_path) as door:
        (problem,) = verify_store(door.engine).problems
        assert problem.version == 2
        assert "names the blob" in problem.what
        assert "missing" in problem.what

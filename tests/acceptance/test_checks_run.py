"""Checks run by the engine itself (D14): what a command says decides, not what an agent claims."""

import json
import shlex
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from headway.application.record_checks import record_checks
from headway.application.requests import CheckRun, Preferences, RecordChecks, Reply
from headway.domain.errors import Code
from headway.domain.events import ChecksRecorded, StepAdvanced
from headway.domain.ids import Digest
from headway.domain.values import Json, JsonObject
from headway.ports.sessions import SessionQuery
from tests.support.front_door import FrontDoor, open_front_door
from tests.support.living import eventually, is_alive
from tests.support.postgres import require_url, schema


@contextmanager
def checked(
    root: Path,
    *commands: str,
    seconds: int = 60,
    checks: str = "run",
    settings: Mapping[str, str] = {},
) -> Iterator[FrontDoor]:
    """Open a door to a workflow of one step with these checks, called c0, c1 and so on."""
    step: JsonObject = {
        "id": "fix",
        "title": "Fix",
        "prompt": "Fix it.",
        "checks": [
            {"id": f"c{number}", "run": command, "timeoutSeconds": seconds}
            for number, command in enumerate(commands)
        ],
    }
    flow: JsonObject = {
        "id": "checked",
        "name": "Checked",
        "description": "One step with checks.",
        "version": "1.0.0",
        "steps": [step],
    }
    with open_front_door(root, HEADWAY_CHECKS=checks, **dict(settings)) as door:
        door.write("checked.json", flow)
        yield door


def recorded(door: FrontDoor) -> list[ChecksRecorded]:
    return [each.event for each in door.events() if isinstance(each.event, ChecksRecorded)]


def blockers(reply: Reply) -> str:
    """Return the words of the one check that failed."""
    assert reply["kind"] == "blocked"
    told = json.loads(json.dumps(reply["blockers"]))["blockers"]
    assert [each["code"] for each in told] == ["CHECK_FAILED"]
    return f"{told[0]['message']} {told[0]['suggestedFix']}"


def test_a_step_is_left_once_its_checks_pass_and_what_they_printed_is_kept(tmp_path: Path) -> None:
    with checked(tmp_path, "pwd", "echo oh >&2") as door:
        reply = door.advance(door.start("checked")["continueToken"])
        assert (reply["kind"], reply["isComplete"]) == ("ok", True)
        assert "warnings" not in reply
        ((first, second),) = (event.results for event in recorded(door))
        assert (first.exit_code, second.exit_code) == (0, 0)
        printed = [door.engine.ledger.blob(Digest(str(r.output_digest))) for r in (first, second)]
        assert printed == [f"{door.workspace}\n".encode(), b"oh\n"]


def test_a_failing_check_says_what_it_ran_and_what_came_of_it(tmp_path: Path) -> None:
    with checked(tmp_path, "cat mended || { echo 'assert 1 == 2'; exit 3; }", "true") as door:
        blocked = door.advance(door.start("checked")["continueToken"])
        told = blockers(blocked)
        assert "c0 failed" in told
        assert "exit code 3" in told
        assert "cat mended" in told
        assert "assert 1 == 2" in told
        (door.workspace / "mended").write_text("yes")
        assert door.advance(blocked["retryContinueToken"])["kind"] == "ok"
        assert [event.results[0].exit_code for event in recorded(door)] == [3, 0]
        (found,) = door.engine.sessions.find(SessionQuery()).rows
        shown = str(door.verbs.tell_session(found.session)["rows"])
        assert "check c0: exit code 3" in shown
        assert "check c0: exit code 0" in shown


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Yield the settings that name a store."""
    if request.param == "sqlite":
        yield {}
        return
    with schema(require_url()) as url:
        yield {"HEADWAY_DATABASE_URL": url}


def test_of_a_long_output_the_end_is_told_whatever_bytes_it_is_of(
    tmp_path: Path, store: dict[str, str]
) -> None:
    command = "seq 1 20000; printf 'a\\xff\\0\\x1b[31m last words\\n'; false"
    with checked(tmp_path, command, settings=store) as door:
        told = blockers(door.advance(door.start("checked")["continueToken"]))
        assert "last words" in told
        assert "20000" in told
        assert "\n19000\n" not in told
        assert len(told.encode()) < 1_600


def test_what_would_be_refused_anyway_is_not_checked(tmp_path: Path) -> None:
    with checked(tmp_path, "touch ran") as door:
        blocked = door.advance(door.start("checked")["continueToken"], notes="")
        assert "CHECK_FAILED" not in str(blocked["blockers"])
        assert not (door.workspace / "ran").exists()
        assert recorded(door) == []
        assert door.advance(blocked["retryContinueToken"])["kind"] == "ok"
        assert (door.workspace / "ran").exists()


def test_a_check_past_its_time_has_failed_and_is_gone(tmp_path: Path) -> None:
    slow = "echo begun; sleep 60 & echo $! > pid; wait"
    with checked(tmp_path, slow, seconds=1) as door:
        told = blockers(door.advance(door.start("checked")["continueToken"]))
        assert "ended after 1 s" in told
        assert "begun" in told
        pid = int((door.workspace / "pid").read_text())
        eventually(lambda: not is_alive(pid))


def test_a_check_sees_no_secret(tmp_path: Path) -> None:
    secrets = {"ANTHROPIC_API_KEY": "k1", "DB_PASSWORD": "k2", "GIT_DIR": "/g"}
    with checked(tmp_path, "env", settings=secrets) as door:
        assert door.advance(door.start("checked")["continueToken"])["kind"] == "ok"
        ((result,),) = (event.results for event in recorded(door))
        seen = door.engine.ledger.blob(Digest(str(result.output_digest))).decode()
        assert not any(each in seen for each in ("API_KEY", "PASSWORD", "HEADWAY_", "GIT_DIR"))


def test_one_hand_in_sent_by_many_is_checked_once(tmp_path: Path) -> None:
    with checked(tmp_path, "echo once >> ran; sleep 0.5") as door:
        token = door.start("checked")["continueToken"]
        replies: list[Reply] = []
        callers = [
            threading.Thread(target=lambda: replies.append(door.advance(token))) for _ in range(4)
        ]
        for each in callers:
            each.start()
        for each in callers:
            each.join()
        assert (door.workspace / "ran").read_text() == "once\n"
        assert [reply["kind"] for reply in replies] == ["ok"] * 4
        assert sum(isinstance(each.event, StepAdvanced) for each in door.events()) == 1


@pytest.mark.parametrize("before", [0, 1])
def test_results_of_a_hand_in_that_was_cut_short_do_not_count(tmp_path: Path, before: int) -> None:
    with checked(tmp_path, "test -e mended") as door:
        token: Json = door.start("checked")["continueToken"]
        runs = (CheckRun(check="c0", exit_code=before),)
        record_checks(door.engine, RecordChecks(continue_token=str(token), runs=runs))
        if before:
            (door.workspace / "mended").touch()
        assert door.advance(token)["kind"] == ("ok" if before else "blocked")


def test_a_command_that_is_not_there_has_failed(tmp_path: Path) -> None:
    with checked(tmp_path, "no-such-command-anywhere") as door:
        told = blockers(door.advance(door.start("checked")["continueToken"]))
        assert "exit code 127" in told
        assert "not found" in told


def test_nothing_is_run_unless_the_server_is_told_to(tmp_path: Path) -> None:
    with checked(tmp_path, "touch ran", checks="off") as door:
        reply = door.advance(door.start("checked")["continueToken"])
        assert "CHECK_NOT_RUN" in str(reply["warnings"])
        assert not (door.workspace / "ran").exists()


def test_a_session_that_never_stops_keeps_a_failed_check_as_a_gap(tmp_path: Path) -> None:
    with checked(tmp_path, "false") as door:
        chosen = Preferences(autonomy="full_auto_never_stop")
        token = door.start("checked", preferences=chosen)["continueToken"]  # type: ignore[arg-type]  # a request's field
        assert "CHECK_FAILED" in str(door.advance(token)["warnings"])


def test_a_token_that_is_none_is_refused_as_ever(tmp_path: Path) -> None:
    with checked(tmp_path, "touch ran") as door:
        with door.refused(Code.TOKEN_INVALID_FORMAT):
            door.advance("ct_short")
        assert not (door.workspace / "ran").exists()


def test_a_command_is_run_as_its_author_wrote_it_whatever_goal_and_context_say(
    tmp_path: Path,
) -> None:
    goal = "$(touch pwned); {{goal}}"
    with checked(tmp_path, f"echo {shlex.quote('{{goal}}')}") as door:
        token = door.start("checked", goal=goal)["continueToken"]
        assert door.advance(token, context={"goal": "; touch pwned"})["kind"] == "ok"
        ((result,),) = (event.results for event in recorded(door))
        assert door.engine.ledger.blob(Digest(str(result.output_digest))) == b"{{goal}}\n"
        assert not (door.workspace / "pwned").exists()

"""Checks that a server runs: they may take long, and nobody else waits for them."""

import json
import threading
from pathlib import Path

from headway.domain.values import Json, JsonObject
from tests.support.living import eventually, is_alive
from tests.support.up import Up, call, prepare, told, up

CALLS = 16  # more than the threads that answer calls
CHECKED = {
    "id": "checked",
    "name": "Checked",
    "description": "One step with a check.",
    "version": "1.0.0",
    "steps": [
        {
            "id": "fix",
            "title": "Fix",
            "prompt": "Fix it.",
            "checks": [
                {"id": "slow", "run": "echo $$ >> begun; until [ -e go ]; do sleep 0.05; done"}
            ],
        }
    ],
}


def test_calls_that_wait_for_checks_keep_nobody_else_waiting(tmp_path: Path) -> None:
    work = prepare(tmp_path)
    (tmp_path / "files" / "checked.json").write_text(json.dumps(CHECKED))
    with up(tmp_path, HEADWAY_CHECKS="run") as server:
        answers: list[dict[str, Json]] = []
        callers = [_hand_in(server, work, answers) for _ in range(CALLS)]
        eventually((work / "begun").exists)
        plain = server.start(work)
        assert server.advance(plain["continueToken"])["kind"] == "ok"
        assert not answers
        (work / "go").touch()
        for each in callers:
            each.join()
    assert [answer["kind"] for answer in answers] == ["ok"] * CALLS


def test_a_server_that_dies_leaves_no_check_behind_and_the_next_one_runs_it_again(
    tmp_path: Path,
) -> None:
    work = prepare(tmp_path)
    (tmp_path / "files" / "checked.json").write_text(json.dumps(CHECKED))
    with up(tmp_path, HEADWAY_CHECKS="run") as server:
        token = server.start(work, "checked")["continueToken"]
        caller = threading.Thread(target=_cut, args=(server, token))
        caller.start()
        eventually(lambda: (work / "begun").exists() and bool((work / "begun").read_text()))
        server.kill()
        caller.join()
        pid = int((work / "begun").read_text())
        eventually(lambda: not is_alive(pid))
    (work / "go").touch()
    with up(tmp_path, HEADWAY_CHECKS="run") as server:
        reply = server.advance(token)
    assert (reply["kind"], reply["isComplete"]) == ("ok", True)
    assert "warnings" not in reply
    assert len((work / "begun").read_text().split()) == 2


def _hand_in(server: Up, work: Path, answers: list[dict[str, Json]]) -> threading.Thread:
    token = server.start(work, "checked")["continueToken"]
    caller = threading.Thread(target=lambda: answers.append(server.advance(token)))
    caller.start()
    return caller


def _cut(server: Up, token: Json) -> None:
    try:
        server.advance(token)
    except OSError:
        return
    raise AssertionError("a server that was killed answered")


def test_a_server_told_to_stop_ends_its_checks_and_says_that_the_call_may_be_sent_again(
    tmp_path: Path,
) -> None:
    work = prepare(tmp_path)
    (tmp_path / "files" / "checked.json").write_text(json.dumps(CHECKED))
    with up(tmp_path, HEADWAY_CHECKS="run") as server:
        token = server.start(work, "checked")["continueToken"]
        handed_in: JsonObject = {
            "continueToken": token,
            "intent": "advance",
            "output": {"notesMarkdown": "done"},
        }
        met: list[tuple[int, dict[str, Json]]] = []
        message = call("continue_workflow", handed_in)
        caller = threading.Thread(target=lambda: met.append(server.send(message)))
        caller.start()
        eventually(lambda: (work / "begun").exists() and bool((work / "begun").read_text()))
        assert server.stop() == 0
        caller.join()
    ((status, answer),) = met
    assert status == 503
    assert told(answer)["code"] == "SERVER_LEAVING"
    pid = int((work / "begun").read_text())
    eventually(lambda: not is_alive(pid))

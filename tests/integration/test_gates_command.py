"""`headway gates` and an agent's server as two processes on one home."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.domain.values import Json, JsonObject
from tests.support.called import called
from tests.support.front_door import PLAIN
from tests.support.served import Served, serve

GATED: JsonObject = {
    **PLAIN,
    "id": "gated",
    "steps": [
        {
            "id": "plan",
            "title": "Plan",
            "prompt": "Plan it.",
            "requireConfirmation": {"kind": "human_approval"},
        },
        {"id": "build", "title": "Build", "prompt": "Build it."},
    ],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("work", "files"):
        (tmp_path / name).mkdir()
    (tmp_path / "files" / "gated.json").write_text(json.dumps(GATED), "utf-8")
    return tmp_path


@pytest.fixture
def server(root: Path) -> Iterator[Served]:
    with serve(root, HEADWAY_GATES="enforce") as served:
        yield served


def environment(root: Path) -> dict[str, str]:
    own = {"HOME": str(root), "HEADWAY_HOME": str(root / "home"), "LOGNAME": "ann"}
    return {**os.environ, **own}  # noqa: TID251


def headway(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call a person's command in this process; the server is the other one."""
    return called(arguments, root, environment(root))


def on_a_terminal(root: Path, answer: str, *arguments: str) -> str:
    """Run a command on a terminal of its own, answer its question, and return what it showed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "headway", *arguments],
        env=environment(root),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        os.write(ours, answer.encode() + b"\n")
        shown = b""
        while True:
            try:
                more = os.read(ours, 65_536)
            except OSError:  # how a terminal ends when the last process on it left
                break
            if not more:
                break
            shown += more
        process.wait(30)
    os.close(ours)
    return shown.decode()


def asked(server: Served, root: Path, notes: str = "The plan.") -> tuple[Json, dict[str, Json]]:
    token = server.start(root / "work", "gated")["continueToken"]
    reply = server.advance(token, notes)
    assert reply["kind"] == "gate_checkpoint"
    return token, reply


def test_an_agent_is_told_the_command_and_a_person_lists_shows_and_approves(
    server: Served, root: Path
) -> None:
    assert headway(root, "gates", "list").stdout == "No gate waits for a decision.\n"
    token, reply = asked(server, root)
    name, shown = str(reply["gateId"]), str(reply["shown"])
    told = server.told("continue_workflow", continueToken=token, intent="advance")
    assert f"headway gates show {name}" in told
    assert f"headway gates approve {name}" in told
    listed = headway(root, "gates", "list").stdout
    assert name in listed
    assert "Plan (plan)  Try it" in listed
    page = headway(root, "gates", "show", name).stdout
    for text in ("Plan it.", "The plan.", f"shown  {shown}", f"approve {name} --shown {shown}"):
        assert text in page
    done = headway(root, "gates", "approve", name, "--shown", shown, "--because", "Sound.")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"{name} approved by ann")
    assert "Next step: Build." in done.stdout
    after = server.advance(token)
    assert isinstance(after["pending"], dict)
    assert after["pending"]["stepId"] == "build"
    assert "approved by ann" in headway(root, "gates", "show", name).stdout
    again = headway(root, "gates", "reject", name, "--shown", shown, "--because", "No.")
    assert again.returncode == 1
    assert f"The gate {name} was approved by ann: Sound." in again.stderr


def test_a_rejection_reaches_the_agent_with_its_reason(server: Served, root: Path) -> None:
    token, reply = asked(server, root)
    name, shown = str(reply["gateId"]), str(reply["shown"])
    assert headway(root, "gates", "reject", name, "--shown", shown).returncode == 2
    done = headway(root, "gates", "reject", name, "--shown", shown, "--because", "Too large.")
    assert done.returncode == 0
    blocked = server.advance(token)
    assert "Too large." in str(blocked["blockers"])
    assert server.advance(blocked["retryContinueToken"], "Less.")["kind"] == "gate_checkpoint"


def test_a_new_client_that_takes_up_a_rejected_step_reads_why(server: Served, root: Path) -> None:
    _, reply = asked(server, root)
    name, shown = str(reply["gateId"]), str(reply["shown"])
    headway(root, "gates", "reject", name, "--shown", shown, "--because", "Too large; split it.")
    assert server.leave() == 0
    with serve(root, HEADWAY_GATES="enforce") as another:
        found = another.call("resume_session", workspacePath=str(root / "work"))
        assert isinstance(found["candidates"], list)
        (candidate,) = found["candidates"]
        assert isinstance(candidate, dict)
        call = candidate["nextCall"]
        assert isinstance(call, dict)
        assert isinstance(call["params"], dict)
        text = another.told("continue_workflow", **call["params"])
    said = "ann did not approve what was handed in on this step: Too large; split it."
    assert f"Warning: {said}" in text


def test_nothing_is_answered_unseen(server: Served, root: Path) -> None:
    _, reply = asked(server, root)
    name = str(reply["gateId"])
    blind = headway(root, "gates", "approve", name)
    assert blind.returncode == 2
    assert f"headway gates show {name}" in blind.stderr
    assert str(reply["shown"]) not in blind.stderr
    wrong = headway(root, "gates", "approve", name, "--shown", "sha256:" + "0" * 64)
    assert wrong.returncode == 1
    assert str(reply["shown"]) not in wrong.stderr
    assert name in headway(root, "gates", "list").stdout


def test_on_a_terminal_the_gate_is_shown_and_then_asked_about(server: Served, root: Path) -> None:
    token, reply = asked(server, root)
    name = str(reply["gateId"])
    left = on_a_terminal(root, "n", "gates", "approve", name)
    assert "The plan." in left
    assert "Approve this?" in left
    assert server.advance(token) == reply
    taken = on_a_terminal(root, "y", "gates", "approve", name)
    assert f"{name} approved by ann" in taken
    assert server.advance(token)["kind"] == "ok"


def test_json_says_all_of_it(server: Served, root: Path) -> None:
    _, reply = asked(server, root)
    name = str(reply["gateId"])
    listed = json.loads(headway(root, "gates", "list", "--json").stdout)
    assert [gate["gateId"] for gate in listed["gates"]] == [name]
    shown = json.loads(headway(root, "gates", "show", name, "--json").stdout)
    assert (shown["notes"], shown["shown"]) == ("The plan.", reply["shown"])
    answer = ("--shown", shown["shown"], "--by", "the release board", "--json")
    done = json.loads(headway(root, "gates", "approve", name, *answer).stdout)
    assert (done["verdict"], done["decidedBy"]) == ("approved", "the release board")


def test_what_an_agent_wrote_cannot_move_the_cursor_of_whoever_reads_it(
    server: Served, root: Path
) -> None:
    _, reply = asked(server, root, "fine\x1b[2J\x1b[1;1H\u202egnorw\rhidden\nnext")
    page = headway(root, "gates", "show", str(reply["gateId"])).stdout
    assert not {"\x1b", "\u202e", "\r"} & set(page)
    assert "    next" in page


def test_a_gate_outlives_the_server_that_opened_it(root: Path) -> None:
    with serve(root, HEADWAY_GATES="enforce") as server:
        token, reply = asked(server, root)
        server.kill()
    name, shown = str(reply["gateId"]), str(reply["shown"])
    assert headway(root, "gates", "approve", name, "--shown", shown).returncode == 0
    with serve(root) as server:
        assert server.advance(token)["kind"] == "ok"


def test_the_preferences_of_a_session_are_shown_and_set(server: Served, root: Path) -> None:
    token, _ = asked(server, root)
    listed = json.loads(headway(root, "gates", "list", "--json").stdout)
    session = str(listed["gates"][0]["sessionId"])
    told = headway(root, "sessions", "preferences", session).stdout
    assert "from step plan on: autonomy guided, risk conservative" in told
    bold = ("--autonomy", "full_auto_never_stop", "--risk", "balanced")
    told = headway(root, "sessions", "preferences", session, *bold).stdout
    assert "autonomy full_auto_never_stop, risk balanced (before: guided, conservative)" in told
    read = server.rehydrate(token, root / "work")
    assert read["preferences"] == {"autonomy": "full_auto_never_stop", "riskPolicy": "balanced"}
    assert headway(root, "sessions", "preferences", session, "--risk", "wild").returncode == 2

"""One damaged row and what people and agents are told: every list shows the rest, and says so.

SQLite keeps whatever it is given: numbers where texts were, bytes that are no text, and so on.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from headway.application.list_sessions import list_sessions
from headway.application.requests import ResumeSession, StartWorkflow
from headway.application.resume_session import resume_session
from headway.application.start_workflow import start_workflow
from headway.bootstrap import open_engine, open_runs
from headway.cli.main import cli
from headway.config import Settings
from headway.domain.errors import SessionNotHealthy
from headway.mcp.render import render_reply
from tests.support.hitting import hit_file
from tests.support.recorded_runs import waiting_run

ODD = {
    "no UTF-8": "CAST(X'61ff' AS TEXT)",
    "bytes": "X'61ff'",
    "no number": "'many'",
    "a number": "7",
    "a date beyond all": str(2**60),
    "nothing": "X''",
}
# What may be put into a column without making it another value of its kind.
SUMMARY = [
    *(("goal", odd) for odd in ("no UTF-8", "bytes", "nothing")),
    *(("status", odd) for odd in ODD),
    *(("nonce", odd) for odd in ODD if odd != "nothing"),
    *(("updated_at", odd) for odd in ODD if odd != "a number"),
]
TASK = [
    *(("goal", odd) for odd in ("no UTF-8", "bytes", "nothing")),
    *(("priority", odd) for odd in ("no UTF-8", "bytes", "no number", "nothing")),
    *((column, odd) for column in ("state", "tally", "owner") for odd in ODD),
]


class Home:
    """Three sessions and three runs, one of each damaged, and the command line on them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "headway.db"
        self.folder = folder
        self.settings = Settings(home=folder, user_home=folder)
        with open_engine(self.settings) as engine:
            for goal in ("mend the door", "mend the roof", "mend the wall"):
                asked = StartWorkflow(
                    workflow_id="hw.bug-fix", workspace_path=str(folder), goal=goal
                )
                start_workflow(engine, asked)
            found = list_sessions(engine, 3).rows
        self.last, self.damaged, self.first = (each.session for each in found)
        with open_runs(self.settings) as runs:
            self.runs = [waiting_run(runs, number) for number in range(3)]

    def hit_session(self, column: str, odd: str) -> None:
        where = "stream = (SELECT id FROM streams WHERE name = ?)"
        sql = f"UPDATE sessions SET {column} = {ODD[odd]} WHERE {where}"  # noqa: S608  from above
        hit_file(self.path, sql, (f"session:{self.damaged}",))

    def hit_run(self, column: str, odd: str) -> None:
        sql = f"UPDATE tasks SET {column} = {ODD[odd]} WHERE run = ?"  # noqa: S608  from above
        hit_file(self.path, sql, (self.runs[1],))

    def ask(self, *words: str) -> Result:
        return CliRunner().invoke(cli, words)

    def told(self, *words: str) -> dict[str, Any]:
        done = self.ask(*words, "--json")
        assert done.exit_code == 0, done.output
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def resume(self, query: str | None = None, session_id: str | None = None) -> dict[str, Any]:
        asked = ResumeSession(workspace_path=str(self.folder), query=query, session_id=session_id)
        with open_engine(self.settings) as engine:
            return {**resume_session(engine, asked)}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path))
    return Home(tmp_path)


@pytest.mark.parametrize(("column", "odd"), SUMMARY)
def test_a_damaged_session_hides_no_other_and_is_named(home: Home, column: str, odd: str) -> None:
    home.hit_session(column, odd)
    for words in (("list",), ("search", "mend"), ("list", "--limit", "2")):
        listed = home.told("sessions", *words)
        assert [each["sessionId"] for each in listed["sessions"]] == [home.last, home.first]
        assert listed["unreadable"] == [home.damaged]
    status = home.told("status")
    assert [each["sessionId"] for each in status["latest"]] == [home.last, home.first]
    assert status["store"]["unreadable"] == [home.damaged]
    for query in (None, "mend"):
        reply = home.resume(query)
        assert [each["sessionId"] for each in reply["candidates"]] == [home.last, home.first]
        assert home.damaged in reply["warnings"][0]
    assert home.ask("sessions", "show", home.first).exit_code == 0


def test_who_lists_or_resumes_is_told_what_is_left_out_and_what_to_do(home: Home) -> None:
    home.hit_session("status", "bytes")
    told = (
        f"A damaged session is left out: {home.damaged}. `headway verify` says what is wrong, and "
        "`headway rebuild` makes its rows anew."
    )
    listed = home.ask("sessions", "list")
    assert listed.stderr == f"{told}\n"
    assert home.damaged not in listed.stdout
    assert f"Warning: {told}" in render_reply("resume_session", home.resume())
    nothing = render_reply("resume_session", home.resume("elephant"))
    assert nothing.startswith("No session matches.")
    assert home.damaged in home.ask("status").stdout


@pytest.mark.parametrize("name", [slice(None), slice(5, None)])
def test_who_asks_for_the_damaged_session_is_refused_with_its_code(home: Home, name: slice) -> None:
    home.hit_session("status", "bytes")
    shown = home.ask("sessions", "show", home.damaged[name], "--json")
    assert shown.exit_code == 1
    assert json.loads(shown.stderr)["code"] == "SESSION_NOT_HEALTHY"
    assert home.damaged in json.loads(shown.stderr)["message"]
    with pytest.raises(SessionNotHealthy):
        home.resume(session_id=home.damaged)


def test_the_latest_session_is_never_silently_another_than_the_latest(home: Home) -> None:
    home.hit_session("updated_at", "no number")  # it sorts before every number
    assert home.ask("sessions", "show").exit_code == 1
    assert home.ask("sessions", "show", home.last).exit_code == 0


def test_a_rebuild_makes_the_damaged_row_anew(home: Home) -> None:
    for column, odd in (("status", "bytes"), ("nonce", "no number"), ("updated_at", "nothing")):
        home.hit_session(column, odd)
    assert home.ask("verify").exit_code == 1
    assert home.ask("rebuild").exit_code == 0
    assert home.ask("verify").exit_code == 0
    listed = home.told("sessions", "list")
    assert (len(listed["sessions"]), listed["unreadable"]) == (3, [])


@pytest.mark.parametrize(("column", "odd"), TASK)
def test_a_damaged_run_hides_no_other_and_is_named(home: Home, column: str, odd: str) -> None:
    first, damaged, last = home.runs
    home.hit_run(column, odd)
    listed = home.told("runs", "list")
    assert [each["run"] for each in listed["runs"]] == [last, first]
    assert listed["unreadable"] == [damaged]
    waiting = home.told("queue", "list")
    assert [each["run"] for each in waiting["waiting"]] == [first, last]
    assert waiting["unreadable"] == ([] if column == "state" else [damaged])
    stats = home.told("stats")
    assert (stats["total"]["runs"], stats["unreadable"]) == (2, [damaged])
    assert home.ask("queue", "move", last, "--first").exit_code == 0
    assert home.told("queue", "list")["waiting"][0]["run"] == last
    for words in (("runs", "show"), ("queue", "cancel")):
        for name in (damaged, damaged.removeprefix("task_")):
            refused = home.ask(*words, name)
            assert refused.exit_code == 1
            assert f"A stored row of {damaged} is damaged" in refused.stderr
    assert f"run:{damaged} has a row in the queue" in home.ask("verify").stdout


def test_who_lists_runs_is_told_which_is_left_out(home: Home) -> None:
    home.hit_run("goal", "bytes")
    told = f"A damaged run is left out: {home.runs[1]}."
    for words in (("runs", "list"), ("queue", "list"), ("stats",)):
        assert told in home.ask(*words).stderr
    assert home.runs[1] in home.ask("status").stdout


def test_a_damaged_gate_hides_no_other_and_is_named_by_its_session(home: Home) -> None:
    for number, session in enumerate((home.first, home.damaged, home.last)):
        hit_file(
            home.path,
            "INSERT INTO gates SELECT id, 1, ?, ? FROM streams WHERE name = ?",
            (
                bytes([number]) * (5 if session == home.damaged else 12),
                number,
                f"session:{session}",
            ),
        )
    listed = home.told("gates", "list")
    assert [each["sessionId"] for each in listed["gates"]] == [home.first, home.last]
    assert listed["unreadable"] == [home.damaged]
    assert home.damaged in home.ask("gates", "list").stderr


@pytest.mark.parametrize("odd", ["no UTF-8", "bytes", "nothing"])
def test_a_damaged_source_hides_no_other_and_is_told_of(home: Home, odd: str) -> None:
    hit_file(home.path, "INSERT INTO sources (path) VALUES ('/flows')")
    hit_file(home.path, f"INSERT INTO sources (path) VALUES ({ODD[odd]})")  # noqa: S608  from above
    hit_file(
        home.path,
        "INSERT INTO git_sources (id, url, ref, path, pin) VALUES"  # noqa: S608  from above
        f" ('broken', {ODD[odd]}, '', '', '')",
    )
    listed = home.told("sources", "list")
    assert "/flows" in [each["path"] for each in listed["sources"]]
    said = " ".join(problem for each in listed["sources"] for problem in each["problems"])
    assert "attached folder" in said
    assert "headway sources remove broken" in said
    assert home.ask("workflows", "list").exit_code == 0
    assert home.ask("sources", "remove", "broken").exit_code == 0
    assert "broken" not in home.ask("sources", "list").stdout


@pytest.mark.parametrize("odd", ODD)
def test_a_damaged_key_is_refused_with_a_code_and_replaced_by_a_rotation(
    home: Home, odd: str
) -> None:
    hit_file(home.path, f"UPDATE keys SET key = {ODD[odd]}")  # noqa: S608  from above
    with pytest.raises(SessionNotHealthy) as caught:
        home.resume()
    assert "headway keys rotate" in caught.value.remedy
    assert home.ask("sessions", "list").exit_code == 0
    assert home.ask("keys", "rotate").exit_code == 0
    assert len(home.resume()["candidates"]) == 3

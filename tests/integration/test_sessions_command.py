"""`headway sessions`: the sessions of a home, as a person asks for them."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headway.application.list_sessions import list_sessions
from headway.application.requests import StartWorkflow
from headway.application.start_workflow import start_workflow
from headway.bootstrap import open_engine
from headway.cli.main import cli
from headway.config import Settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path))
    return tmp_path


def start(home: Path, *goals: str) -> list[str]:
    """Start a session a goal; return their ids, the latest first."""
    with open_engine(Settings(home=home, user_home=home)) as engine:
        for goal in goals:
            start_workflow(
                engine,
                StartWorkflow(workflow_id="hw.bug-fix", workspace_path=str(home), goal=goal),
            )
        return [each.session for each in list_sessions(engine, 10).rows]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["sessions", *arguments])


def test_an_empty_home_is_told_so_and_how_to_begin(home: Path) -> None:
    assert home.is_dir()
    assert run("list").output == "There is no session yet.\n"
    drawn = run("tree")
    assert drawn.exit_code == 1
    assert "headway demo" in drawn.output


def test_the_list_shows_each_session_with_status_step_and_goal(home: Path) -> None:
    ids = start(home, "mend the door", "mend the roof")
    lines = run("list").output.splitlines()
    assert [line.split()[0] for line in lines[::2]] == ids
    assert "in progress at reproduce" in lines[0]
    assert {line.strip() for line in lines[1::2]} == {
        "hw.bug-fix: mend the door",
        "hw.bug-fix: mend the roof",
    }
    assert len(run("list", "--limit", "1").output.splitlines()) == 2
    assert "roof" in run("list", "roof").output
    assert "door" not in run("list", "roof").output


def test_a_session_is_drawn_by_its_id_a_unique_beginning_or_as_the_latest(home: Path) -> None:
    (session,) = start(home, "mend the door")
    drawn = run("tree", session)
    assert drawn.exit_code == 0, drawn.output
    assert "mend the door" in drawn.output
    assert "(reproduce)  <- here" in drawn.output
    assert session in drawn.output
    for name in (session[:12], session.removeprefix("sess_")[:6]):
        assert run("tree", name).output == drawn.output
    assert run("tree").output == drawn.output


def test_an_unknown_or_shared_beginning_is_refused_with_what_to_do(home: Path) -> None:
    start(home, "one", "two")
    unknown = run("tree", "sess_0")
    assert unknown.exit_code == 1
    assert "headway sessions list" in unknown.output
    shared = run("tree", "sess_")
    assert shared.exit_code == 1
    assert "Give more of the id." in shared.output

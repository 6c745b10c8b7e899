"""What Tab completes, asked for as a shell asks."""

from pathlib import Path

import pytest

from headway.adapters.storage.sqlite import open_sqlite
from headway.bootstrap import DATABASE_NAME
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.command_line import home_of_two, run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return home_of_two(tmp_path)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_says_how_to_install_it(home: Path, shell: str) -> None:
    ran = run(home, "completion", shell)
    assert ran.returncode == 0
    assert ran.stdout.startswith("# ")
    assert f"headway completion {shell}" in ran.stdout.splitlines()[0]
    assert "_HEADWAY_COMPLETE" in ran.stdout


def offered(home: Path, words: str, current: int, **more: str) -> str:
    """Return what Tab offers for a word of a line; nothing else may be said."""
    asked = {"_HEADWAY_COMPLETE": "bash_complete", "COMP_WORDS": words}
    ran = run(home, **asked, COMP_CWORD=str(current), **more)
    assert ran.stderr == ""
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("words", "current"),
    [
        ("headway run hw.bug-f", 2),
        ("headway run bug-f", 2),
        ("headway run --workspace . hw.bug-f", 4),
        ("headway dispatch hw.bug-f", 2),
        ("headway workflows show hw.bug-f", 3),
        ("headway workflows copy hw.bug-f", 3),
        ("headway workflows preview hw.bug-f", 3),
        ("headway workflows graph bug-f", 3),
        ("headway workflows simulate hw.bug-f", 3),
        ("headway stats --workflow hw.bug-f", 3),
        ("headway runs list --workflow hw.bug-f", 4),
    ],
)
def test_tab_completes_the_id_of_a_workflow_wherever_one_is_named(
    tmp_path: Path, words: str, current: int
) -> None:
    nothing = tmp_path / "none"
    assert offered(nothing, words, current) == "plain,hw.bug-fix"
    assert not nothing.exists()


def test_tab_offers_workflows_of_every_folder_and_is_silent_about_what_is_wrong(
    home: Path, tmp_path: Path
) -> None:
    for name in ("attached", "named", "home/workflows", ".headway/workflows"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "w.yaml").write_text(f"id: mine.{len(name)}\nsteps: [broken")
    store = open_sqlite(home / DATABASE_NAME, FakeClock(), FakeEntropy(5))
    store.sources.attach(str(tmp_path / "attached"))
    store.close()
    told = offered(home, "headway run mine.", 2, HEADWAY_WORKFLOW_PATH=str(tmp_path / "named"))
    assert set(told.split()) == {"plain,mine.8", "plain,mine.5", "plain,mine.14", "plain,mine.18"}
    assert offered(home, "headway workflows preview dem", 3) == "file,dem"
    (home / DATABASE_NAME).write_bytes(b"not a database, " * 100)
    assert offered(home, "headway run mine.1", 2).split() == ["plain,mine.14", "plain,mine.18"]
    assert offered(home, "headway run x", 2, HEADWAY_PORT="no port") == ""


def test_tab_completes_commands_and_session_ids(home: Path, tmp_path: Path) -> None:
    assert offered(home, "headway sess", 1) == "plain,sessions"
    assert offered(home, "headway sessions show ", 3).count("plain,sess_") == 2
    assert offered(home, "headway gates show ", 3) == ""
    nothing = tmp_path / "none"
    assert offered(nothing, "headway sessions show ", 3) == ""
    assert not nothing.exists()

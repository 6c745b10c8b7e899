"""`headway workflows`: an author looks at the files before an agent does."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headway.cli.main import cli

SOUND = {
    "id": "acme.sound",
    "name": "Sound",
    "description": "Nothing is wrong with it",
    "version": "1.0.0",
    "steps": [{"id": "one", "title": "One", "prompt": "Do it."}],
}
BROKEN = """id: acme.broken
name: Broken
description: A misspelt key
version: 1.0.0
steps:
  - id: one
    title: One
    promt: Do it.
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path / "home"))
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "sound.json").write_text(json.dumps(SOUND), "utf-8")
    (folder / "broken.yaml").write_text(BROKEN, "utf-8")
    monkeypatch.chdir(folder)
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["workflows", *arguments])


def test_lint_names_file_place_reason_and_remedy_and_exits_with_1(files: Path) -> None:
    linted = run("lint", str(files))
    assert linted.exit_code == 1
    first, *_, last = linted.output.splitlines()
    assert first.startswith(f"{files / 'broken.yaml'}:")
    assert "UNKNOWN_KEY" in linted.output
    assert '"prompt"' in linted.output  # what was probably meant
    assert last == "2 file(s): 2 error(s), 0 warning(s)."


def test_lint_of_one_file_says_nothing_of_its_neighbour(files: Path) -> None:
    linted = run("lint", str(files / "sound.json"))
    assert (linted.exit_code, linted.output) == (0, "1 file(s): 0 error(s), 0 warning(s).\n")


def test_lint_prints_json_for_programs(files: Path) -> None:
    linted = run("lint", str(files), "--json")
    assert linted.exit_code == 1
    told = json.loads(linted.output)
    assert {Path(each["file"]).name for each in told["diagnostics"]} == {"broken.yaml"}
    assert all(each["line"] >= 6 for each in told["diagnostics"])


def test_lint_of_a_folder_without_workflow_files_says_so(files: Path) -> None:
    (files / "empty").mkdir()
    linted = run("lint", str(files / "empty"))
    assert linted.exit_code == 1
    assert "no workflow file" in linted.output


def test_the_list_shows_what_can_be_started_and_counts_what_cannot(files: Path) -> None:
    (files / ".headway" / "workflows").mkdir(parents=True)
    for name in ("sound.json", "broken.yaml"):
        (files / name).rename(files / ".headway" / "workflows" / name)
    listed = run("list")
    assert listed.exit_code == 0
    assert "acme.sound  Sound\n    Nothing is wrong with it\n" in listed.output
    assert "1 more cannot be started" in listed.output
    told = json.loads(run("list", "--json").output)
    assert "acme.sound" in [each["workflowId"] for each in told["workflows"]]

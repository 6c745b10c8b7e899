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

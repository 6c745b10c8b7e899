"""What the README and the contributor's guide say is so."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headway.config import KNOWN, TEST_DATABASE_URL
from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.mcp.tools import DESCRIPTIONS
from tests.support.decided import routines_in, workflow_files
from tests.support.served import serve

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
WORKFLOWS = ROOT / "src" / "headway" / "workflows"
LINK = re.compile(r"\]\((?!https?://)([^)#]+)\)")


def block(language: str) -> str:
    """Return the one fenced block of a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return str(found)


def test_the_workflow_of_the_readme_loads_starts_and_finishes(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    folder = workspace / ".headway" / "workflows"
    folder.mkdir(parents=True)
    (folder / "release-notes.yaml").write_text(block("yaml"), "utf-8")
    (tmp_path / "files").mkdir()
    with serve(tmp_path) as server:
        listed = server.call("list_workflows", workspacePath=str(workspace))
        assert "acme.release-notes" in json.dumps(listed["workflows"])
        assert not {"warnings", "validationWarnings"} & listed.keys()

        first = server.start(workspace, "acme.release-notes", goal="Notes for 1.4")
        assert "Goal - Notes for 1.4" in json.dumps(first["pending"])
        second = server.advance(first["continueToken"], "Nothing a user would notice.")
        assert second["nextIntent"] == "await_user_confirmation"

        blocked = server.advance(second["continueToken"], "Written.")
        assert blocked["kind"] == "blocked"
        assert "Say in your notes where the file is." in json.dumps(blocked["blockers"])
        done = server.advance(blocked["retryContinueToken"], "Written, in NOTES.md.")
        assert done["isComplete"] is True


def test_the_client_settings_of_the_readme_start_the_server() -> None:
    settings = json.loads(block("json"))["mcpServers"]["headway"]
    assert settings["command"].endswith(".venv/bin/headway")
    assert settings["args"] == ["mcp"]


def test_the_readme_names_every_tool_and_every_setting() -> None:
    for name in (*DESCRIPTIONS, *KNOWN):
        assert f"`{name}`" in README or name == TEST_DATABASE_URL


COMMANDS = set(re.findall(r"^headway (sessions \w+|demo|mcp)\b", README, re.MULTILINE))


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_commands_of_the_readme_exist(command: str) -> None:
    asked = [sys.executable, "-m", "headway", *command.split(), "--help"]
    ran = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "Usage:" in ran.stdout


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_what_a_page_points_at_is_there(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert [name for name in LINK.findall(text) if not (ROOT / name).exists()] == []
    named = re.findall(r"`((?:tests|docs|bench|scripts)/[\w./-]*)`", text)
    modules = re.findall(r"`((?:application|bench|cli|domain|mcp)/[\w./-]+)`", text)
    named += [name if (ROOT / name).exists() else f"src/headway/{name}" for name in modules]
    assert [name for name in named if not (ROOT / name).exists()] == []
    targets = re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert [name for name in targets if f"\n{name}:" not in makefile] == []


@pytest.mark.parametrize("path", workflow_files(WORKFLOWS), ids=lambda path: path.name)
def test_every_bundled_workflow_compiles_without_a_word(path: Path) -> None:
    document = read_document(path.read_bytes(), path.name)
    assert isinstance(document, Document)
    compilation = compile_workflow(document, Sources(routines=routines_in(WORKFLOWS)))
    assert compilation.workflow is not None
    assert compilation.workflow.id.startswith("hw.")
    assert compilation.diagnostics == ()

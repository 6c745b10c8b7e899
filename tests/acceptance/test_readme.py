"""What the README and the contributor's guide say is so."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from bench.figures import Figure, as_json
from bench.readme import Run, markdown, replaced
from bench.readme import block as marked
from headway.cli.clients import Way, ways
from headway.cli.main import COMMANDS, EXIT_CODES
from headway.config import KNOWN, RUN_MARK, TEST_DATABASE_URL
from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.mcp.tools import DESCRIPTIONS
from tests.support.cli_reference import commands
from tests.support.decided import routines_in, workflow_files
from tests.support.served import serve

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
GUIDE = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/guide/*.md"))
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", *GUIDE]
PROGRAM = "/path/to/headway/.venv/bin/headway"
GROUPS = {"sessions", "workflows", "sources", "gates", "keys", "runs", "queue", "worktrees"}
WORKFLOWS = ROOT / "src" / "headway" / "workflows"
OFFERED = sorted(WORKFLOWS.glob("*.yaml"))
LINK = re.compile(r"\]\((?!https?://)([^)#]+)\)")

NOBODY_SETS = {TEST_DATABASE_URL, RUN_MARK}


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


@pytest.mark.parametrize("way", ways(PROGRAM), ids=lambda way: way.client)
def test_the_readme_gives_each_client_what_the_demo_gives_it(way: Way) -> None:
    whole = json.loads(block("json")) if way.what.startswith("{") else None
    assert f"`{way.what}`" in README or json.loads(way.what) == whole


def test_figures_of_a_run_take_the_place_of_those_in_the_readme() -> None:
    figures = [
        Figure(group="advance", name="at step 10", value=1.25, unit="times", target=1.7),
        Figure(group="advance", name="bare commit", value=0.3, unit="ms"),
    ]
    run = msgspec.json.decode(as_json({"python": "3.11"}, figures), type=Run)
    told = replaced(README, "bench", markdown(run))
    assert "| advance: at step 10 | 1.250 times | 1.700 |" in marked(told, "bench")
    assert "bare commit |" not in marked(told, "bench")
    assert replaced(told, "bench", marked(README, "bench")) == README


def test_the_readme_names_every_tool_and_every_setting() -> None:
    for name in (*DESCRIPTIONS, *KNOWN):
        assert f"`{name}`" in README or name in NOBODY_SETS


def test_the_settings_of_the_readme_are_those_that_are_read() -> None:
    named = set(re.findall(r"\bHEADWAY_[A-Z_]+", README))
    assert named == set(KNOWN) - NOBODY_SETS
    told = re.sub(r"\s+", " ", EXIT_CODES.partition("Settings are")[2])
    assert set(re.findall(r"\bHEADWAY_[A-Z_]+", told)) == named


def test_the_readme_names_every_command_and_no_other() -> None:
    paths = {path for path, _ in commands()}
    leaves = {path for path in paths if not any(other.startswith(f"{path} ") for other in paths)}
    assert set(commands_named(README)) == leaves


def test_the_readme_names_every_workflow_that_comes_along_and_no_other() -> None:
    found = (
        re.search(r"^id: (hw\.\S+)$", path.read_text("utf-8"), re.MULTILINE) for path in OFFERED
    )
    assert set(re.findall(r"`(hw\.[\w.-]+)`", README)) == {each[1] for each in found if each}


def commands_named(text: str) -> Iterator[str]:
    """Yield the commands of lines like `headway sessions list | show ID    # what for`."""
    for line in re.findall(r"^headway (.*)", text, re.MULTILINE):
        group = ""
        for part in line.partition("#")[0].split("|"):
            first, *more = part.split()
            group = first if first in GROUPS else "" if first in COMMANDS else group
            words = [first, *more] if first in COMMANDS else [group, first]
            yield " ".join(["headway", *words[: 2 if group else 1]])


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_points_at_is_there(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    folder = (ROOT / page).parent
    assert [name for name in LINK.findall(text) if not (folder / name).exists()] == []
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

"""The MCP Inspector, a client that others wrote, connects over stdio and HTTP in both eras.

It is a program of Node's: `npm install --no-save @modelcontextprotocol/inspector@2` in this folder
puts it where it is looked for, as does a global install. Nothing is fetched here.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from headway.domain.values import Json, JsonObject
from tests.support.patience import SECONDS_MAX
from tests.support.up import environment, prepare, up

ROOT = Path(__file__).parents[2]
PLACES = os.pathsep.join([str(ROOT / "node_modules" / ".bin"), os.environ.get("PATH", "")])  # noqa: TID251
PROGRAM = shutil.which("mcp-inspector", path=PLACES)
TOOLS = 7
TOLD_A_FAULT = 5  # the exit code for a result that is an error
DOORS = ("stdio", "http")
ERAS = ("legacy", "modern")
PASSED = ("HEADWAY_HOME", "HEADWAY_WORKFLOW_PATH", "PYTHONPATH")

Inspect: TypeAlias = Callable[..., JsonObject]

pytestmark = pytest.mark.skipif(
    PROGRAM is None,
    reason="no MCP Inspector: npm install --no-save @modelcontextprotocol/inspector@2",
)


def inspector(root: Path, era: str, target: Sequence[str]) -> Inspect:
    """Return a call of the program against a server; it answers the result it printed."""
    # The servers it starts inherit little else of the environment.
    settings = [f"-e{name}={text}" for name, text in environment(root).items() if name in PASSED]

    def inspect(method: str, *words: str) -> JsonObject:
        assert PROGRAM is not None
        options = ["--protocol-era", era, "--quiet", "--method", method, *words]
        ran = subprocess.run(
            [PROGRAM, "--cli", *settings, *target, *options],
            env=environment(root),
            cwd=root,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        assert ran.returncode in {0, TOLD_A_FAULT}, ran.stderr
        printed: JsonObject = json.loads(ran.stdout)
        return printed

    return inspect


def follow_a_workflow(inspect: Inspect, workspace: Path) -> None:
    def call(tool: str, **arguments: Json) -> JsonObject:
        result = inspect(
            "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)
        )
        structured = result["structuredContent"]
        assert isinstance(structured, dict)
        return structured

    # --strict: a schema that some client could not read is an error.
    tools = inspect("tools/list", "--strict")["tools"]
    assert isinstance(tools, list)
    assert len(tools) == TOOLS
    at = call(
        "start_workflow", workflowId="three-steps", workspacePath=str(workspace), goal="Try it"
    )
    output: JsonObject = {"notesMarkdown": "done"}
    at = call(
        "continue_workflow", continueToken=at["continueToken"], intent="advance", output=output
    )
    assert at["kind"] == "ok"
    assert (
        call("inspect_workflow", workflowId="tree-steps", workspacePath=str(workspace))["code"]
        == "NOT_FOUND"
    )


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("door", DOORS)
def test_the_inspector_follows_a_workflow(tmp_path: Path, door: str, era: str) -> None:
    if door == "http":
        with up(tmp_path) as served:
            target = [f"{served.url}/mcp", "--transport", "http"]
            follow_a_workflow(inspector(tmp_path, era, target), prepare(tmp_path))
    else:
        target = [sys.executable, "-m", "headway", "mcp"]
        follow_a_workflow(inspector(tmp_path, era, target), prepare(tmp_path))

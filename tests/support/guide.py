"""Pages of the guide, done as a reader would do them: in a folder, with a home, block by block.

What a fenced block is for stands behind its language:

- `console`: each `$ command` is run by a shell in the folder, and what it prints must be what
  stands below it, where a line `...` stands for any lines and `...` inside a line for any text;
- `yaml title=PATH` (or another language): a file to be saved;
- `diff title=PATH`: a change of that file; with `mistake` behind it, one that the reader takes back
  after the next console block, whereupon lint must have nothing to say;
- `json call=TOOL`: a call that an agent makes, with TOKEN for the token it holds and FOLDER for the
  folder; a `text reply` below it is held against the answer's text as a console's output is;
- `json client`: settings of an MCP client.

Anything else is not done, and only `text` may be so.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headway.domain.values import Json
from tests.support.patience import SECONDS_MAX
from tests.support.served import Served, serve, structured

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)[ ]?(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, what stands behind that, and its text."""

    language: str
    words: str
    text: str
    line: int

    @property
    def title(self) -> str:
        """The path behind `title=`, empty if there is none."""
        found = re.search(r"title=(\S+)", self.words)
        return found[1] if found else ""


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text("utf-8")
    return [
        Block(found[1], found[2], found[3], text.count("\n", 0, found.start()) + 1)
        for found in _BLOCK.finditer(text)
    ]


class Reader:
    """Somebody who does what a page says, in a folder of his own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "shop"
        self.folder.mkdir()
        (root / "bin").mkdir()
        program = root / "bin" / "headway"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m headway "$@"\n', "utf-8")
        program.chmod(0o755)
        self._server: Served | None = None
        self._token = ""
        self._reply = ""
        self._mistake: tuple[Path, str] | None = None

    def follow(self, page: Path) -> int:
        """Do every block of a page; return how many mistakes were made and mended."""
        found = blocks(page)
        if not any(block.words.startswith("call=") for block in found):
            return self._do_all(page, found)
        with serve(self.root, HEADWAY_WORKFLOW_PATH="") as self._server:
            return self._do_all(page, found)

    def _do_all(self, page: Path, found: list[Block]) -> int:
        for block in found:
            self._do(block, f"{page.name}:{block.line}")
        assert self._mistake is None, "a mistake was never looked at"
        return sum(block.words.endswith("mistake") for block in found)

    def _do(self, block: Block, where: str) -> None:
        match block.language, block.words.split("=")[0]:
            case "console", _:
                self._console(block.text, where)
                self._take_back(where)
            case "diff", _:
                self._change(block, where)
            case "json", "call":
                self._call(block.words.removeprefix("call="), block.text)
            case "text", "reply":
                assert_same(block.text, self._reply, where)
            case "json", "client":
                settings = json.loads(block.text)["mcpServers"]["headway"]
                assert settings == {"command": "headway", "args": ["mcp"]}, where
            case _, "title":
                path = self.folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, "utf-8")
            case _:
                assert block.language == "text", f"{where}: nothing does this block"

    def _console(self, text: str, where: str) -> None:
        for command, expected in _commands(text):
            ran = self.run(command)
            assert_same(expected, ran, f"{where}: {command}")

    def run(self, command: str) -> str:
        """Run a command in the folder; return all that it printed."""
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder, env=self._environment(), timeout=SECONDS_MAX, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        return ran.stdout.replace(str(self.root), "/home/you")

    def _environment(self) -> dict[str, str]:
        who = {f"GIT_{role}_{what}": "you@example.org" for role in ("AUTHOR", "COMMITTER")
               for what in ("NAME", "EMAIL")}  # fmt: skip
        return {
            **os.environ,  # noqa: TID251
            **who,
            "HOME": str(self.root),
            "HEADWAY_HOME": str(self.root / "home"),
            "PATH": f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}",  # noqa: TID251
            "PYTHONPATH": str(ROOT / "src"),
            "COLUMNS": "100",
        }

    def _change(self, block: Block, where: str) -> None:
        path = self.folder / block.title
        before = path.read_text("utf-8")
        lines = block.text.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] != "+")
        new = "".join(line[1:] for line in lines if line[0] != "-")
        assert before.count(old) == 1, f"{where}: the change fits at {before.count(old)} places"
        path.write_text(before.replace(old, new), "utf-8")
        if block.words.endswith("mistake"):
            self._mistake = (path, before)

    def _take_back(self, where: str) -> None:
        if self._mistake is None:
            return
        path, before = self._mistake
        path.write_text(before, "utf-8")
        self._mistake = None
        clean = self.run(f"headway workflows lint --strict {path}")
        assert clean == "1 file: 0 errors, 0 warnings, 0 infos.\n", where

    def _call(self, tool: str, text: str) -> None:
        assert self._server is not None
        said = text.replace("FOLDER", str(self.folder)).replace("TOKEN", self._token)
        arguments: dict[str, Json] = json.loads(said)
        self._server.post(tool, **arguments)
        answer = self._server.receive()
        content = structured(answer)
        self._token = str(content.get("retryContinueToken") or content.get("continueToken") or "")
        result = answer["result"]
        assert isinstance(result, dict)
        self._reply = str(result["content"][0]["text"])


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with what it should print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def assert_same(expected: str, found: str, where: str) -> None:
    """Assert that a text is what a page shows of it."""
    pattern = re.escape(expected.rstrip("\n"))
    pattern = re.sub(r"(^|\\\n)\\\.\\\.\\\.(?=\\\n|$)", r"\1[\\s\\S]*?", pattern)
    pattern = pattern.replace(r"\.\.\.", r"[^\n]*?")
    assert re.fullmatch(pattern, found.rstrip("\n")), (
        f"{where}\n--- the page shows\n{expected}\n--- there is\n{found}"
    )

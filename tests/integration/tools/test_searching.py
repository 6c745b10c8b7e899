"""Finding files and lines, on real folders."""

import os
import time
from pathlib import Path

import pytest

from headway.agent.tools.searching import glob_pattern
from tests.support.tooled import Workbench

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    for path, text in {
        "src/a.py": "import os\n\ndef main():\n    return os.name\n",
        "src/deep/b.py": "def helper():\n    pass\n",
        "docs/c.md": "The main thing.\n",
        "node_modules/x.py": "def main(): pass\n",
        ".git/config": "def main\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "blob.bin").write_bytes(b"def main\0")
    return Workbench(tmp_path)


async def test_files_are_listed_in_order_without_what_was_fetched(bench: Workbench) -> None:
    assert (await bench.done("glob", pattern="*.py")).splitlines() == ["src/a.py", "src/deep/b.py"]
    assert await bench.done("glob", pattern="src/*.py") == "src/a.py"
    assert await bench.done("glob", pattern="*.{md,bin}") == "blob.bin\ndocs/c.md"
    assert await bench.done("glob", pattern="*.py", path="src/deep") == "src/deep/b.py"
    assert await bench.done("glob", pattern="*.rs") == "Nothing was found."


async def test_lines_are_found_in_text_files_alone(bench: Workbench) -> None:
    found = await bench.done("grep", pattern=r"\bmain\b")
    assert found.splitlines() == ["docs/c.md:1:The main thing.", "src/a.py:3:def main():"]
    assert await bench.done(
        "grep", pattern="MAIN", ignore_case=True, glob="*.md", files_only=True
    ) == ("docs/c.md")
    around = await bench.done("grep", pattern="def main", path="src/a.py", context=1)
    assert around.splitlines() == [
        "src/a.py-2-",
        "src/a.py:3:def main():",
        "src/a.py-4-    return os.name",
    ]


async def test_more_than_an_answer_holds_is_paged(tmp_path: Path, bench: Workbench) -> None:
    (tmp_path / "many.txt").write_text("".join(f"hit {n}\n" for n in range(450)))
    seen = list[str]()
    for offset in (0, 200, 400):
        seen += (await bench.done("grep", pattern="^hit", offset=offset)).splitlines()
    lines = [line for line in seen if not line.startswith("[")]
    assert [line.rpartition(" ")[2] for line in lines] == [str(n) for n in range(450)]
    assert seen[200] == "[there is more: offset 200 shows it]"


async def test_a_pattern_that_fits_in_very_many_ways_is_soon_done_with(
    tmp_path: Path, bench: Workbench
) -> None:
    folder = tmp_path.joinpath(*["a"] * 30)
    folder.mkdir(parents=True)
    (folder / "b").touch()
    (tmp_path / os.fsdecode(b"no\xfftext")).touch()
    began = time.monotonic()
    assert await bench.done("glob", pattern="**/" * 9 + "none") == "Nothing was found."
    assert time.monotonic() - began < 10  # a search that tries all ways takes half a minute


async def test_a_pattern_that_cannot_be_used_says_why(bench: Workbench) -> None:
    assert "neither look-around" in await bench.failed("grep", pattern="(?=x)")
    assert "no pattern for paths" in await bench.failed("glob", pattern="{a")
    assert "not a folder" in await bench.failed("glob", pattern="*", path="src/a.py")
    assert "does not exist" in await bench.failed("grep", pattern="x", path="nowhere")


@pytest.mark.parametrize(
    ("pattern", "fits", "misses"),
    [
        ("**/*.py", ["a.py", "x/y/a.py"], ["a.pyc"]),
        ("src/**", ["src/a", "src/b/c"], ["lib/a"]),
        ("test_?.py", ["test_1.py", "x/test_2.py"], ["test_10.py"]),
        ("[!a].txt", ["b.txt"], ["a.txt"]),
        ("a,b", ["a,b"], ["a"]),
        ("a.b", ["a.b"], ["axb"]),
    ],
)
def test_a_pattern_means_what_shells_mean(pattern: str, fits: list[str], misses: list[str]) -> None:
    compiled = glob_pattern(pattern)
    assert all(compiled.fullmatch(path) for path in fits)
    assert not any(compiled.fullmatch(path) for path in misses)

"""Style limits that no linter checks, as a test: after TigerBeetle's src/tidy.zig."""

import ast
import re
import statistics
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
FUNCTION_LINES_P90 = 30
MODULE_LINES_MEDIAN = 150
BANNED_NAMES = {"utils", "helpers", "common", "misc", "manager", "service", "base"}
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX)\b")

modules = sorted(p for p in SOURCE.rglob("*.py") if p.stat().st_size)


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text("utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.parametrize("path", modules, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_fits_in_one_sitting(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= MODULE_LINES_MAX
    assert path.stem not in BANNED_NAMES
    assert not LEFT_OVER.findall(text)
    found = functions(path)
    too_long = [f"{f.name} ({length(f)})" for f in found if length(f) > FUNCTION_LINES_MAX]
    assert not too_long


def test_the_house_stays_small_on_the_whole() -> None:
    lengths = sorted(length(f) for p in modules for f in functions(p))
    assert lengths[int(len(lengths) * 0.9)] <= FUNCTION_LINES_P90
    sizes = [len(p.read_text("utf-8").splitlines()) for p in modules]
    assert statistics.median(sizes) <= MODULE_LINES_MEDIAN

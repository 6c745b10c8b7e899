"""A workflow as text: what it is for, and its steps with the loops around them."""

from collections.abc import Iterator
from typing import Final

from headway.application.requests import Json, Reply
from headway.cli.safe_text import flowing, one_line, wrapped
from headway.cli.style import WIDTH_MIN, Style, fitted

INDENT: Final = "   "
NAME_WIDTH: Final = 10


def workflow_lines(shown: Reply, style: Style) -> Iterator[str]:
    """Yield what `inspect_workflow` shows in preview."""
    width = max(style.width, WIDTH_MIN)
    compiled = _object(shown["compiled"])
    name = f"{one_line(compiled['name'])} ({one_line(shown['workflowId'])})"
    yield style.paint(fitted(name, width, style), "bold")
    for label, text in (
        ("version", compiled["version"]),
        ("source", shown["source"]),
        ("hash", shown["workflowHash"]),
    ):
        yield style.paint(label.ljust(NAME_WIDTH), "dim") + one_line(text)
    for text in (compiled["description"], compiled["about"]):
        if text:
            yield ""
            yield from wrapped(flowing(text).rstrip(), width)
    yield ""
    yield style.paint("Steps", "bold")
    for line in _outline(compiled["outline"], 1):
        yield fitted(line, width, style)
    examples = _list(compiled["examples"])
    if examples:
        yield ""
        yield style.paint("Goals it fits", "bold")
        for example in examples:
            yield from (f"{INDENT}{line}" for line in wrapped(example, width - len(INDENT)))
    for warning in _list(shown.get("warnings", [])):
        told = _object(warning)
        yield ""
        yield from wrapped(f"{told['code']}: {told['what']} {told['remedy']}", width)


def _outline(items: Json, depth: int) -> Iterator[str]:
    for number, each in enumerate(_list(items), 1):
        item = _object(each)
        label = f"{one_line(item['title'])} ({one_line(item['id'])})"
        if "loop" in item:
            label += f"  [{item['loop']}, at most {item['maxIterations']} passes]"
        yield f"{INDENT * depth}{number}. {label}"
        yield from _outline(item.get("body", []), depth + 1)


def _object(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value


def _list(value: Json) -> list[Json]:
    assert isinstance(value, list | tuple)
    return list(value)

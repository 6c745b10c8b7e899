"""A second look at JSON text, for the places that a fast parser does not keep.

The text is known to parse (or to nest too deep); the scan therefore reads tokens only and trusts
their order.
"""

import bisect
import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from headway.domain.compiler.trouble import Trouble
from headway.domain.diagnostics import Path, Position

_TOKEN: Final = re.compile(r'[\s,]+|("(?:[^"\\]|\\.)*"?)|([{}\[\]:])|([^\s,{}\[\]:"]+)', re.DOTALL)
_LONG_NUMBER: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(-?\d{400,})')


class Lines:
    """Offsets to lines and columns."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def position(self, offset: int) -> Position:
        line = bisect.bisect_right(self._starts, offset)
        return Position(line=line, column=offset - self._starts[line - 1] + 1)


class Scan(NamedTuple):
    """Where each part stands (its key, its value), and the keys that stand twice."""

    places: dict[Path, tuple[Position, Position]]
    doubled: list[tuple[str, Path, Position]]


class _Open:
    """An object or list the scan is inside of."""

    def __init__(self, path: Path, *, is_list: bool) -> None:
        self.path = path
        self.is_list = is_list
        self.index = 0
        self.key: tuple[str, int] | None = None  # the key whose value comes next, and its offset


def scan(text: str) -> Scan:
    """Return the places of every part of a JSON text."""
    lines = Lines(text)
    result = Scan({}, [])
    stack: list[_Open] = []
    for token, offset in _tokens(text):
        if token in "}]":
            stack.pop()
            continue
        if token == ":":
            continue
        around = stack[-1] if stack else None
        if around and not around.is_list and around.key is None:
            key = str(json.loads(token))
            around.key = (key, offset)
            if (*around.path, key) in result.places:
                result.doubled.append((key, (*around.path, key), lines.position(offset)))
            continue
        path, begins = _taken(around, offset)
        result.places[path] = (lines.position(begins), lines.position(offset))
        if token in "{[":
            stack.append(_Open(path, is_list=token == "["))
    return result


def root_text(text: str, wanted: str) -> str:
    """Return the text of a key of the root object, as far as the text can be followed."""
    depth = 0
    before: list[str] = []
    for token, _ in _tokens(text):
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        elif depth == 1 and before[-2:] == [f'"{wanted}"', ":"] and token.startswith('"'):
            return token.strip('"')
        before = [*before[-1:], token]
    return ""


def too_deep(text: str, limit: int) -> Trouble:
    """Return the trouble of a text that nests deeper than `limit`, at the place where it does."""
    depth = 0
    for token, offset in _tokens(text):
        depth += (token in "{[") - (token in "}]")
        if depth > limit:
            return _trouble("TOO_DEEP", text, offset, f"The nesting passes {limit} levels here.")
    return _trouble("TOO_DEEP", text, 0, "The text nests too deep to be read.")


def long_number(text: str) -> Trouble:
    """Return the trouble of a number too long to be read, at its place."""
    offset = next((each.start(1) for each in _LONG_NUMBER.finditer(text) if each[1]), 0)
    return _trouble("NUMBER_TOO_LARGE", text, offset, "A number of hundreds of digits stands here.")


def _trouble(code: str, text: str, offset: int, what: str) -> Trouble:
    remedy = "Flatten the structure." if code == "TOO_DEEP" else "Write a smaller number, or text."
    return Trouble(code, Lines(text).position(offset), what, remedy)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    for found in _TOKEN.finditer(text):
        if found.lastindex:
            yield found[0], found.start()


def _taken(around: _Open | None, offset: int) -> tuple[Path, int]:
    """Return the path of the value that begins here and where its key (or itself) begins."""
    if around is None:
        return (), offset
    if around.is_list:
        around.index += 1
        return (*around.path, around.index - 1), offset
    assert around.key is not None
    key, begins = around.key
    around.key = None
    return (*around.path, key), begins

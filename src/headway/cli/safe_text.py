"""Text that others wrote, made fit for a terminal: it moves no cursor and stays in its column.

Kept is everything but the characters that would colour the line, move on it, or turn the direction
of writing: no text can pretend to be another part of the page.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

# A line break within a paragraph: what follows is neither blank, indented, a list nor a heading.
_BROKEN: Final = re.compile(r"(?<=\S)\n(?=[^\s\-*+#>|`\d])")
_UNSHOWN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def shown(text: object) -> str:
    """Return a text with its line breaks, and nothing in it that acts."""
    return _UNSHOWN.sub(" ", str(text))


def one_line(text: object) -> str:
    """Return a text as one line, and nothing in it that acts."""
    return " ".join(shown(text).split())


def cells(text: str) -> int:
    """Return how many cells of a terminal a text fills."""
    return sum(map(_cells, text))


def wrapped(text: object, width: int) -> Iterator[str]:
    """Yield the lines of a text, broken between words where they are wider than `width` cells."""
    for line in shown(text).expandtabs(4).split("\n"):
        if cells(line) <= width:
            yield line.rstrip()
            continue
        indent = line[: min(len(line) - len(line.lstrip()), width // 2)]
        row = indent
        for word in _pieces(line.split(), width - len(indent)):
            gap = "" if row == indent else " "
            if cells(row) + len(gap) + cells(word) > width:
                yield row.rstrip()
                row, gap = indent, ""
            row += gap + word
        yield row.rstrip()


def flowing(text: object) -> str:
    """Return a text with the lines of each paragraph joined; one that holds code is left alone."""
    told = shown(text)
    return told if "```" in told else _BROKEN.sub(" ", told)


def moment(ms: int) -> str:
    """Return a time in milliseconds since 1970 as people read it."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def _pieces(words: list[str], width: int) -> Iterator[str]:
    """Yield the words, one too wide for a line in parts."""
    for word in words:
        part = ""
        for character in word:
            if cells(part) + _cells(character) > width:
                yield part
                part = ""
            part += character
        yield part


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

"""How text is shown on a place of output: its width, its characters, its colours.

Colour is only ever added to what already says it: a mark, a word.
"""

from dataclasses import dataclass
from typing import Final

from headway.cli.safe_text import cells

WIDTH_MIN: Final = 40  # a narrower place breaks the lines itself
COLOURS: Final = {
    "green": "32", "red": "31", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What the place of output can show."""

    width: int = 100
    unicode: bool = True
    colour: bool = False

    @property
    def joints(self) -> tuple[str, str, str, str]:
        """Return the line pieces: row, last row, passing by, nothing."""
        return ("├─ ", "└─ ", "│  ", "   ") if self.unicode else ("|- ", "`- ", "|  ", "   ")

    def paint(self, text: str, colour: str) -> str:
        """Return the text in a colour, where there is colour."""
        return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if self.colour else text


def counted(number: int, noun: str) -> str:
    """Return how many of something there are: `1 event`, `1,200 events`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def fitted(text: str, width: int, style: Style) -> str:
    """Return the text in at most `width` cells of a terminal, with a mark where it was cut."""
    shown = text if style.unicode else text.encode("ascii", "replace").decode()
    mark = "…" if style.unicode else "~"
    if cells(shown) <= width:
        return shown
    kept, used = [], 0
    for character in shown:
        used += cells(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + mark

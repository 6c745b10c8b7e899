"""How the demo speaks: short lines, who did it in front, what matters in colour."""

import shlex
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from headway.cli.style import WIDTH_MIN, Style, fitted

ACTOR_WIDTH: Final = 9
INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Teller:
    """Writes lines in a style."""

    style: Style
    write: Callable[[str], None]

    def title(self, text: str, aside: str = "") -> None:
        """Write an empty line and a heading; `aside` stands behind it, less loudly."""
        self.write("")
        self.write(self.style.paint(text, "bold") + (f"  {self._dim(aside)}" if aside else ""))

    def command(self, program: str, *parts: Sequence[str]) -> None:
        """Write a command as a heading, in as many lines as it has parts."""
        lines = [shlex.join(part) for part in parts]
        lines[0] = f"$ {program} {lines[0]}"
        self.write("")
        for number, line in enumerate(lines):
            goes_on = " \\" if number < len(lines) - 1 else ""
            self.write(self.style.paint(f"{'    ' * (number > 0)}{line}{goes_on}", "bold"))

    def prose(self, text: str) -> None:
        """Write a paragraph from the edge."""
        for line in textwrap.wrap(text, max(self.style.width, WIDTH_MIN)):
            self.write(line)

    def says(self, actor: str, lines: Sequence[str], colour: str = "") -> None:
        """Write what an actor did, a line each, cut to the width."""
        for number, line in enumerate(lines):
            text = fitted(line, self._room, self.style)
            self._row(actor if number == 0 else "", text, colour)

    def tells(self, actor: str, text: str, colour: str = "", lines_max: int | None = None) -> None:
        """Write a text in as many lines as it needs, or as it may have."""
        mark = " …" if self.style.unicode else " ..."
        lines = textwrap.wrap(text, self._room, max_lines=lines_max, placeholder=mark)
        self.says(actor, lines, colour)

    def gives(self, text: str, label: str = "") -> None:
        """Write what is there to be copied, whole, however long it is."""
        if label:
            self.write(f"{INDENT}{self._dim(label)}")
        self.write(f"{INDENT}{INDENT}{text}")

    @property
    def _room(self) -> int:
        return max(self.style.width, WIDTH_MIN) - ACTOR_WIDTH - len(INDENT) - 1

    def _row(self, actor: str, text: str, colour: str) -> None:
        shown = self.style.paint(text, colour) if colour else text
        self.write(f"{INDENT}{self._dim(f'{actor:<{ACTOR_WIDTH}}')} {shown}".rstrip())

    def _dim(self, text: str) -> str:
        return self.style.paint(text, "dim")

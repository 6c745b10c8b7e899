"""How the demo speaks: short lines, who did it in front, what matters in colour."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from headway.cli.style import Style, fitted

ACTOR_WIDTH: Final = 9


@dataclass(frozen=True, slots=True)
class Teller:
    """Writes lines in a style."""

    style: Style
    write: Callable[[str], None]

    def title(self, text: str) -> None:
        """Write a heading."""
        self.write(self.style.paint(text, "bold"))

    def blank(self) -> None:
        """Write an empty line."""
        self.write("")

    def says(self, actor: str, lines: Sequence[str], colour: str = "") -> None:
        """Write what an actor did, a line each."""
        for number, line in enumerate(lines):
            name = actor if number == 0 else ""
            room = self.style.width - ACTOR_WIDTH - 4
            text = fitted(line, room, self.style)
            shown = self.style.paint(text, colour) if colour else text
            self.write(f"  {name:<{ACTOR_WIDTH}} {shown}")

    def gives(self, actor: str, text: str) -> None:
        """Write what is there to be copied: whole, however long it is."""
        self.write(f"  {actor:<{ACTOR_WIDTH}} {text}")

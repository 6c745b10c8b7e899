"""Draws a session's tree as text: box lines, one row a line, never wider than asked for.

Colour is only ever added to what already says it: a mark, a word. Where the terminal cannot show
the box lines, plain ASCII stands for them.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from headway.application.read_session import Kind, Row, Tree
from headway.cli.style import WIDTH_MIN, Style, fitted

ROWS_MAX: Final = 200  # a longer session is shown by its beginning and its end
ROWS_FIRST: Final = 20

# mark, mark in ASCII, word in front of the text, colour
Look: TypeAlias = tuple[str, str, str, str]
LOOKS: Final[dict[Kind, Look]] = {
    "step_done": ("✔", "+", "", "green"),
    "step_open": ("○", "o", "", "bold"),
    "step_blocked": ("✖", "x", "", "red"),
    "step_gated": ("◇", "?", "", "yellow"),
    "skipped": ("↷", ">", "skipped ", "dim"),
    "limit": ("∞", "!", "", "yellow"),
    "fork": ("⑂", "Y", "fork: ", "cyan"),
    "blocked": ("✖", "x", "blocked, ", "red"),
    "fix": ("→", ">", "to do: ", "red"),
    "notes": ("“", '"', "", "dim"),
    "artifact": ("▪", "*", "artifact ", "dim"),
    "checkpoint": ("⚑", "#", "", "cyan"),
    "gate": ("◇", "?", "gate: ", "yellow"),
    "gap": ("△", "!", "gap ", "yellow"),
    "check_passed": ("✔", "+", "", "dim"),
    "check_failed": ("✖", "x", "", "red"),
    "assessment": ("▪", "*", "assessed ", "dim"),
    "preferences": ("▪", "*", "preferences: ", "dim"),
    "drift": ("△", "!", "binding ", "yellow"),
    "complete": ("■", "=", "", "green"),
    "complete_with_gaps": ("■", "=", "", "yellow"),
}


def draw_tree(tree: Tree, style: Style, *, whole: bool = False) -> Iterator[str]:
    """Yield the lines of a tree: what the session is, then its rows."""
    width = max(style.width, WIDTH_MIN)
    name = fitted(f"{tree.workflow_name} ({tree.workflow_id})", width, style)
    yield style.paint(name, "bold")
    yield fitted(" ".join(tree.goal.split()), width, style)
    left_out = 0 if whole else len(tree.rows) - ROWS_MAX
    prefixes = _prefixes(tree.rows, style, width // 2)
    for number, (row, prefix) in enumerate(zip(tree.rows, prefixes, strict=True)):
        if left_out > 0 and ROWS_FIRST <= number < ROWS_FIRST + left_out:
            if number == ROWS_FIRST:
                yield f"{style.joints[2]}... {left_out:,} lines left out (--all shows them)"
            continue
        yield _line(row, prefix, width, style)


def _line(row: Row, prefix: str, width: int, style: Style) -> str:
    mark, plain, word, colour = LOOKS[row.told.kind]
    here = "  <- here" if row.here else ""
    head = f"{mark if style.unicode else plain} "
    room = width - len(prefix) - len(head) - len(here)
    text = fitted(word + row.told.text, room, style)
    return prefix + style.paint(head + text, colour) + style.paint(here, "bold") * bool(here)


def _prefixes(rows: Sequence[Row], style: Style, width: int) -> list[str]:
    """Return the box lines before each row, found from the end: what still follows on a level."""
    joint, last, passing, nothing = style.joints
    follows: list[bool] = []
    found = []
    for row in reversed(rows):
        del follows[row.depth + 1 :]
        follows += [False] * (row.depth + 1 - len(follows))
        around = "".join(passing if more else nothing for more in follows[: row.depth])
        found.append((around + (joint if follows[row.depth] else last))[-width:])
        follows[row.depth] = True
    return found[::-1]

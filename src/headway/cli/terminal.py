"""What the place of output can show: its width, box lines, colour."""

import shutil
import sys
from collections.abc import Mapping

from headway.cli.style import Style

WIDTH_MAX = 120  # lines longer than this are hard to read, however wide the screen


def output_style(environment: Mapping[str, str]) -> Style:
    """Return the style for stdout: colour on a terminal alone, unless NO_COLOR is set."""
    terminal = sys.stdout.isatty()
    wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    columns = shutil.get_terminal_size((100, 24)).columns
    return Style(
        width=min(columns, WIDTH_MAX),
        unicode=_can_show("├─✔↷⑂“…", sys.stdout.encoding),
        colour=terminal and wanted,
    )


def _can_show(text: str, encoding: str | None) -> bool:
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

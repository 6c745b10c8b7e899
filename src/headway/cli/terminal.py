"""What the place of output can show: its width, box lines, colour; and that it may be gone."""

import errno
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Final, TextIO

import click

from headway.cli.style import Style

GONE: Final = frozenset({errno.EPIPE, errno.EIO})
WIDTH_DEFAULT: Final = 80
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


def terminal_width(place: TextIO) -> int:
    """Return how many cells a line has where `place` writes to, which need not be stdout."""
    try:
        return os.get_terminal_size(place.fileno()).columns or WIDTH_DEFAULT
    except (OSError, ValueError):  # it is no terminal, or none that knows
        return WIDTH_DEFAULT


def remark_style(taken: int = 0) -> Style:
    """Return the style for stderr, of whose width so many cells are taken; it has no colour."""
    width = terminal_width(sys.stderr) - taken
    return Style(width=width, unicode=_can_show("\u00b7\u2026", sys.stderr.encoding), colour=False)


def remark(text: str, *, nl: bool = True) -> None:
    """Print to stderr what goes on; where nobody can read it any more, the work goes on unheard.

    A closed pipe, a terminal that is gone and a full disk must not fail what is told of.
    """
    try:
        click.echo(text, nl=nl, err=True)
    except OSError as error:
        if error.errno in GONE:  # for good: nothing is left to be flushed at the end either
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stderr.fileno())
            os.close(nowhere)


def _can_show(text: str, encoding: str | None) -> bool:
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

"""What the commands that write workflow files have in common."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])


def output_option(command: F) -> F:
    """Add `-o`, `--output`: an absolute path, or None."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path, resolve_path=True),
        help="The file to write.",
    )(command)


def force_option(command: F) -> F:
    """Add `--force`."""
    return click.option("--force", is_flag=True, help="Replace a file that is there already.")(
        command
    )


def near(file: Path | str) -> str:
    """Return a path as it is typed in this folder."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)

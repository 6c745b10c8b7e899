"""Options and words that several commands share, so that they are called the same everywhere."""

import json
from collections.abc import Callable, Mapping
from typing import TypeVar

import click
import msgspec

from headway.cli.refusing import JSON_OPTION
from headway.domain.values import Json

F = TypeVar("F", bound=Callable[..., object])

LISTED_DEFAULT = 20
LISTED_MAX = 10_000


def json_option(command: F) -> F:
    """Add `--json`, as `as_json`."""
    return click.option(
        JSON_OPTION, "as_json", is_flag=True, help="Print one JSON document, for programs."
    )(command)


def limit_option(command: F) -> F:
    """Add `-n`, `--limit`."""
    return click.option(
        "-n",
        "--limit",
        type=click.IntRange(1, LISTED_MAX),
        default=LISTED_DEFAULT,
        show_default=True,
        help="Show at most this many.",
    )(command)


def exit_words(*codes: tuple[int, str]) -> str:
    """Return the part of a command's help that tells its exit codes."""
    return "\b\nExit codes:\n" + "\n".join(f"  {code:<4} {words}" for code, words in codes)


def examples(*lines: str) -> str:
    """Return the end of a command's help, one example a line."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def print_json(document: Mapping[str, Json] | msgspec.Struct) -> None:
    """Print a document on stdout, in ASCII: any terminal shows it, and it moves no cursor."""
    click.echo(json.dumps(msgspec.to_builtins(document, str_keys=True), indent=2))


def indented_json(value: Json) -> str:
    """Return a JSON value as people read it."""
    return json.dumps(value, ensure_ascii=False, indent=2)


class Grouped(click.Group):
    """A group whose commands are listed in the order they are written in, the most asked first."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names."""
        return list(self.commands)

"""The reference page of the command line, written from what each command says of itself.

`python -m tests.support.cli_reference` writes it anew; a test holds it to the commands.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from headway.cli.main import SECTIONS, cli

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
DOCUMENTS = PAGE.with_name("cli-json.md").read_text("utf-8")
WIDTH = 80
TOP = """\
# The command line

Each command as it describes itself; `make reference` writes this page. What `--json` prints stands
in [cli-json.md](cli-json.md).
"""


def documented(command: str) -> set[str]:
    """Return the fields that the reference names for a command."""
    rows = [line.split("|") for line in DOCUMENTS.splitlines() if line.startswith("| `")]
    (row,) = [row for row in rows if f"`{command}`" in row[1]]
    fields = re.sub(r"\([^)]*\)", "", row[2]).partition(";")[0]
    return set(re.findall(r"`(\w+)`", fields))


def reference() -> str:
    """Return the page."""
    return "\n".join([TOP, *_entries()])


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command with what to type for it, groups before their members."""
    yield "headway", cli
    yield from _below(_context(cli, "headway"), "headway")


def _below(context: click.Context, path: str) -> Iterator[tuple[str, click.Command]]:
    group = context.command
    assert isinstance(group, click.Group)
    top = [name for part in SECTIONS.values() for name in part]
    for name in top if group is cli else group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from _below(_context(command, name, context), f"{path} {name}")


def _entries() -> Iterator[str]:
    for path, command in commands():
        *parents, name = path.split()
        context = None
        for each in parents:
            context = click.Context(click.Group(each), parent=context, info_name=each)
        shown = _context(command, name, context)
        yield f"## {path}\n\n```\n{command.get_help(shown)}\n```\n"


def _context(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    return click.Context(
        command,
        parent=parent,
        info_name=name,
        terminal_width=WIDTH,
        help_option_names=["-h", "--help"],
    )


if __name__ == "__main__":
    PAGE.write_text(reference(), "utf-8")

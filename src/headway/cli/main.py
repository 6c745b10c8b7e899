"""The command line's root: which commands there are, and where each one lives.

`--version` and `--help` answer at once: a command's module, with all it needs, is imported when the
command is asked for, never before.
"""

import importlib
from typing import Final

import click

from headway import __version__

# The name of each command, the module that holds it as `command`, and its line in the help.
COMMANDS: Final = {
    "demo": ("headway.cli.demo_command", "See a bug fixed step by step, through a crash."),
    "export": ("headway.cli.export_command", "Write a session to a file, with its proofs."),
    "gates": ("headway.cli.gates_command", "See what waits for a decision; approve or reject."),
    "import": ("headway.cli.import_command", "Take a session in from such a file."),
    "keys": ("headway.cli.keys_command", "Rotate the keys that sign tokens."),
    "mcp": ("headway.cli.mcp_command", "Serve the seven MCP tools on stdin and stdout."),
    "rebuild": ("headway.cli.rebuild_command", "Make attempts and summaries anew from events."),
    "sessions": ("headway.cli.sessions_command", "List, draw, steer and purge sessions."),
    "up": ("headway.cli.up_command", "Serve this home over HTTP until told to stop."),
    "verify": ("headway.cli.verify_command", "Check that everything is as it was recorded."),
    "workflows": ("headway.cli.workflows_command", "List workflow files; find what is wrong."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, without importing anything."""
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _ = COMMANDS[cmd_name]
        command = importlib.import_module(module).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the help's list from the table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headway")
def cli() -> None:
    """Durable, step-enforcing workflows for AI agents."""

"""The command line's root: which commands there are, and where each one lives.

`--version` and `--help` answer at once: a command's module, with all it needs, is imported when the
command is asked for, never before.
"""

import gc
import importlib
from types import ModuleType
from typing import Final

import click

from headway import __version__
from headway.cli.refusing import refusing

# Under its heading, the name of each command, the module that holds it as `command`, and its line.
SECTIONS: Final = {
    "See": {
        "status": ("headway.cli.status_command", "What runs, what is stored, what is latest."),
        "sessions": ("headway.cli.sessions_command", "List, search, show, draw, steer, purge."),
        "workflows": (
            "headway.cli.workflows_command",
            "List, show, write, lint, simulate.",
        ),
        "sources": ("headway.cli.sources_command", "Where workflow files come from; git sources."),
        "gates": ("headway.cli.gates_command", "See what waits for a person; decide."),
    },
    "Run": {
        "run": ("headway.cli.run_command", "Have a model do a workflow, in a worktree of its own."),
        "runs": ("headway.cli.runs_command", "See runs, follow them, speak to them, go on."),
        "dispatch": ("headway.cli.dispatch_command", "Have a run wait for a worker."),
        "queue": ("headway.cli.queue_command", "What waits for a worker; move it, cancel it."),
        "stats": ("headway.cli.stats_command", "What became of runs, and what they took."),
        "worker": ("headway.cli.worker_command", "Drive the runs that wait."),
        "up": ("headway.cli.up_command", "Serve this home over HTTP until told to stop."),
        "mcp": ("headway.cli.mcp_command", "Serve the seven MCP tools on stdin and stdout."),
        "demo": ("headway.cli.demo_command", "See a bug mended on its own, through a crash."),
    },
    "Prove, move, mend": {
        "worktrees": ("headway.cli.worktrees_command", "See and clean the worktrees of runs."),
        "doctor": ("headway.cli.doctor_command", "Find what could keep Headway from working."),
        "verify": ("headway.cli.verify_command", "Check that everything is as it was recorded."),
        "export": ("headway.cli.export_command", "Write a session to a file, with its proofs."),
        "import": ("headway.cli.import_command", "Take a session in from such a file."),
        "rebuild": ("headway.cli.rebuild_command", "Make attempts and summaries anew from events."),
        "keys": ("headway.cli.keys_command", "Rotate the keys that sign tokens."),
    },
    "Set up": {
        "completion": ("headway.cli.completion_command", "Complete words on Tab in your shell."),
    },
}
COMMANDS: Final = {name: found for part in SECTIONS.values() for name, found in part.items()}

EXIT_CODES: Final = """\b
Exit codes:
  0    done, and all is well
  1    it could not be done, or what was asked about is not well
  2    it was not called rightly (verify: it could not be told)
  130  interrupted by Ctrl-C

\b
With --json a command prints one JSON document on stdout and nothing else.
A refusal is {code, message, retry, details} as JSON on stderr.

\b
Settings are environment variables: HEADWAY_HOME, HEADWAY_DATABASE_URL,
HEADWAY_WORKFLOW_PATH, HEADWAY_GATES, HEADWAY_CHECKS, HEADWAY_ELICITATION,
HEADWAY_HOST, HEADWAY_PORT, HEADWAY_LEASE_SECONDS, HEADWAY_WORKER_RUNS,
HEADWAY_RUNS_MAX, HEADWAY_WORKSPACE_RUNS_MAX, HEADWAY_GRACE_SECONDS,
HEADWAY_ENGINE_URL, HEADWAY_ENGINE_TOKEN, HEADWAY_TOKEN, HEADWAY_LOG_LEVEL,
NO_COLOR."""


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
        command = _imported(module).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; an unknown one is answered with the nearest."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and tell in JSON what is wrong where JSON is asked for."""
        with refusing(ctx, args):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; see `refusing` for how it may end."""
        with refusing(ctx, [*ctx._protected_args, *ctx.args]):  # noqa: SLF001 - click has no other
            return super().invoke(ctx)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the help's lists from the table, without importing anything."""
        widest = max(map(len, COMMANDS))
        for title, part in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, (_, text) in part.items()])


def _imported(module: str) -> ModuleType:
    """Import a module, and collect no garbage meanwhile.

    What modules are made of lives as long as the process; to look through it again and again is a
    seventh of the time that the largest command takes to start.
    """
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        gc.enable()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, prog_name="headway")
def cli() -> None:
    """Have AI agents finish long work properly, one checked step at a time, and prove it.

    `headway run` has a model do a job on its own; `headway mcp` leads the agent you talk to. Here
    people start work, see how far it is, decide what waits for them and look after the store.
    `headway COMMAND --help` says more about each, with examples.
    """

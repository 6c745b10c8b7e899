"""`headway workflows`: which workflow files there are, what they hold, what is wrong."""

from pathlib import Path

import click
import msgspec

from headway.application.inspect_workflow import inspect_workflow
from headway.application.list_workflows import list_workflows
from headway.application.requests import InspectWorkflow, ListWorkflows
from headway.cli.completing import complete_workflow
from headway.cli.convert_command import convert_command
from headway.cli.copy_command import copy_command
from headway.cli.lint_command import lint_command, rules_command, schema_command
from headway.cli.listed import A_WORKFLOW
from headway.cli.new_command import new_command
from headway.cli.opening import opened
from headway.cli.options import Grouped, examples, json_option, print_json
from headway.cli.preview_command import graph_command, preview_command
from headway.cli.safe_text import one_line, wrapped
from headway.cli.simulate_command import simulate_command
from headway.cli.style import WIDTH_MIN, Style
from headway.cli.terminal import output_style
from headway.cli.workflow_drawing import workflow_lines


@click.group("workflows", cls=Grouped)
def command() -> None:
    """See, write and lint the workflow files that this folder can use."""


@command.command(
    "list",
    short_help="List the workflows that can be started from this folder.",
    epilog=examples("headway workflows list", "headway workflows list --json | jq .sources"),
)
@json_option
def list_command(*, as_json: bool) -> None:
    """List the workflows that can be started from this folder."""
    with opened() as (settings, engine):
        request = ListWorkflows(workspace_path=str(Path.cwd()), include_sources=True)
        reply = list_workflows(engine, request)
    if as_json:
        # The next step is an agent's, told in the words of its tools.
        print_json({name: value for name, value in reply.items() if name != "_nextStep"})
        return
    style = output_style(settings.environment)
    for item in msgspec.convert(reply["workflows"], list[dict[str, object]]):
        _tell_item(item, style)
    broken = len(msgspec.convert(reply.get("validationWarnings", []), list[object]))
    if broken:
        click.echo(f"{broken} more cannot be started; `headway workflows lint` says why.")


@command.command(
    "show",
    short_help="Show what one workflow is for, and its steps.",
    epilog=examples("headway workflows show hw.bug-fix"),
)
@click.argument("workflow", type=A_WORKFLOW, shell_complete=complete_workflow)
@json_option
def show_command(workflow: str, *, as_json: bool) -> None:
    """Show the WORKFLOW of an id: what it is for, its steps and loops, its hash.

    The prompts of its steps stay in its file.
    """
    with opened() as (settings, engine):
        request = InspectWorkflow(
            workflow_id=workflow, mode="preview", workspace_path=str(Path.cwd())
        )
        shown = inspect_workflow(engine, request)
    if as_json:
        print_json(shown)
        return
    for line in workflow_lines(shown, output_style(settings.environment)):
        click.echo(line)


command.add_command(preview_command)
command.add_command(graph_command)
command.add_command(simulate_command)
command.add_command(new_command)
command.add_command(copy_command)
command.add_command(convert_command)
command.add_command(lint_command)
command.add_command(schema_command)
command.add_command(rules_command)


def _tell_item(item: dict[str, object], style: Style) -> None:
    """Print a workflow: its id and name, and under them what it is for."""
    head = f"{style.paint(one_line(item['workflowId']), 'bold')}  {one_line(item['name'])}"
    click.echo(head)
    for line in wrapped(one_line(item["description"]), max(style.width, WIDTH_MIN) - 4):
        click.echo(f"    {line}")

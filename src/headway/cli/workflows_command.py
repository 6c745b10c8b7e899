"""`headway workflows`: which workflow files there are, and what is wrong with them."""

import json
from pathlib import Path

import click
import msgspec

from headway.application.list_workflows import list_workflows
from headway.application.requests import ListWorkflows
from headway.cli.lint_command import lint_command, rules_command, schema_command
from headway.cli.opening import opened

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@click.group("workflows")
def command() -> None:
    """See the workflow files that this folder can use."""


@command.command("list", short_help="List the workflows that can be started from this folder.")
@_JSON
def list_command(*, as_json: bool) -> None:
    """List the workflows that can be started from this folder."""
    with opened() as (_, engine):
        request = ListWorkflows(workspace_path=str(Path.cwd()), include_sources=True)
        reply = list_workflows(engine, request)
    if as_json:
        click.echo(json.dumps(reply, ensure_ascii=False, indent=2))
        return
    for item in msgspec.convert(reply["workflows"], list[dict[str, object]]):
        click.echo(f"{item['workflowId']}  {item['name']}: {item['description']}")
    broken = len(msgspec.convert(reply.get("validationWarnings", []), list[object]))
    if broken:
        click.echo(f"{broken} more cannot be started; `headway workflows lint` says why.")


command.add_command(lint_command)
command.add_command(schema_command)
command.add_command(rules_command)

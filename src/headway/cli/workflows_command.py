"""`headway workflows`: which workflow files there are, and what is wrong with them."""

import json
import sys
from pathlib import Path

import click
import msgspec

from headway.application.lint_workflows import Linted, lint_workflows
from headway.application.list_workflows import list_workflows
from headway.application.requests import ListWorkflows
from headway.cli.opening import opened

_PATHS = click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
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


@command.command("lint", short_help="Say what is wrong with workflow files.")
@_PATHS
@_JSON
def lint_command(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """Say what is wrong with the workflow files under PATHS, or all that this folder can use.

    Each line names file, line, column, code, what is wrong, why, and what to do. The exit code is 1
    when a file cannot be started, else 0.
    """
    named = tuple(str(path.resolve()) for path in paths)
    folders = tuple(str(p.resolve() if p.is_dir() else p.resolve().parent) for p in paths)
    with opened(tuple(dict.fromkeys(folders)) or None) as (_, engine):
        linted = lint_workflows(engine, str(Path.cwd()), named)
    if as_json:
        click.echo(msgspec.json.encode(linted).decode())
    else:
        _tell(linted)
    if not linted.files:
        raise click.ClickException("There is no workflow file here: *.json, *.yaml or *.yml.")
    sys.exit(1 if linted.errors else 0)


def _tell(linted: Linted) -> None:
    for diagnostic in linted.diagnostics:
        click.echo(diagnostic.text())
    for path in linted.shadowed:
        click.echo(f"{path}: not looked at, another file has its workflow id.")
    warnings = len(linted.diagnostics) - linted.errors
    files = len(linted.files)
    click.echo(f"{files} file(s): {linted.errors} error(s), {warnings} warning(s).")

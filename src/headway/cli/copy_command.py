"""`headway workflows copy`: a workflow of one's own, begun from another."""

from pathlib import Path

import click

from headway.application.copy_workflow import CopyWorkflow, copy_workflow
from headway.bootstrap import open_drafts
from headway.cli.completing import complete_workflow
from headway.cli.listed import A_WORKFLOW
from headway.cli.opening import opened
from headway.cli.options import examples, json_option, print_json
from headway.cli.writing import force_option, near, output_option


@click.command(
    "copy",
    short_help="Copy a workflow into this project, to change it.",
    epilog=examples(
        "headway workflows copy hw.bug-fix",
        "headway workflows copy hw.bug-fix --as acme.bug-fix -o team/bug-fix.yaml",
    ),
)
@click.argument("workflow", type=A_WORKFLOW, shell_complete=complete_workflow)
@click.option("--as", "new_id", help="The id of the copy; project.NAME by default.")
@output_option
@force_option
@json_option
def copy_command(
    workflow: str, *, new_id: str | None, output: Path | None, force: bool, as_json: bool
) -> None:
    """Copy the WORKFLOW of an id under an id of your own, to change it from there.

    Comments and layout stay as they are. The file says in copiedFrom what it is a copy of, with
    version and hash; it goes to .headway/workflows of this folder unless -o names another place.
    """
    new_id = new_id or f"project.{workflow.rpartition('.')[2]}"
    with opened() as (_, engine):
        request = CopyWorkflow(
            workflow_id=workflow, new_id=new_id, workspace=str(Path.cwd()),
            file=str(output or ""), replace=force,
        )  # fmt: skip
        copied = copy_workflow(engine, open_drafts(), request)
    if as_json:
        told = {"workflowId": new_id, "file": copied.file, "original": copied.original}
        print_json({**told, "originalHash": copied.hash})
        return
    click.echo(f"Wrote {near(copied.file)}: {new_id}, a copy of {workflow}.")
    click.echo(f"After each change run: headway workflows lint {near(copied.file)}")

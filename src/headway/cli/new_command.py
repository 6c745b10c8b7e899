"""`headway workflows new`: a workflow file to begin with."""

import sys
from pathlib import Path

import click

from headway.application.copy_workflow import FOLDER
from headway.application.new_ids import file_name_of, require_free_form
from headway.application.new_workflow import NewWorkflow, new_workflow
from headway.bootstrap import open_drafts
from headway.cli.opening import told
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.writing import force_option, near, output_option
from headway.domain.writing.skeleton import Skeleton

_PARTS = {
    "loop": "Shall a part of it repeat until an agent decides that it is enough?",
    "contract": "Shall the last step hand in data of a form that you define?",
    "checks": "Shall Headway run commands that must succeed?",
}


@click.command(
    "new",
    short_help="Write a commented workflow file to begin with.",
    epilog=examples(
        "headway workflows new",
        'headway workflows new acme.release --description "Write the notes of a release."',
        "headway workflows new acme.fix -d 'Mend a bug.' --loop --checks -o fix.yaml",
    ),
)
@click.argument("workflow_id", metavar="[ID]", required=False)
@click.option("--name", help="Its name; made of the id unless given.")
@click.option("-d", "--description", help="What it is for, in a sentence.")
@click.option("--loop", is_flag=True, help="Show a loop that ends by a decision.")
@click.option("--contract", is_flag=True, help="Show a contract on what is handed in.")
@click.option("--checks", is_flag=True, help="Show a command that Headway runs.")
@output_option
@force_option
@json_option
def new_command(  # noqa: PLR0913 - one a flag
    workflow_id: str | None,
    *,
    name: str | None,
    description: str | None,
    loop: bool,
    contract: bool,
    checks: bool,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a commented workflow file to begin with; lint has nothing to say about it.

    Asked for are an ID such as acme.release (a namespace of yours, a dot, a name), a name and a
    description; on a terminal, what is not given is asked. The file goes to .headway/workflows of
    this folder, where every session started in it sees the workflow.
    """
    with told(Refusal):
        parts = {"loop": loop, "contract": contract, "checks": checks}
        if not (workflow_id and description):
            workflow_id, name, description = _asked(workflow_id, name, description)
            if not any(parts.values()):
                parts = {part: click.confirm(question) for part, question in _PARTS.items()}
        skeleton = Skeleton(
            id=workflow_id, name=name or _name_of(workflow_id), description=description, **parts
        )
        file = output or Path.cwd().joinpath(*FOLDER, file_name_of(workflow_id, ".yaml"))
        request = NewWorkflow(
            skeleton=skeleton, file=str(file), workspace=str(Path.cwd()), replace=force
        )
        new_workflow(open_drafts(), request)
    if as_json:
        print_json({"workflowId": workflow_id, "file": str(file)})
        return
    click.echo(f"Wrote {near(file)}.")
    click.echo("Change it to what you need; after each change run:")
    click.echo(f"  headway workflows lint {near(file)}")


def _asked(
    workflow_id: str | None, name: str | None, description: str | None
) -> tuple[str, str, str]:
    """Ask for what is not given, where somebody answers. Raises UsageError, InvalidInput."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        missing = [
            word
            for word, given in (("an ID", workflow_id), ("--description", description))
            if not given
        ]
        raise click.UsageError(
            f"Without a terminal nothing is asked: give {' and '.join(missing)}, such as "
            '`headway workflows new acme.release --description "Write the notes of a release."`; '
            "--name, --loop, --contract and --checks may be added."
        )
    workflow_id = workflow_id or click.prompt("Its id, such as acme.release")
    assert workflow_id
    require_free_form(workflow_id)
    name = name or click.prompt("Its name", default=_name_of(workflow_id))
    description = description or click.prompt("What it is for, in a sentence")
    assert name
    assert description
    return workflow_id, name, description


def _name_of(workflow_id: str) -> str:
    words = file_name_of(workflow_id, "").replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]

"""`headway workflows convert`: a workflow file in the other format."""

from pathlib import Path

import click

from headway.application.convert_workflow import ConvertWorkflow, convert_workflow
from headway.bootstrap import open_drafts
from headway.cli.opening import told
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.style import counted
from headway.cli.writing import force_option, near, output_option
from headway.domain.writing.converting import Format


@click.command(
    "convert",
    short_help="Turn a workflow file from JSON into YAML, or back.",
    epilog=examples(
        "headway workflows convert review.json",
        "headway workflows convert review.json -o review.yaml",
        "headway workflows convert review.yaml --to json > review.json",
    ),
)
@click.argument("file", type=click.Path(path_type=Path, resolve_path=True))
@click.option("--to", type=click.Choice(["yaml", "json"]), help="The other format by default.")
@output_option
@force_option
@json_option
def convert_command(
    file: Path, *, to: Format | None, output: Path | None, force: bool, as_json: bool
) -> None:
    """Turn a workflow FILE from JSON into YAML, or back, and print it or write it with -o.

    Nothing is lost on the way: the values, their types and their order stay, and so does the hash
    of the workflow. Only the comments of a YAML file have no place in JSON; how many they were is
    told. FILE itself stays as it is.
    """
    with told(Refusal):
        request = ConvertWorkflow(file=str(file), to=to, output=str(output or ""), replace=force)
        found = convert_workflow(open_drafts(), request)
    if as_json:
        written = str(output) if output else None
        text = None if output else found.text
        print_json({"file": written, "text": text, "commentsLost": found.comments_lost})
        return
    if found.comments_lost:
        lost = counted(found.comments_lost, "comment")
        click.echo(f"{lost} left out: JSON has no place for them.", err=True)
    if output is None:
        click.echo(found.text, nl=False)
        return
    click.echo(f"Wrote {near(output)}.")
    if output.parent == file.parent:
        click.echo(f"Both files have the same id now: remove {near(file)}, or move one of them.")

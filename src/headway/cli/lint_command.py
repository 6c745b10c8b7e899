"""`headway workflows lint`, `schema` and `rules`: what helps an author before an agent reads."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
import msgspec

from headway.application.finding import wire_diagnostic
from headway.application.lint_workflows import Linted, lint_workflows
from headway.application.mend_workflows import Mended, mend_workflows
from headway.bootstrap import open_workflow_files
from headway.cli.opening import told
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import CannotTell, envelope
from headway.cli.safe_text import one_line
from headway.cli.sarif import sarif_log
from headway.cli.style import counted
from headway.cli.writing import near
from headway.config import process_settings
from headway.domain.compiler.published_schema import workflow_schema
from headway.domain.linting.page import rules_page
from headway.ports.workflow_files import WorkflowFiles

_FORMATS: Final = ("text", "json", "sarif")


@click.command(
    "lint",
    short_help="Say what is wrong with workflow files.",
    epilog=examples(
        "headway workflows lint",
        "headway workflows lint .headway/workflows a.yaml --strict",
        "headway workflows lint --format sarif > lint.sarif",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default="text", help="What to print."
)
@json_option
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option("--fix", is_flag=True, help="First mend what is certain, in the files.")
@click.option("--stamp", is_flag=True, help="First stamp the files as looked over.")
def lint_command(  # noqa: PLR0913 - one a flag
    paths: tuple[Path, ...], *, form: str, as_json: bool, strict: bool, fix: bool, stamp: bool
) -> None:
    """Say what is wrong with the workflow files under PATHS, or all that this folder can use.

    Each line names file, line, column, severity, code, what is wrong, why, and what to do;
    `headway workflows rules` explains the codes. The exit code is 0 when no file has an error (nor,
    with --strict, a warning), 1 when one has, 2 when it could not be told.
    """
    named = tuple(str(path.resolve()) for path in paths)
    folders = tuple(str(p.resolve() if p.is_dir() else p.resolve().parent) for p in paths)
    mended = Mended()
    with _opened(tuple(dict.fromkeys(folders))) as files:
        if fix or stamp:
            mended = mend_workflows(files, str(Path.cwd()), named, fix=fix, stamp=stamp)
        linted = lint_workflows(files, str(Path.cwd()), named)
    if not linted.files:
        what = "There is no workflow file here: *.json, *.yaml or *.yml."
        raise CannotTell(envelope(what, "Name a file or a folder that holds some.", "NOT_FOUND"))
    _print(linted, mended, "json" if as_json else form)
    if mended.refused:
        refused = "\n".join(f"{path}: {why}" for path, why in mended.refused.items())
        raise CannotTell(envelope("Not every file could be changed.", refused))
    failed = linted.count("error") + (linted.count("warning") if strict else 0)
    sys.exit(1 if failed else 0)


@click.command(
    "schema",
    short_help="Print the JSON Schema of workflow files, for editors.",
    epilog=examples("headway workflows schema > workflow.schema.json"),
)
def schema_command() -> None:
    """Print the JSON Schema of workflow files.

    Save it, and name it in a file: "$schema": "workflow.schema.json" at its root, or in YAML the
    comment # yaml-language-server: $schema=workflow.schema.json
    """
    print_json(workflow_schema())


@click.command(
    "rules",
    short_help="Explain every code that lint reports, as Markdown.",
    epilog=examples("headway workflows rules | less"),
)
def rules_command() -> None:
    """Explain every code that lint reports, as Markdown."""
    click.echo(rules_page(), nl=False)


@contextmanager
def _opened(folders: tuple[str, ...]) -> Iterator[WorkflowFiles]:
    """Yield the files of this home, with those of the folders in front. Raises CannotTell."""
    with told(CannotTell):
        settings = process_settings()
        if folders:
            settings = replace(settings, workflow_path=folders)
        with open_workflow_files(settings) as files:
            yield files


def _print(linted: Linted, mended: Mended, form: str) -> None:
    match form:
        case "sarif":
            print_json(sarif_log(linted, str(Path.cwd())))
        case "json":
            found = [wire_diagnostic(each) for each in linted.diagnostics]
            changes = dict(mended.changes)
            print_json({"files": linted.files, "diagnostics": found, "changes": changes})
        case _:
            _tell(linted, mended)


def _tell(linted: Linted, mended: Mended) -> None:
    for path, count in mended.changes.items():
        click.echo(f"{near(path)}: {counted(count, 'change')} made.")
    for diagnostic in linted.diagnostics:
        shown = msgspec.structs.replace(diagnostic, file=near(diagnostic.file))
        click.echo(one_line(shown.text()))
    severities = ("error", "warning", "info")
    counts = ", ".join(counted(linted.count(each), each) for each in severities)
    click.echo(f"{counted(len(linted.files), 'file')}: {counts}.")

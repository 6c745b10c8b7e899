"""Opening the one workflow that a command is about: named by its id, or by the path of a file."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from headway.application.author_file import author_file
from headway.bootstrap import open_workflow_files
from headway.cli.completing import complete_workflow_or_file
from headway.cli.listed import A_WORKFLOW
from headway.cli.opening import told
from headway.cli.refusing import CannotTell
from headway.config import process_settings
from headway.domain.workflow import Workflow
from headway.ports.workflow_files import WorkflowFile

WORKFLOW_OR_FILE: Final = click.argument(
    "workflow", type=A_WORKFLOW, metavar="ID|PATH", shell_complete=complete_workflow_or_file
)


def one_workflow(name: str) -> tuple[WorkflowFile, Workflow]:
    """Return the workflow file of an id or a path, and what it compiles to. Raises CannotTell."""
    path = Path(name)
    is_file = path.is_file()
    within = (str(path.resolve()),) if is_file else ()
    with told(CannotTell):
        settings = process_settings()
        if is_file:  # the routines beside it are found from its folder
            folder = str(path.resolve().parent)
            settings = replace(settings, workflow_path=(folder, *settings.workflow_path))
        with open_workflow_files(settings) as files:
            return author_file(files, str(Path.cwd()), name, within)

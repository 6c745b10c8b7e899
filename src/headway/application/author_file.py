"""Finding the one workflow file an author means: by its id, or by its path."""

import difflib

from headway.domain.errors import NotFound, PreconditionFailed
from headway.domain.workflow import Workflow
from headway.ports.workflow_files import WorkflowFile, WorkflowFiles


def author_file(
    files: WorkflowFiles, workspace: str, name: str, within: tuple[str, ...] = ()
) -> tuple[WorkflowFile, Workflow]:
    """Return the file of an id, or the first of `within`, and what it compiles to.

    Raises NotFound with the nearest ids, PreconditionFailed for a file with errors.
    """
    seen = files.files(workspace, within)
    meant = [each for each in seen if within or (_id(each) == name and not each.shadowed_by)]
    if not meant:
        known = sorted({_id(each) for each in seen})
        near = difflib.get_close_matches(name, known, 3)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise NotFound(
            f"There is no workflow {name!r} here, and no file of that name.",
            remedy=f"{hint}`headway workflows list` names those that this folder can use.",
            details={"workflowId": name, "didYouMean": near},
        )
    file = meant[0]
    if file.compilation.workflow is None:
        first = file.compilation.diagnostics[0]
        raise PreconditionFailed(
            f"The workflow cannot be started: {first.text()}",
            remedy=f"Mend it; `headway workflows lint {file.path}` tells everything.",
            details={"file": file.path},
        )
    return file, file.compilation.workflow


def _id(file: WorkflowFile) -> str:
    return "" if file.document is None else str(file.document.root.get("id", ""))

"""Copy a workflow: any that can be seen, under an id of one's own, to be changed from there.

Comments and layout stay; what changes is the id, the schema named for editors, and a note of what
it is a copy of: `copiedFrom`, with id, version and hash.
"""

import os.path

from headway.application.engine import Engine
from headway.application.finding import startable, workspace_of
from headway.application.new_ids import file_name_of, require_free_form
from headway.application.schema_place import named_from, provide_schema, schema_of
from headway.domain.compiler.nodes import text as text_at
from headway.domain.compiler.reading import Document, is_yaml, read_document
from headway.domain.diagnostics import Mend
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.linting.mending import mended
from headway.domain.values import Value
from headway.domain.writing.converting import format_of
from headway.domain.writing.editor_line import (
    SCHEMA_KEY,
    is_relative,
    schema_named,
    with_schema_named,
)
from headway.ports.catalogue import Entry
from headway.ports.drafts import Drafts

FOLDER = (".headway", "workflows")


class CopyWorkflow(Value):
    """What to copy, under which id, to which file; without one, among the workspace's own."""

    workflow_id: str
    new_id: str
    workspace: str
    file: str = ""
    replace: bool = False


class Copied(Value):
    """What came of it: the new file, what it was copied from, and the hash of that."""

    file: str
    original: str
    hash: str


def copy_workflow(engine: Engine, drafts: Drafts, request: CopyWorkflow) -> Copied:
    """Write the copy.

    Raises NotFound for an unknown workflow, PreconditionFailed for a broken one, for an id that is
    taken and for a file that is there already, InvalidInput for an id that cannot be used.
    """
    workspace = workspace_of(engine, request.workspace)
    entry, workflow = startable(engine, request.workflow_id, workspace)
    require_free_form(request.new_id)
    taken = engine.catalogue.find(request.new_id, workspace)
    suffix = os.path.splitext(entry.path)[1]  # noqa: PTH122 - paths are texts here
    file = request.file or os.path.join(  # noqa: PTH118
        workspace, *FOLDER, file_name_of(request.new_id, suffix)
    )
    if taken is not None and (taken.path != file or not request.replace):
        raise PreconditionFailed(
            f"The id {request.new_id} is taken, by {taken.path}.",
            remedy="Choose another with --as.",
            details={"kind": "id_taken", "file": taken.path},
        )
    if format_of(file) != format_of(entry.path):
        raise InvalidInput(
            f"{entry.path} is {format_of(entry.path).upper()}, and a copy keeps the format.",
            remedy=f"Name a file that ends in {suffix}; `headway workflows convert` changes it.",
        )
    document = _read(drafts, entry)
    origin = {"id": workflow.id, "version": workflow.version, "hash": entry.hash}
    document = _changed(document, Mend(action="put", path=("id",), value=request.new_id))
    document = _changed(document, Mend(action="put", path=("copiedFrom",), value=origin))
    text = _with_schema(document, entry, file, workspace)
    drafts.write(file, text, replace=request.replace)
    provide_schema(drafts, workspace)
    return Copied(file=file, original=entry.path, hash=entry.hash)


def _read(drafts: Drafts, entry: Entry) -> Document:
    document = read_document(drafts.read(entry.path), entry.path)
    if isinstance(document, Document):
        return document
    raise PreconditionFailed(f"{entry.path} was changed meanwhile.", remedy="Try again.")


def _changed(document: Document, mend: Mend) -> Document:
    after = mended(document, mend)
    if after is None:
        raise PreconditionFailed(
            f"{mend.path[0]} cannot be changed in {document.name} without touching other text.",
            remedy="Copy the file by hand, and give it an id of its own.",
        )
    return after


def _with_schema(document: Document, entry: Entry, file: str, workspace: str) -> str:
    """Return the text with the schema it names, if it does so by its place, named from there."""
    if is_relative(key := text_at(document.root, SCHEMA_KEY)):
        place = _rebased(key, entry, file, workspace)
        document = _changed(document, Mend(action="put", path=(SCHEMA_KEY,), value=place))
    text = document.source
    if is_yaml(document.name) and is_relative(line := schema_named(text)):
        text = with_schema_named(text, _rebased(line, entry, file, workspace))
    return text


def _rebased(schema: str, entry: Entry, file: str, workspace: str) -> str:
    """Return how the copy names a schema: the same file, but for one inside the package."""
    if entry.source == "bundled":
        return named_from(file, schema_of(workspace))
    beside = os.path.join(os.path.dirname(entry.path), schema)  # noqa: PTH118, PTH120
    return named_from(file, os.path.normpath(beside))

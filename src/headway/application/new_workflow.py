"""Begin a workflow: a commented file that compiles and that lint has nothing to say about."""

from headway.application.new_ids import require_free_form
from headway.application.schema_place import named_from, provide_schema, schema_of
from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.errors import InvalidInput
from headway.domain.values import Value
from headway.domain.writing.converting import format_of
from headway.domain.writing.skeleton import Skeleton, skeleton_text
from headway.ports.drafts import Drafts


class NewWorkflow(Value):
    """What to write, and where: absolute paths of the file and of the workspace."""

    skeleton: Skeleton
    file: str
    workspace: str
    replace: bool = False


def new_workflow(drafts: Drafts, request: NewWorkflow) -> str:
    """Write the file, and the schema it names where the workspace has none; return its text.

    Raises InvalidInput for an id, name or description that cannot be used, PreconditionFailed when
    there is a file already or none can be written.
    """
    require_free_form(request.skeleton.id)
    if format_of(request.file) != "yaml":
        raise InvalidInput(
            f"{request.file} does not end in .yaml or .yml.",
            remedy="Name it so; `headway workflows convert` makes JSON of it.",
        )
    schema = named_from(request.file, schema_of(request.workspace))
    text = skeleton_text(request.skeleton, schema)
    document = read_document(text.encode(), request.file)
    assert isinstance(document, Document)
    for found in compile_workflow(document, Sources()).diagnostics:
        raise InvalidInput(f"{found.what} {found.why}", remedy=found.remedy)
    drafts.write(request.file, text, replace=request.replace)
    provide_schema(drafts, request.workspace)
    return text

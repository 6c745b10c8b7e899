"""Convert a workflow file: JSON to YAML for people, YAML to JSON for what reads nothing else."""

import os.path

from headway.application.finding import wire_diagnostic
from headway.domain.compiler.reading import Document, read_document
from headway.domain.diagnostics import Diagnostic
from headway.domain.errors import InvalidInput
from headway.domain.values import Value
from headway.domain.writing.converting import OTHER, Converted, Format, converted, format_of
from headway.ports.drafts import Drafts


class ConvertWorkflow(Value):
    """A file to convert; both paths are absolute. Without `output` nothing is written."""

    file: str
    to: Format | None = None  # the other one than the file's, unless given
    output: str = ""
    replace: bool = False


def convert_workflow(drafts: Drafts, request: ConvertWorkflow) -> Converted:
    """Return the file's text in the other format, and write it where that is asked for.

    Raises NotFound, InvalidInput with what is wrong with the file, PreconditionFailed when there is
    one in its place already.
    """
    to = request.to or OTHER[format_of(request.file)]
    if request.output and format_of(request.output) != to:
        name = os.path.basename(request.output)  # noqa: PTH119 - paths are texts here
        raise InvalidInput(
            f"The name {name} does not say that the file holds {to.upper()}.",
            remedy=f"Give it a name that ends in .{to}, or ask for the other format with --to.",
        )
    document = read_document(drafts.read(request.file), request.file)
    if not isinstance(document, Document):
        raise _unreadable(document)
    found = converted(document, to)
    if not isinstance(found, Converted):
        raise _unreadable(found)
    if request.output:
        drafts.write(request.output, found.text, replace=request.replace)
    return found


def _unreadable(diagnostics: tuple[Diagnostic, ...]) -> InvalidInput:
    first = diagnostics[0]
    return InvalidInput(
        f"The file cannot be converted. {first.text()}",
        remedy="Mend it first; `headway workflows lint` tells all that is wrong with it.",
        details={"diagnostics": [wire_diagnostic(each) for each in diagnostics]},
    )

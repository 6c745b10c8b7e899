"""Lint workflow files: everything the compiler and the linter have to say about them."""

from collections.abc import Iterator

from headway.domain.compiler.codes import CODES
from headway.domain.diagnostics import Diagnostic
from headway.domain.linting.linting import lint
from headway.domain.values import Value
from headway.ports.workflow_files import WorkflowFile, WorkflowFiles


class Linted(Value):
    """The files looked at, and what was found, in order of file and place."""

    files: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    def count(self, severity: str) -> int:
        """Return how many diagnostics have a severity."""
        return sum(each.severity == severity for each in self.diagnostics)


def lint_workflows(files: WorkflowFiles, workspace: str, within: tuple[str, ...] = ()) -> Linted:
    """Return what is to be said of the workflow files seen from a workspace, or those of `within`.

    `within` holds absolute paths of files and folders.
    """
    seen = files.files(workspace, within)
    found = [each for file in seen for each in diagnostics_of(file)]
    return Linted(
        files=tuple(file.path for file in seen), diagnostics=tuple(sorted(found, key=_place))
    )


def diagnostics_of(file: WorkflowFile) -> Iterator[Diagnostic]:
    """Yield what is to be said of one file."""
    if file.shadowed_by:
        yield Diagnostic(
            code="ID_TAKEN", severity=CODES["ID_TAKEN"].severity, file=file.path, line=1, column=1,
            path="id", what=f"{file.shadowed_by} has the same id and is used instead.",
            why=CODES["ID_TAKEN"].why, remedy="Give one of the two another id, or remove it.",
        )  # fmt: skip
    if file.document is None:
        yield from file.compilation.diagnostics
    else:
        yield from lint(file.document, file.compilation, file.sources.routines, file.known)


def _place(diagnostic: Diagnostic) -> tuple[str, int, int]:
    return diagnostic.file, diagnostic.line, diagnostic.column

"""Mend workflow files: make the changes that are certain, leave everything else as it stands."""

from typing import Final

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document
from headway.domain.diagnostics import Diagnostic, Mend
from headway.domain.linting.linting import lint
from headway.domain.linting.mending import mended
from headway.domain.values import Value
from headway.ports.workflow_files import WorkflowFile, WorkflowFiles

MENDS_MAX: Final = 200  # of one file in one run
STAMPING: Final = frozenset({"SPEC_STAMP_MISSING", "SPEC_STAMP_OLD"})


class Mended(Value):
    """What became of the files: how many changes each had, and why one could not be written."""

    changes: dict[str, int] = {}
    refused: dict[str, str] = {}


def mend_workflows(
    files: WorkflowFiles,
    workspace: str,
    within: tuple[str, ...] = (),
    *,
    fix: bool = True,
    stamp: bool = False,
) -> Mended:
    """Mend what is certain (`fix`), and stamp with the rules in force what compiles (`stamp`).

    A file is written once, with all its changes, or not at all.
    """
    changes: dict[str, int] = {}
    refused: dict[str, str] = {}
    for file in files.files(workspace, within):
        if file.document is None:
            continue
        after, count = _mended(file, file.document, fix=fix, stamp=stamp)
        if not count:
            continue
        if trouble := files.rewrite(file.path, file.document.source, after.source):
            refused[file.path] = trouble
        else:
            changes[file.path] = count
    return Mended(changes=changes, refused=refused)


def _mended(
    file: WorkflowFile, document: Document, *, fix: bool, stamp: bool
) -> tuple[Document, int]:
    """Return the document after all changes, and their number: each changes where others stand."""
    count, compilation = 0, file.compilation
    failed: list[Mend] = []
    while count < MENDS_MAX:
        found = lint(document, compilation, file.sources.routines, file.known)
        mend = next((m for each in found if (m := _wanted(each, fix=fix, stamp=stamp))
                     and m not in failed), None)  # fmt: skip
        if mend is None:
            break
        after = mended(document, mend)
        if after is None:
            failed.append(mend)
            continue
        document, count = after, count + 1
        compilation = compile_workflow(document, file.sources)
    return document, count


def _wanted(diagnostic: Diagnostic, *, fix: bool, stamp: bool) -> Mend | None:
    return diagnostic.mend if (stamp if diagnostic.code in STAMPING else fix) else None

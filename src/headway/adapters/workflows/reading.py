"""Reading a found file: its id, and its document or the reasons why there is none.

A file that cannot be read still has an id, so that starting it says what is wrong with it.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headway.adapters.workflows.scanning import FoundFile
from headway.domain.compiler.codes import CODES
from headway.domain.compiler.reading import Document, declared_id, read_document
from headway.domain.diagnostics import Diagnostic

FILE_BYTES_MAX: Final = 1_000_000
NAMEABLE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file with its id; `guessed` when only its name could tell it."""

    file: FoundFile
    id: str
    document: Document | None
    diagnostics: tuple[Diagnostic, ...] = ()
    guessed: bool = False


def read_file(file: FoundFile) -> ReadFile:
    """Read a file; never raises for what is wrong with it."""
    if file.trouble:
        return _unreadable(file, b"", "FILE_UNREADABLE", file.trouble)
    try:
        with Path(file.path).open("rb") as opened:
            text = opened.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        return _unreadable(
            file, b"", "FILE_UNREADABLE", f"The file cannot be read: {error.strerror}."
        )
    if len(text) > FILE_BYTES_MAX:
        size = file.stamp[1] if file.stamp else len(text)
        return _unreadable(file, text, "FILE_TOO_LARGE", f"The file has {size} bytes.")
    found = read_document(text, file.path)
    document = found if isinstance(found, Document) else None
    workflow_id = _id_in(document) or declared_id(text, file.path)
    return ReadFile(
        file=file,
        id=workflow_id,
        document=document,
        diagnostics=() if isinstance(found, Document) else found,
        guessed=document is None and workflow_id == Path(file.path).stem,
    )


def file_diagnostic(file: str, code: str, what: str, remedy: str) -> Diagnostic:
    """Return a problem of a file as a whole; its weight and the rule behind it follow its code."""
    rule = CODES[code]
    return Diagnostic(
        code=code, severity=rule.severity, file=file, line=1, column=1, path="",
        what=what, why=rule.why, remedy=remedy,
    )  # fmt: skip


def _id_in(document: Document | None) -> str:
    """Return the id of a document as far as one can be asked for by it."""
    found = document.root.get("id") if document else None
    return found if isinstance(found, str) and NAMEABLE.fullmatch(found) else ""


def _unreadable(file: FoundFile, text: bytes, code: str, what: str) -> ReadFile:
    if code == "FILE_TOO_LARGE":
        remedy = "Split the work into several workflows, or move long prose to a reference."
    else:
        remedy = "Mend its permissions or its link, or move it out of the folder."
    workflow_id = declared_id(text, file.path)
    return ReadFile(
        file=file,
        id=workflow_id,
        document=None,
        diagnostics=(file_diagnostic(file.path, code, what, remedy),),
        guessed=workflow_id == Path(file.path).stem,
    )

"""Reading a found file: its id, and its document or the reasons why there is none.

A file that cannot be read still has an id, so that starting it says what is wrong with it.
"""

import hashlib
import os
import re
import stat
from dataclasses import dataclass, replace
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
    """A file with its id; `guessed` when only its name could tell it.

    `digest` is that of its bytes, empty when there are none. `settled` tells that any change after
    it was read shows in its stamp; where it is not, the stamp proves nothing.
    """

    file: FoundFile
    id: str
    document: Document | None
    diagnostics: tuple[Diagnostic, ...] = ()
    guessed: bool = False
    digest: bytes = b""
    settled: bool = True


def read_file(file: FoundFile, known: ReadFile | None, *, settled: bool) -> ReadFile:
    """Read a file, which was `known` before; never raises for what is wrong with it.

    Bytes that are known are not parsed again. `settled` is what to say of the result.
    """
    if file.trouble:
        return _unreadable(file, b"", "FILE_UNREADABLE", file.trouble)
    try:
        text = file_bytes(file.path)
    except OSError as error:
        told = f"The file cannot be read: {error.strerror or error}."
        # It may have been a want of this moment, such as of file descriptors.
        return replace(_unreadable(file, b"", "FILE_UNREADABLE", told), settled=False)
    digest = hashlib.sha256(text).digest()
    if known is not None and known.digest == digest:
        if known.file == file and known.settled == settled:
            return known
        return replace(known, file=file, settled=settled)
    return replace(_parsed(file, text), digest=digest, settled=settled)


def file_bytes(path: str) -> bytes:
    """Return the beginning of a regular file: all of it, or more than a workflow may have.

    What was a file when it was found may be a pipe by now, whose opening would wait for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
        return opened.read(FILE_BYTES_MAX + 1)


def _parsed(file: FoundFile, text: bytes) -> ReadFile:
    if len(text) > FILE_BYTES_MAX:
        size = file.stamp[2] if file.stamp else len(text)
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

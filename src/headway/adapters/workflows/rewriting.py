"""Changing a workflow file: whole or not at all, and only if nobody else changed it meanwhile."""

import os
import tempfile
from pathlib import Path
from typing import Final

READ_ONLY: Final = ".workrail"  # another system's folder: what stands in it is its users' alone
_MARK: Final = b"\xef\xbb\xbf"  # a byte order mark, which stays where it was


def rewrite_file(path: Path, before: str, after: str) -> str:
    """Replace the text of a file at one stroke; return why not, in a sentence, or nothing.

    A link stays a link: the file it leads to is changed. Mode and byte order mark are kept.
    """
    target = Path(os.path.realpath(path))
    if READ_ONLY in target.parts:
        return (
            f"Headway only reads what stands in {READ_ONLY}. Copy the file into .headway/workflows "
            "and mend it there."
        )
    try:
        data = target.read_bytes()
        mark = _MARK if data.startswith(_MARK) else b""
        if data != mark + before.encode():
            return "It was changed meanwhile."
        replace_file(target, mark + after.encode())
    except OSError as error:
        return f"It cannot be written: {error.strerror or error}."
    return ""


def replace_file(path: Path, data: bytes) -> None:
    """Put data in the place of a file that is there, mode kept. Raises OSError."""
    mode = path.stat().st_mode & 0o7777
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

"""What tells without git that a repository's HEAD has not moved: the files that git itself reads.

A mark is equal to an earlier one only if branch, head and repository are what they were then. Where
that cannot be told from a few small files (no commit yet, references in a table, a repository
without a work tree), there is no mark, and git is asked.
"""

from pathlib import Path
from typing import Final, NamedTuple

BYTES_MAX: Final = 4_096  # of a file that holds one line
REFERENCE: Final = b"ref: "
GIT_FOLDER: Final = b"gitdir: "


class HeadMark(NamedTuple):
    """Where the repository of a folder is found, and what its HEAD comes down to."""

    found: str
    folder: str
    head: bytes
    commit: bytes | tuple[int, int, int]


def head_mark(path: str) -> HeadMark | None:
    """Return the mark of the repository that a folder is in; None where there is none to be had."""
    try:
        return _mark(Path(path).resolve(strict=True))
    except (OSError, RuntimeError, ValueError):
        return None


def _mark(path: Path) -> HeadMark | None:
    found = next((each for each in (path, *path.parents) if (each / ".git").exists()), None)
    if found is None:
        return None
    folder = _folder(found)
    head = _line(folder / "HEAD")
    if not head.startswith(REFERENCE):
        return HeadMark(str(found), str(folder), head, head)
    common = folder / "commondir"
    base = (folder / _line(common).decode()).resolve() if common.exists() else folder
    loose = base / head.removeprefix(REFERENCE).decode()
    if loose.exists():
        commit = _line(loose)
        return (
            None
            if commit.startswith(REFERENCE)
            else HeadMark(str(found), str(folder), head, commit)
        )
    packed = (base / "packed-refs").stat()
    return HeadMark(
        str(found), str(folder), head, (packed.st_ino, packed.st_size, packed.st_mtime_ns)
    )


def _folder(found: Path) -> Path:
    """Return git's own folder of a work tree, which a file names in one that was added."""
    entry = found / ".git"
    if entry.is_dir():
        return entry
    return found / _line(entry).removeprefix(GIT_FOLDER).decode()


def _line(path: Path) -> bytes:
    with path.open("rb", buffering=0) as file:
        return file.read(BYTES_MAX).strip()

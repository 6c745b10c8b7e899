"""Finding workflow files under a folder: each once, in order of path, none outside the folder.

Hidden names and the folders of tools are passed over. A link is followed only to a place inside the
folder that was not visited yet, so a walk ends and never leaves. Depth and number are limited, and
whatever is left out because of a limit, a link or a refusal of the file system is told.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

SUFFIXES: Final = (".json", ".yaml", ".yml")
SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})
HIDING_FOLDERS: Final = frozenset({"examples", "internal"})
DEPTH_MAX: Final = 8  # folders below the one that was named
FILES_MAX: Final = 2_000  # workflow files in one source
ENTRIES_MAX: Final = 50_000  # names looked at in one source
PROBLEMS_MAX: Final = 20

Stamp: TypeAlias = tuple[int, int, int]  # modification time in ns, size, inode


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file as it was found; `stamp` is None when it cannot even be looked at."""

    path: str
    hidden: bool
    stamp: Stamp | None
    trouble: str = ""  # why it cannot be read, in words


@dataclass(frozen=True, slots=True)
class Scan:
    """What a folder holds."""

    files: tuple[FoundFile, ...] = ()
    problems: tuple[str, ...] = ()
    missing: bool = False


@dataclass(slots=True)
class _Walk:
    root: str  # resolved
    files: list[FoundFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    visited: set[tuple[int, int]] = field(default_factory=set)
    entries: int = 0

    def tell(self, problem: str) -> None:
        if len(self.problems) < PROBLEMS_MAX and problem not in self.problems:
            self.problems.append(problem)


def scan(folder: str, within: str = "") -> Scan:
    """Return the workflow files under a folder, which must itself lie inside `within` if given."""
    root = os.path.realpath(folder)
    if not os.path.isdir(root):  # noqa: PTH112 - paths are plain text here, by the thousand
        return Scan(missing=True)
    if within and not _inside(root, os.path.realpath(within)):
        return Scan(problems=(f"{folder} leads outside {within} and was not searched.",))
    walk = _Walk(root)
    _walk(walk, folder, hidden=False, depth=0)
    files = sorted(walk.files, key=lambda file: file.path)
    return Scan(tuple(files), tuple(walk.problems))


def _walk(walk: _Walk, folder: str, *, hidden: bool, depth: int) -> None:
    if not _first_visit(walk, folder):
        return
    try:
        with os.scandir(folder) as listing:
            entries = sorted(_limited(walk, listing), key=lambda entry: entry.name)
    except OSError as error:
        walk.tell(f"{folder} could not be searched: {error.strerror}.")
        return
    folders = []
    for entry in entries:
        if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS or _leads_out(walk, entry):
            continue
        if entry.is_dir():
            folders.append(entry)
        elif entry.name.endswith(SUFFIXES):
            _take(walk, entry, hidden=hidden)
    if folders and depth >= DEPTH_MAX:
        walk.tell(f"{folder} is {DEPTH_MAX} folders deep; what lies deeper was not searched.")
        return
    for entry in folders:
        _walk(walk, entry.path, hidden=hidden or entry.name in HIDING_FOLDERS, depth=depth + 1)


def _limited(walk: _Walk, listing: Iterator[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
    for entry in listing:
        if walk.entries >= ENTRIES_MAX:
            walk.tell(
                f"{walk.root} holds more than {ENTRIES_MAX} names; the rest was not looked at."
            )
            return
        walk.entries += 1
        yield entry


def _first_visit(walk: _Walk, path: str) -> bool:
    try:
        found = os.stat(path)  # noqa: PTH116 - as above
    except OSError as error:
        walk.tell(f"{path} could not be searched: {error.strerror}.")
        return False
    key = (found.st_dev, found.st_ino)
    new = key not in walk.visited
    walk.visited.add(key)
    return new


def _leads_out(walk: _Walk, entry: os.DirEntry[str]) -> bool:
    if not entry.is_symlink():
        return False
    if _inside(os.path.realpath(entry.path), walk.root):
        return False
    walk.tell(f"{entry.path} is a link that leads outside its folder and was not followed.")
    return True


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _take(walk: _Walk, entry: os.DirEntry[str], *, hidden: bool) -> None:
    if len(walk.files) >= FILES_MAX:
        walk.tell(f"{walk.root} holds more than {FILES_MAX} workflow files; the rest was not read.")
        return
    try:
        found = entry.stat()
    except OSError as error:
        trouble = f"It cannot be opened: {error.strerror}."
        walk.files.append(FoundFile(entry.path, hidden, None, trouble))
        return
    key = (found.st_dev, found.st_ino)
    if key in walk.visited:  # another name of a file that is already there
        return
    walk.visited.add(key)
    stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
    trouble = "" if stat.S_ISREG(found.st_mode) else "It is not a regular file."
    walk.files.append(FoundFile(entry.path, hidden, stamp, trouble))

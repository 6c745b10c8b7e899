"""Finding workflow files under a folder: each once, in order of path, none outside the folder.

Hidden names and the folders of tools are passed over. A link is followed only to a place inside the
folder that was not visited yet, so a walk ends and never leaves. Depth and number are limited, and
whatever is left out because of a limit, a link or a refusal of the file system is told.
"""

import errno
import os
import stat
from dataclasses import dataclass, field
from typing import Final

from headway.adapters.workflows.listing import SUFFIXES, Listings, Name, Stamp, make_room, stamp_of

HIDING_FOLDERS: Final = frozenset({"examples", "internal"})
DEPTH_MAX: Final = 8  # folders below the one that was named
FILES_MAX: Final = 2_000  # workflow files in one source
ENTRIES_MAX: Final = 50_000  # names looked at in one source
PROBLEMS_MAX: Final = 20
FILES_KEPT_MAX: Final = 20_000
SCANS_KEPT_MAX: Final = 1_000
FOLDER_IN_PLACE: Final = "It is a folder, not a file."


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


class Scanner:
    """Scans folders, one at a time. What did not change since a scan is the same object as then."""

    def __init__(self, listings: Listings) -> None:
        self._listings = listings
        self._files: dict[str, FoundFile] = {}
        self._scans: dict[str, Scan] = {}

    def scan(self, folder: str, within: str = "") -> Scan:
        """Return the workflow files under a folder, which must lie inside `within` if given."""
        scan = self._scan(folder, within)
        known = self._scans.get(folder)
        if known is not None and known == scan:
            return known
        make_room(self._scans, SCANS_KEPT_MAX)
        self._scans[folder] = scan
        return scan

    def _scan(self, folder: str, within: str) -> Scan:
        try:
            found = os.stat(folder)  # noqa: PTH116 - paths are plain text here, by the thousand
        except FileNotFoundError:
            return Scan(missing=True)
        except (OSError, ValueError) as error:
            return Scan(missing=True, problems=(f"{folder} could not be searched: {error}.",))
        if not stat.S_ISDIR(found.st_mode):
            return Scan(missing=True, problems=(f"{folder} is not a folder.",))
        root = os.path.realpath(folder)
        if within and not inside(root, os.path.realpath(within)):
            told = f"{folder} leads outside {within} and was not searched."
            return Scan(problems=(told,))
        walk = _Walk(root)
        self._walk(walk, folder, hidden=False, depth=0)
        files = sorted(walk.files, key=lambda file: file.path)
        return Scan(tuple(files), tuple(walk.problems))

    def _walk(self, walk: _Walk, folder: str, *, hidden: bool, depth: int) -> None:
        try:
            listing = self._listings.of(folder)
        except OSError as error:
            walk.tell(f"{folder} could not be searched: {error.strerror}.")
            return
        if listing.place in walk.visited:
            return
        walk.visited.add(listing.place)
        if listing.trouble:
            walk.tell(f"{folder} could not be searched: {listing.trouble}.")
        walk.entries += listing.total
        if listing.cut or walk.entries > ENTRIES_MAX:
            told = f"holds more than {ENTRIES_MAX} names; the rest was not looked at."
            walk.tell(f"{walk.root} {told}")
            if not listing.cut:
                return
        folders = [name for name in listing.names if self._take(walk, name, hidden=hidden)]
        if folders and depth >= DEPTH_MAX:
            walk.tell(f"{folder} is {DEPTH_MAX} folders deep; what lies deeper was not searched.")
            return
        for name in folders:
            within = hidden or name.name in HIDING_FOLDERS
            self._walk(walk, name.path, hidden=within, depth=depth + 1)

    def _take(self, walk: _Walk, name: Name, *, hidden: bool) -> bool:
        """Take a file that is found under a name; return whether it is a folder's instead."""
        if name.kind == "folder" and not name.name.endswith(SUFFIXES):
            return True
        if name.kind == "link" and _leads_out(walk, name):
            return False
        try:
            found = os.stat(name.path)  # noqa: PTH116 - as above
        except OSError as error:
            if name.name.endswith(SUFFIXES):
                self._add(walk, FoundFile(name.path, hidden, None, _cannot_be_opened(error)))
            return False
        stamp = stamp_of(found)
        known = self._files.get(name.path)
        if known is None or known.stamp != stamp or known.hidden is not hidden:
            is_folder = stat.S_ISDIR(found.st_mode)
            if not name.name.endswith(SUFFIXES):
                return is_folder
            known = FoundFile(name.path, hidden, stamp, _trouble(found.st_mode))
        key = (found.st_dev, found.st_ino)
        if key not in walk.visited:  # else it is another name of a file that is already there
            walk.visited.add(key)
            self._add(walk, known)
        return False

    def _add(self, walk: _Walk, file: FoundFile) -> None:
        if len(walk.files) >= FILES_MAX:
            told = f"holds more than {FILES_MAX} workflow files; the rest was not read."
            walk.tell(f"{walk.root} {told}")
            return
        known = self._files.get(file.path)
        if known is not file and known != file:
            make_room(self._files, FILES_KEPT_MAX)
            self._files[file.path] = known = file
        walk.files.append(known)


def inside(path: str, root: str) -> bool:
    """Tell whether one resolved path lies in another."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _leads_out(walk: _Walk, name: Name) -> bool:
    if inside(os.path.realpath(name.path), walk.root):
        return False
    walk.tell(f"{name.path} is a link that leads outside its folder and was not followed.")
    return True


def _cannot_be_opened(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "It is a link that leads back to itself."
    return f"It cannot be opened: {error.strerror}."


def _trouble(mode: int) -> str:
    if stat.S_ISREG(mode):
        return ""
    return FOLDER_IN_PLACE if stat.S_ISDIR(mode) else "It is not a regular file."

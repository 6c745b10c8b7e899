"""What folders hold, remembered for as long as nothing was added to them, removed or renamed.

All of that moves a folder's own times, so one look at the folder tells whether its names still
hold. Times are coarse, though: what was changed a moment before it was listed may be changed again
under the same stamp. Such a listing is used once and made again at the next call.
"""

import os
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias, TypeVar

from headway.ports.clock import Clock

SUFFIXES: Final = (".json", ".yaml", ".yml")
SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})
PROJECT_MARKS: Final = (".headway", ".workrail")
NAMES_MAX: Final = 50_000  # looked at in one folder
LISTINGS_KEPT_MAX: Final = 20_000
TICK_NS: Final = 100_000_000  # well above the tick of a disk that counts in nanoseconds
COARSE_TICK_NS: Final = 2_000_000_000  # and of one that counts in seconds
SECOND_NS: Final = 1_000_000_000
MS_NS: Final = 1_000_000

# Modification and change time in ns, size, inode. A change of permissions moves the change time.
Stamp: TypeAlias = tuple[int, int, int, int]
Kind: TypeAlias = Literal["folder", "file", "link"]
Key = TypeVar("Key")
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a folder: of a folder, a link, or a file that may hold a workflow."""

    name: str
    path: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in a folder that may lead to workflows, in order; `place` is the folder itself.

    `total` counts every name that was looked at; `cut` tells that there are more. With `trouble`,
    in words, it could not be listed.
    """

    stamp: Stamp
    place: tuple[int, int]
    names: tuple[Name, ...] = ()
    marks: tuple[str, ...] = ()  # which of PROJECT_MARKS are there
    total: int = 0
    cut: bool = False
    trouble: str = ""


class Listings:
    """Lists folders, again only when they changed; used by one thread at a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, Listing] = {}

    def of(self, path: str) -> Listing:
        """Return what a folder holds now. Raises OSError when there is none to look at."""
        found = os.stat(path)  # noqa: PTH116 - paths are plain text here, by the thousand
        stamp = stamp_of(found)
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        settled = self.is_settled(stamp)
        listing = _listed(path, stamp, (found.st_dev, found.st_ino))
        self._known.pop(path, None)
        if settled:
            make_room(self._known, LISTINGS_KEPT_MAX)
            self._known[path] = listing
        return listing

    def is_settled(self, stamp: Stamp) -> bool:
        """Tell whether a change from now on would show in a stamp."""
        changed = max(stamp[0], stamp[1])
        tick = TICK_NS if changed % SECOND_NS else COARSE_TICK_NS
        return self._clock.now_ms() * MS_NS - changed > tick


def stamp_of(found: os.stat_result) -> Stamp:
    """Return what tells one state of a file or folder from the next."""
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def make_room(kept: MutableMapping[Key, Kept], most: int) -> None:
    """Forget the oldest of what is kept until one more may be."""
    while len(kept) >= most:
        del kept[next(iter(kept))]


def _listed(path: str, stamp: Stamp, place: tuple[int, int]) -> Listing:
    try:
        with os.scandir(path) as listing:
            entries = list(islice(listing, NAMES_MAX + 1))
    except OSError as error:
        return Listing(stamp, place, trouble=error.strerror or str(error))
    looked_at = entries[:NAMES_MAX]
    names = sorted(_names(looked_at), key=lambda each: each.name)
    marks = tuple(entry.name for entry in looked_at if entry.name in PROJECT_MARKS)
    return Listing(
        stamp, place, tuple(names), marks, total=len(looked_at), cut=len(entries) > NAMES_MAX
    )


def _names(entries: list[os.DirEntry[str]]) -> Iterator[Name]:
    for entry in entries:
        if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
            continue
        kind: Kind = (
            "link"
            if entry.is_symlink()
            else "folder"
            if entry.is_dir(follow_symlinks=False)
            else "file"
        )
        # Any other file cannot hold a workflow; a link may lead to a folder under any name.
        if kind != "file" or entry.name.endswith(SUFFIXES):
            yield Name(entry.name, entry.path, kind)

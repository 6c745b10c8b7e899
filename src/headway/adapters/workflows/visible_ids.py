"""The ids of the workflows that can be seen from a workspace, without reading what they say.

For those who complete a word on Tab and wait for it: nothing is parsed, compiled or opened. A file
that turns out broken, or yields to another, has its id told all the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from headway.adapters.workflows.folders import Folders
from headway.adapters.workflows.listing import Listings
from headway.adapters.workflows.reading import file_bytes
from headway.adapters.workflows.scanning import Scanner
from headway.domain.compiler.reading import declared_id
from headway.ports.catalogue import SourceKind
from headway.ports.listing import Listing
from headway.ports.sources import GitSource


@dataclass(frozen=True, slots=True)
class SeenSources:
    """Implements `ports.sources.KnownSources` with what an onlooker saw."""

    folders: tuple[str, ...]
    repositories: tuple[GitSource, ...]

    def attached(self) -> Listing[str]:
        """Return the attached folders."""
        return Listing(self.folders)

    def git_sources(self) -> Listing[GitSource]:
        """Return the git repositories."""
        return Listing(self.repositories)


def visible_ids(folders: Folders, listings: Listings, workspace: str) -> dict[str, SourceKind]:
    """Return each id, in order, with the kind of the first folder that has it."""
    scanner = Scanner(listings)
    found: dict[str, SourceKind] = {}
    for folder in folders.of(workspace):
        scan = scanner.scan(folder.path, folder.within)
        for each in _ids(file.path for file in scan.files if not file.hidden and not file.trouble):
            found.setdefault(each, folder.kind)
    return dict(sorted(found.items()))


def _ids(paths: Iterable[str]) -> Iterable[str]:
    for path in paths:
        try:
            yield declared_id(file_bytes(path), path)
        except OSError:  # the file's trouble, which is not asked about
            continue

"""The folders a catalogue is read from, in order of precedence: of two files the first one's wins.

Bundled; those of `HEADWAY_WORKFLOW_PATH`; the project's, nearest first; attached ones; those
fetched from git repositories; the user's own. What is nearer to the task goes before what is meant
for every task.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headway.adapters.workflows.listing import Listings
from headway.adapters.workflows.project import find_project
from headway.ports.catalogue import SourceKind
from headway.ports.sources import GitSource, KnownSources

BUNDLED: Final = Path(__file__).parents[2] / "workflows"
USER_FOLDER: Final = "workflows"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of workflow files; it must lie in `within`, if given.

    `origin` tells where a fetched one comes from.
    """

    kind: SourceKind
    path: str
    within: str = ""
    origin: str = ""
    problems: tuple[str, ...] = ()


class Folders:
    """Knows the folders of every workspace."""

    def __init__(
        self,
        *,
        bundled: Path,
        workflow_path: tuple[str, ...],
        home: Path,
        sources: KnownSources,
        listings: Listings,
    ) -> None:
        self._bundled = Folder("bundled", str(bundled))
        self._path = tuple(Folder("path", path) for path in workflow_path)
        self._home = home
        self._user = Folder("user", str(home / USER_FOLDER))
        self._sources = sources
        self._listings = listings

    def of(self, workspace: str) -> tuple[Folder, ...]:
        """Return the folders that a workspace's workflows come from, each once."""
        attached, added = self._sources.attached(), self._sources.git_sources()
        named = [
            self._bundled,
            *self._path,
            *self._project(workspace),
            *(Folder("attached", path) for path in attached.rows),
            *(self._fetched(source) for source in added.rows),
            replace(self._user, problems=_left_out(attached.unreadable, added.unreadable)),
        ]
        first: dict[object, Folder] = {}
        for folder in named:
            first.setdefault(_place(folder.path), folder)
        return tuple(first.values())

    def _project(self, workspace: str) -> list[Folder]:
        """Return the project's folders; what the search for them left out is told of the first."""
        project = find_project(workspace, self._listings)
        own = _place(self._user.path)
        folders = [
            Folder("workspace", each.path, each.within, problems=problems)
            for each, problems in zip(
                project.folders, (project.problems, *[()] * len(project.folders)), strict=False
            )
        ]
        # A home that lies above a workspace is the user's, not the project's.
        return [each for each in folders if _place(each.path) != own]

    def _fetched(self, source: GitSource) -> Folder:
        return Folder(
            "git",
            str(self._home / source.tree / source.path),
            within=str(self._home / source.tree),
            origin=f"{source.id}: {source.url} at {source.commit}",
            problems=()
            if (self._home / source.tree).is_dir()
            else (
                f"It is not on this machine; `headway sources update {source.id}` fetches it anew.",
            ),
        )


def _left_out(attached: Iterable[str], added: Iterable[str]) -> tuple[str, ...]:
    """Return what to do about sources whose rows in the store cannot be read."""
    return (
        *(
            f"The attached folder {name} is damaged in the store: attach it anew."
            for name in attached
        ),
        *(
            f"The git source {name} is damaged in the store: `headway sources remove {name}`, then"
            " add it anew."
            for name in added
        ),
    )


def _place(path: str) -> object:
    """Return what is the same for every path of one folder; the path where there is no folder."""
    try:
        found = os.stat(path)  # noqa: PTH116 - paths are plain text here
    except (OSError, ValueError):
        return path
    return found.st_dev, found.st_ino

"""The workflow folders of a project: in the workspace, above it, and at most five levels below.

Nearest first: the workspace's own, then those of the folders above it up to the root, then those
below, level by level. A folder above counts only if it belongs to this user or to the workspace's
owner, so that nobody plants workflows in a place that others work under, such as /tmp. The search
below does not follow links, passes over what tools build or fetch, and looks at a bounded number of
folders; where a limit leaves something out, that is told.
"""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from headway.adapters.workflows.listing import PROJECT_MARKS, Listings

WORKFLOWS: Final = "workflows"
LEVELS_MAX: Final = 5  # below the workspace
FOLDERS_MAX: Final = 1_000  # looked at below the workspace
# Besides hidden folders and those that `listing` passes over everywhere.
BUILT_OR_FETCHED: Final = frozenset(
    {
        "bower_components", "build", "coverage", "dist", "env", "obj", "out", "Pods",
        "site-packages", "target", "vendor", "venv",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProjectFolder:
    """A folder of workflow files and the one it must lie in."""

    path: str
    within: str


@dataclass(frozen=True, slots=True)
class Project:
    """The folders of a project in order of precedence, and what was left out, in sentences."""

    folders: tuple[ProjectFolder, ...]
    problems: tuple[str, ...] = ()


def find_project(workspace: str, listings: Listings) -> Project:
    """Return the workflow folders of the project around a workspace.

    The workspace's own are always among them, there or not.
    """
    problems: list[str] = []
    found = [
        *_marked(workspace, PROJECT_MARKS, workspace),
        *_above(workspace, problems),
        *_below(workspace, listings, problems),
    ]
    return Project(tuple(found), tuple(problems))


def _marked(holder: str, marks: tuple[str, ...], within: str) -> Iterator[ProjectFolder]:
    for mark in sorted(marks):
        yield ProjectFolder(f"{holder.rstrip(os.sep)}{os.sep}{mark}{os.sep}{WORKFLOWS}", within)


def _above(workspace: str, problems: list[str]) -> Iterator[ProjectFolder]:
    trusted = {os.geteuid(), _owner(workspace)}
    for above in map(str, PurePath(workspace).parents):
        for folder in _marked(above, PROJECT_MARKS, above):
            owner = _owner(folder.path)
            if owner in trusted:
                yield folder
            elif owner is not None:
                problems.append(f"{folder.path} belongs to another user and was not searched.")


def _owner(path: str) -> int | None:
    try:
        return os.stat(path).st_uid  # noqa: PTH116 - paths are plain text here
    except (OSError, ValueError):
        return None


def _below(workspace: str, listings: Listings, problems: list[str]) -> Iterator[ProjectFolder]:
    waiting = deque([(workspace, 0)])
    looked_at = 0
    while waiting:
        folder, level = waiting.popleft()
        if looked_at >= FOLDERS_MAX:
            problems.append(
                f"{workspace} has more than {FOLDERS_MAX} folders; those below {folder} and further"
                " on were not searched for workflows. Attach a folder that was missed."
            )
            return
        looked_at += 1
        try:
            listing = listings.of(folder)
        except (OSError, ValueError):
            continue  # gone meanwhile, or never there: it holds nothing
        if level:
            yield from _marked(folder, listing.marks, workspace)
        if level < LEVELS_MAX:
            waiting.extend(
                (name.path, level + 1)
                for name in listing.names
                if name.kind == "folder" and name.name not in BUILT_OR_FETCHED
            )

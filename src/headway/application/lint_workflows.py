"""Lint workflow files: everything the compiler has to say about them."""

from pathlib import PurePath

from headway.application.engine import Engine
from headway.application.finding import workspace_of
from headway.domain.diagnostics import Diagnostic
from headway.domain.values import Value
from headway.ports.catalogue import Entry


class Linted(Value):
    """The files looked at, and what was found, in order of file and place."""

    files: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    shadowed: tuple[str, ...] = ()  # files of an id that another file takes; not compiled

    @property
    def errors(self) -> int:
        """How many diagnostics keep a workflow from being started."""
        return sum(each.severity == "error" for each in self.diagnostics)


def lint_workflows(engine: Engine, workspace: str, within: tuple[str, ...] = ()) -> Linted:
    """Return what is wrong with the workflow files seen from a workspace, or those of `within`.

    `within` holds absolute paths of files and folders. Raises InvalidInput for a workspace that is
    no folder.
    """
    seen = engine.catalogue.entries(workspace_of(engine, workspace))
    entries = [entry for entry in seen if not within or _is_within(entry.path, within)]
    shadowed = [path for entry in seen for path in entry.shadows]
    return Linted(
        files=tuple(sorted(entry.path for entry in entries)),
        diagnostics=tuple(sorted(_found(entries), key=_place)),
        shadowed=tuple(path for path in shadowed if not within or _is_within(path, within)),
    )


def _is_within(path: str, within: tuple[str, ...]) -> bool:
    return any(PurePath(path).is_relative_to(each) for each in within)


def _found(entries: list[Entry]) -> list[Diagnostic]:
    return [each for entry in entries for each in entry.diagnostics]


def _place(diagnostic: Diagnostic) -> tuple[str, int, int]:
    return diagnostic.file, diagnostic.line, diagnostic.column

"""The catalogue: workflow files as they are found in folders."""

from typing import Literal, Protocol, TypeAlias

from headway.domain.diagnostics import Diagnostic
from headway.domain.values import Value
from headway.domain.workflow import Workflow

SourceKind: TypeAlias = Literal["bundled", "path", "workspace", "attached", "git", "user"]


class Source(Value):
    """A folder workflows come from, with what it holds.

    `origin` tells where one that was fetched comes from, and at which commit.
    """

    kind: SourceKind
    path: str
    origin: str = ""
    total: int = 0  # files with a workflow id
    effective: int = 0  # of those, the ones not shadowed by an earlier source
    missing: bool = False
    problems: tuple[str, ...] = ()  # what was left out and why, in sentences


class Shadow(Value):
    """A file that is not used because another has its id; `why` says in a sentence what decided."""

    path: str
    source: SourceKind
    why: str


class Entry(Value):
    """One workflow file: compiled, or broken with its diagnostics.

    `id` is the declared one, or the file's stem when it cannot be read. `hidden` marks files in an
    `internal` or `examples` folder: startable, not listed. `shadows` are the files of the same id
    that this one hides, `origin` tells where a fetched file comes from.
    """

    id: str
    path: str
    source: SourceKind
    source_path: str
    workflow: Workflow | None
    data: bytes = b""  # the compiled form's canonical bytes
    hash: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    hidden: bool = False
    shadows: tuple[Shadow, ...] = ()
    origin: str = ""


class Catalogue(Protocol):
    """Finds and compiles workflow files for a workspace."""

    def entries(self, workspace: str) -> tuple[Entry, ...]:
        """Return every workflow that can be seen from a workspace, by id, broken ones included."""

    def find(self, workflow_id: str, workspace: str) -> Entry | None:
        """Return the entry of an id."""

    def sources(self, workspace: str) -> tuple[Source, ...]:
        """Return the folders searched, in order of precedence."""

    def bindings(self, workflow_id: str, workspace: str) -> dict[str, str]:
        """Return the workspace's overrides of a workflow's slots, as they stand now."""

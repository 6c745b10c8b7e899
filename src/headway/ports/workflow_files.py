"""Workflow files one by one, as their authors work on them."""

from dataclasses import dataclass
from typing import Protocol

from headway.domain.compiler.compiling import Compilation
from headway.domain.compiler.reading import Document
from headway.domain.compiler.setting import Sources


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """One file by itself, whether or not its id is the one that counts.

    `document` is None when it cannot be read; `compilation` then holds the reasons, as it does for
    a file that may not be used. `sources` are what it was compiled with, `known` the ids of all
    workflows that can be seen with it.
    """

    path: str
    document: Document | None
    compilation: Compilation
    sources: Sources
    known: frozenset[str]
    shadowed_by: str = ""  # the file that takes its id


class WorkflowFiles(Protocol):
    """Finds workflow files, and changes them."""

    def files(self, workspace: str, within: tuple[str, ...] = ()) -> tuple[WorkflowFile, ...]:
        """Return every file seen from a workspace, or those that lie in `within`, by path.

        `within` are absolute paths of files and folders.
        """

    def rewrite(self, path: str, before: str, after: str) -> str:
        """Replace a file's text at one stroke; return why not, in a sentence, or nothing."""

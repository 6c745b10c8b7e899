"""The workspace: the folder an agent works in, and what git says of it."""

from typing import Protocol

from headway.domain.events import GitFacts, ReferenceStatus
from headway.domain.workflow import Reference


class Workspace(Protocol):
    """Looks at a workspace without changing it."""

    def exists(self, path: str) -> bool:
        """Tell whether the path is a folder."""

    def git_facts(self, path: str) -> GitFacts:
        """Return branch, head and repository; all None where git has nothing to say in time."""

    def require_git(self) -> None:
        """Raise PreconditionFailed where git cannot be run."""

    def resolve(self, path: str, references: tuple[Reference, ...]) -> tuple[ReferenceStatus, ...]:
        """Say for each reference where it points and whether a file is there, inside its base."""

"""Workflow files on their way to be written: read where one starts from, written where it ends."""

from typing import Protocol


class Drafts(Protocol):
    """Reads and writes single files by their absolute paths."""

    def exists(self, path: str) -> bool:
        """Tell whether there is anything at the path."""

    def read(self, path: str) -> bytes:
        """Return a file's bytes, at most one more than a workflow file may have.

        Raises NotFound, and InvalidInput for what is no file or may not be read.
        """

    def write(self, path: str, text: str, *, replace: bool) -> None:
        """Write a file, making the folders above it.

        Raises PreconditionFailed when there is one and `replace` is false, or it cannot be written.
        """

"""Single workflow files on disk, read and written for authors; none is overwritten unasked."""

import os
from pathlib import Path

from headway.adapters.workflows.rewriting import replace_file
from headway.domain.compiler.reading import FILE_BYTES_MAX
from headway.domain.errors import InvalidInput, NotFound, PreconditionFailed


class FileDrafts:
    """Drafts as files."""

    def exists(self, path: str) -> bool:
        """Tell whether there is anything at the path."""
        return os.path.lexists(path)

    def read(self, path: str) -> bytes:
        """Return a file's bytes; see the port."""
        if not self.exists(path):
            raise NotFound(f"There is no file {path}.", remedy="Name a workflow file.")
        if not Path(path).is_file():
            raise InvalidInput(f"{path} is not a regular file.", remedy="Name a workflow file.")
        try:
            with Path(path).open("rb") as opened:
                return opened.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            raise InvalidInput(
                f"{path} cannot be read: {error.strerror}.", remedy="Mend its permissions."
            ) from error

    def write(self, path: str, text: str, *, replace: bool) -> None:
        """Write a file; see the port."""
        target = Path(os.path.realpath(path))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if replace and target.exists():
                replace_file(target, text.encode())
            else:
                _create(target, text.encode())
        except FileExistsError as error:
            raise PreconditionFailed(
                f"{path} is already there, and nothing was written.",
                remedy="Choose another place with -o, or replace the file with --force.",
                details={"kind": "file_exists", "file": path},
            ) from error
        except OSError as error:
            raise PreconditionFailed(
                f"{path} cannot be written: {error.strerror or error}.",
                remedy="Choose another place with -o, or mend the permissions of this one.",
                details={"kind": "file_not_writable", "file": path},
            ) from error


def _create(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        try:
            file.write(data)
        except BaseException:
            path.unlink()
            raise

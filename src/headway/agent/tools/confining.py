"""Confinement: file tools see one folder and nothing outside it, wherever links may point."""

import os
import stat
from pathlib import Path
from typing import Final

from headway.agent.tools.tool import ToolFailed

GIT: Final = ".git"


class Confined:
    """The folder of a run, as its file tools see it. Paths are relative to it, or inside it."""

    def __init__(self, root: Path) -> None:
        self.root: Final = root.resolve()

    def find(self, path: str) -> Path:
        """Return where a path leads, links followed. Raises ToolFailed when that is outside."""
        if not self.root.is_dir():
            raise ToolFailed("The worktree of this run is gone: its folder was removed.")
        try:
            found = (self.root / path).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise ToolFailed(f"{path[:200]!r} cannot be a path: {error}.") from error
        if not found.is_relative_to(self.root):
            raise ToolFailed(
                f"{path[:200]!r} leads outside the worktree. Give a path inside it, relative to "
                "its root."
            )
        return found

    def find_writable(self, path: str) -> Path:
        """Return where a path leads that may be written: no folder, nothing of git's own."""
        found = self.find(path)
        if GIT in found.relative_to(self.root).parts or found == self.root:
            raise ToolFailed(f"{path!r} is not a file of the work: git keeps it for itself.")
        if os.path.lexists(found):
            self._regular(found, path)
        return found

    def find_file(self, path: str) -> Path:
        """Return where a regular file is. Raises ToolFailed when there is none."""
        found = self.find(path)
        self._regular(found, path)
        return found

    def shown(self, path: Path) -> str:
        """Return a path as the model is told it."""
        return path.relative_to(self.root).as_posix()

    def _regular(self, found: Path, path: str) -> None:
        try:
            mode = found.stat().st_mode
        except OSError as error:
            reason = error.strerror or "it cannot be looked at"
            raise ToolFailed(f"{path!r} cannot be opened: {reason}.") from error
        if stat.S_ISDIR(mode):
            raise ToolFailed(f"{path!r} is a folder; glob lists what is in it.")
        if not stat.S_ISREG(mode):
            raise ToolFailed(f"{path!r} is no regular file, but a device, a pipe or a socket.")

"""The machine: what there is around the store, looked at without leaving a trace."""

from pathlib import Path
from typing import Protocol

from headway.domain.values import Value


class Disk(Value):
    """The disk under a folder."""

    free_bytes: int
    total_bytes: int


class Process(Value):
    """A process; `orphan` when whoever started it has gone."""

    pid: int
    command: str
    orphan: bool = False


class Machine(Protocol):
    """Looks at the machine. Paths and programs that are not there are None, never an error."""

    def mode(self, path: Path) -> int | None:
        """Return the permission bits of a file or folder, None when there is none."""

    def names(self, folder: Path) -> tuple[str, ...]:
        """Return the names of the folders in a folder, none where there is none."""

    def disk(self, folder: Path) -> Disk | None:
        """Return the room on the disk under a folder, or under the first above it that exists."""

    def obstacle(self, folder: Path) -> str | None:
        """Return why a folder cannot be written, or made where there is none, in words."""

    def fsync_ms(self, folder: Path) -> float | None:
        """Return how long it takes to bring a small file in a folder to the disk."""

    def version_of(self, program: str) -> str | None:
        """Return the first line a program answers to `--version`."""

    def can_sandbox(self) -> bool:
        """Tell whether bubblewrap can run something in a sandbox."""

    def is_free(self, host: str, port: int) -> bool:
        """Tell whether a server could listen there."""

    def answer_ms(self, host: str, port: int, path: str) -> float | None:
        """Return how long a server took to answer 200 over HTTP, None when it did not."""

    def holders(self, path: Path) -> tuple[Process, ...] | None:
        """Return the processes that hold a lock on a file; None where that cannot be known."""

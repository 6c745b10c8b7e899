"""Processes: a command of somebody else's, run to its end or to its deadline, and gone after it."""

from typing import Protocol

from headway.domain.values import Value


class Ended(Value):
    """How a command ended: its exit code, a signal's negative, and both ends of what it printed.

    `lost` counts the bytes between the ends, which were not kept. `in_time` is False when its time
    was over and it was ended, with all that it had started.
    """

    code: int
    head: bytes = b""
    tail: bytes = b""
    lost: int = 0
    in_time: bool = True

    def output(self) -> bytes:
        """Return what is kept of what it printed, with a mark where something is missing."""
        between = f"\n[... {self.lost} bytes were not kept ...]\n".encode() if self.lost else b""
        return self.head + between + self.tail


class CannotRun(Exception):
    """The command could not be begun: there is no such folder, or no shell."""


class Processes(Protocol):
    """Runs commands. What they see of the environment is the implementation's to decide."""

    async def run(self, command: str, folder: str, seconds: float) -> Ended:
        """Run a command by the shell in a folder; it reads no input.

        Raises CannotRun. However this is left, cancelled too, every process of it is gone.
        """

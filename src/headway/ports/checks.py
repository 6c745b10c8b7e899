"""Running the checks that steps declare (D14)."""

from contextlib import AbstractContextManager
from typing import Protocol

from headway.domain.values import Value
from headway.domain.workflow import Check


class Checked(Value):
    """What one run of a check gave.

    `exit_code` is None when it did not run. `problem` says in a sentence what failed besides the
    exit code: the check counts as failed then, whatever that code is.
    """

    exit_code: int | None
    output: bytes = b""
    duration_ms: int = 0
    problem: str = ""


class ChecksStopped(Exception):
    """Whoever asked for the checks wants them no more; nothing of them is left running."""


class Checker(Protocol):
    """Runs checks in workspaces, and blocks until they have ended."""

    def alone(self, workspace: str) -> AbstractContextManager[None]:
        """Hold a workspace for the checks of one caller at a time, of those in this process."""

    def run(self, check: Check, workspace: str, since: str | None) -> Checked:
        """Run a check; `since` is the commit that its protected files are compared with.

        Raises ChecksStopped.
        """

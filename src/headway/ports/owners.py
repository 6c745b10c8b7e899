"""Owners: processes that hold leases, whether one is gone for certain, and what it left running."""

from typing import Final, Protocol

from headway.domain.ids import RunId
from headway.domain.runs.events import Owner

# In the environment of every process that a run's tools begin: the run, and the fence of the claim.
MARK: Final = "HEADWAY_RUN"


def mark_of(run: RunId, fence: int) -> str:
    """Return the mark of what one claim of a run begins."""
    return f"{run}:{fence}"


class Owners(Protocol):
    """The processes of this machine."""

    def me(self) -> Owner:
        """Return this process."""

    def is_gone(self, owner: Owner) -> bool:
        """Tell whether a process is provably gone; False where that cannot be known from here."""

    def end_work_of(self, run: RunId, fence: int) -> int:
        """End what earlier claims of a run (of a lower fence) left running; return how many.

        Found are the processes on this machine that a run's tools began, by the mark they bear.
        """

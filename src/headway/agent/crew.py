"""What one run is driven with, and the place it works in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from headway.agent.tooling import Tools
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import WorktreePlanned
from headway.ports.engine import SessionEngine
from headway.ports.models import Model


class Workplace(Protocol):
    """Where one run works. Every method raises Fault, and may be called again after a crash."""

    async def plan(self) -> WorktreePlanned:
        """Return where the run is to work; nothing is made yet."""

    async def is_there(self, planned: WorktreePlanned) -> bool:
        """Tell whether a place that was made is still there."""

    async def make(self, planned: WorktreePlanned) -> str | None:
        """Make what was planned unless it is there; return what a dead tool left there, in words.

        None when nothing is wrong with it.
        """

    async def forget(self, planned: WorktreePlanned) -> str:
        """Clear away what is left of a place that was removed; return what became of it, in words.

        What a run committed there is kept.
        """

    async def commit(self, now: Conversation) -> str | None:
        """Bring the work into one commit and return it, or find it; None when nothing changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """The model, the engine, the place, and the tools in it."""

    model: Model
    tools: Callable[[str], Tools]  # from the path of the place, once it is made
    engine: SessionEngine
    place: Workplace
    engine_url: str = ""  # where the engine is, when it is not in this process

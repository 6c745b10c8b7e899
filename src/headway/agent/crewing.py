"""The crew of a run on this machine: an engine, and tools in the run's own place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from anyio.to_thread import run_sync

from headway.agent.crew import Crew
from headway.agent.outputs import RecordedOutputs
from headway.agent.tooling import Tools
from headway.agent.tools.assembling import run_tools
from headway.application.runs import Held, Runs
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunSubmitted, WorktreePlanned
from headway.ports.engine import SessionEngine
from headway.ports.models import Model
from headway.ports.processes import Processes
from headway.ports.worktrees import MadePlaces


class Places(MadePlaces, Protocol):
    """Makes places for runs. Every method raises Fault, and may be called again after a crash."""

    def plan(self, run: RunId, submitted: RunSubmitted) -> WorktreePlanned:
        """Return where a run is to work; nothing is made yet."""

    def make(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str | None:
        """Make what was planned unless it is there; return what was left behind there, in words."""

    def commit(
        self, run: RunId, submitted: RunSubmitted, planned: WorktreePlanned, session: str
    ) -> str | None:
        """Bring the work into one commit and return it, or find it; None when nothing changed."""


class PlaceOf:
    """Implements `crew.Workplace` for one run; its tools are there once the place is made."""

    def __init__(self, run: RunId, submitted: RunSubmitted, places: Places) -> None:
        self._run = run
        self._submitted = submitted
        self._places = places

    async def plan(self) -> WorktreePlanned:
        """Return where the run is to work."""
        return await run_sync(self._places.plan, self._run, self._submitted)

    async def is_there(self, planned: WorktreePlanned) -> bool:
        """Tell whether a place that was made is still there."""
        return await run_sync(self._places.is_there, planned)

    async def make(self, planned: WorktreePlanned) -> str | None:
        """Make what was planned unless it is there."""
        return await run_sync(self._places.make, self._submitted, planned)

    async def forget(self, planned: WorktreePlanned) -> str:
        """Clear away what is left of a place that was removed; return what became of it."""
        return await run_sync(self._places.forget, self._submitted, planned)

    async def commit(self, now: Conversation) -> str | None:
        """Bring the work into one commit and return it, or find it."""
        assert now.worktree is not None
        session = str(now.session)
        return await run_sync(
            self._places.commit, self._run, self._submitted, now.worktree, session
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """What a machine gives to a run: places, an engine, and what runs the commands of its tools."""

    places: Places
    engine: SessionEngine
    processes: Processes
    engine_url: str = ""


def crew_of(runs: Runs, held: Held, model: Model, given: Provision) -> Crew:
    """Return the crew of a run."""
    submitted = held.conversation.submitted
    assert submitted is not None

    def tools(path: str) -> Tools:
        return run_tools(Path(path), given.engine, RecordedOutputs(runs, held.run), given.processes)

    return Crew(
        model=model,
        tools=tools,
        engine=given.engine,
        engine_url=given.engine_url,
        place=PlaceOf(held.run, submitted, given.places),
    )

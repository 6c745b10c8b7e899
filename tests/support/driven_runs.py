"""Runs on the store in memory, driven with a played crew until they end or their process dies."""

from dataclasses import dataclass, field

import anyio

from headway.adapters.storage.memory import open_memory
from headway.agent.driving import drive
from headway.application.claim_run import claim_run
from headway.application.runs import LeaseTerms, Runs, folded
from headway.domain.ids import RunId, task_id
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import Owner, RunEvent, RunSubmitted, StuckPolicy
from headway.domain.runs.limits import Limits
from headway.domain.runs.messages import ToolCall
from headway.domain.runs.outcomes import Outcome
from headway.ports.queue import Task
from tests.fakes.crew import PlayedModel, Turn, World, a_crew
from tests.fakes.places import StandingPlaces
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.walked import engine_of

RUN = task_id(bytes(16))
TURNS: tuple[Turn, ...] = (("write",), ("write", "nothing"), ("done",), ("write",), ("done",))


class Killed(BaseException):
    """The process is no more."""


@dataclass
class Owners:
    """Each claim is by a process of its own; those of the set are gone."""

    number: int = 0
    gone: set[int] = field(default_factory=set)

    def me(self) -> Owner:
        self.number += 1
        return Owner(host="h", boot="b", pid=self.number, started="s")

    def is_gone(self, owner: Owner) -> bool:
        return owner.pid in self.gone

    def end_work_of(self, run: RunId, fence: int) -> int:
        return 0


def some_runs(limits: Limits | None = None, stuck: StuckPolicy = "abort") -> Runs:
    clock, entropy = FakeClock(), FakeEntropy()
    store = open_memory(clock, entropy)
    runs = Runs(
        engine=engine_of(store),
        queue=store.queue,
        owners=Owners(),
        places=StandingPlaces(),
        terms=LeaseTerms(),
    )
    begun = RunSubmitted(
        workflow_id="w",
        workspace="/w",
        goal="g",
        model="m",
        limits=limits or Limits(),
        stuck=stuck,
    )
    runs.queue.submit(Task(run=RUN, workflow_id="w", workspace="/w", goal="g"), (begun,), ())
    return runs


def events_of(runs: Runs) -> list[RunEvent]:
    return [each.event for each in runs.queue.scan(RUN)]


def conversation(runs: Runs) -> Conversation:
    return folded(runs.queue.scan(RUN))


def driven(
    runs: Runs,
    world: World,
    model: PlayedModel,
    kill_at: int = 0,
    *,
    in_tool: str = "",
) -> Outcome | None:
    """Claim the run and drive it; the process dies at an event, or inside a tool call."""
    held = claim_run(runs, RUN)
    assert held is not None

    def tell(now: Conversation, _: RunEvent) -> None:
        if kill_at and now.version >= kill_at:
            raise Killed

    def during(call: ToolCall) -> None:
        if call.id == in_tool:
            raise Killed

    async def main() -> Outcome | None:
        return await drive(runs, held, a_crew(world, model, during), tell)

    try:
        return anyio.run(main)
    except BaseExceptionGroup as group:
        killed, others = group.split(Killed)
        raise (others or Killed()) from killed


def bury(runs: Runs) -> None:
    owners = runs.owners
    assert isinstance(owners, Owners)
    owners.gone.add(owners.number)

"""Runs driven to their end on the store in memory, and through a crash at every moment."""

from dataclasses import dataclass, field

import anyio
import pytest
from msgspec.structs import replace

from headway.adapters.storage.memory import open_memory
from headway.agent.driving import drive
from headway.agent.memory import INTERRUPTED
from headway.application.abort_run import abort_run
from headway.application.claim_run import claim_run
from headway.application.resume_run import resume_run
from headway.application.runs import LeaseTerms, Runs, folded, named_run
from headway.application.show_run import show_run
from headway.application.steer_run import steer_run
from headway.domain.errors import InvalidInput, NotFound, PreconditionFailed
from headway.domain.ids import RunId, task_id
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import Owner, RunClaimed, RunEvent, RunSubmitted
from headway.domain.runs.limits import Limits
from headway.domain.runs.messages import Results, Told, ToolCall
from headway.domain.runs.outcomes import Failed, Outcome, Paused, Success, kind_of
from headway.ports.models import ModelFailed
from headway.ports.queue import Task
from tests.fakes.crew import PlayedModel, Turn, World, a_crew
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


def some_runs(limits: Limits | None = None) -> Runs:
    clock, entropy = FakeClock(), FakeEntropy()
    store = open_memory(clock, entropy)
    runs = Runs(engine=engine_of(store), queue=store.queue, owners=Owners(), terms=LeaseTerms())
    begun = RunSubmitted(
        workflow_id="w", workspace="/w", goal="g", model="m", limits=limits or Limits()
    )
    runs.queue.submit(Task(run=RUN, workflow_id="w", workspace="/w", goal="g"), (begun,), ())
    return runs


def events_of(runs: Runs) -> list[RunEvent]:
    return [each.event for each in runs.queue.scan(RUN)]


def conversation(runs: Runs) -> Conversation:
    return folded(runs.queue.scan(RUN))


def driven(
    runs: Runs, world: World, model: PlayedModel, kill_at: int = 0, *, in_tool: str = ""
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


def test_a_run_takes_its_turns_and_succeeds_with_one_commit() -> None:
    runs, world = some_runs(), World()
    assert driven(runs, world, PlayedModel(TURNS)) == Success(commit="abc123")
    assert len(world.commits) == 1
    assert max(world.effects.values()) == 1
    shown = show_run(runs, RUN)
    assert (shown["state"], shown["turns"], shown["commit"]) == ("ended", 5, "abc123")
    assert claim_run(runs) is None


def test_a_run_killed_after_any_event_ends_as_if_nothing_had_happened() -> None:
    calm, still = some_runs(), World()
    driven(calm, still, PlayedModel(TURNS))
    events = len(events_of(calm))
    assert events >= 25
    for kill_at in range(3, events + 1):
        runs, world = some_runs(), World()
        model = PlayedModel(TURNS)
        with pytest.raises(Killed):
            driven(runs, world, model, kill_at)
        bury(runs)
        before = len(events_of(runs))
        if named_run(runs, RUN).state != "ended":
            assert driven(runs, world, model) == Success(commit="abc123")
        assert conversation(runs).outcome == Success(commit="abc123")
        assert (world.files, world.step, world.commits) == (still.files, still.step, still.commits)
        assert max(world.effects.values()) == 1, f"killed at {kill_at}, event {before}"


def test_a_call_cut_off_by_a_crash_is_told_as_interrupted_and_not_run_again() -> None:
    runs, world, model = some_runs(), World(), PlayedModel(TURNS)
    with pytest.raises(Killed):
        driven(runs, world, model, in_tool="2-0")
    bury(runs)
    assert driven(runs, world, model) == Success(commit="abc123")
    assert world.effects["2-0"] == 0
    told = next(
        result
        for request in model.requests
        for message in request.messages
        if isinstance(message, Results)
        for result in message.results
        if result.interrupted
    )
    assert (told.call, told.text) == ("2-0", INTERRUPTED)


def test_a_worker_whose_run_was_taken_writes_nothing_and_says_so() -> None:
    runs, world = some_runs(), World()
    held = claim_run(runs, RUN)
    assert held is not None
    bury(runs)
    assert driven(runs, world, PlayedModel(TURNS)) == Success(commit="abc123")
    before = events_of(runs)

    async def late() -> Outcome | None:
        return await drive(runs, held, a_crew(World(), PlayedModel(TURNS)), lambda *_: None)

    assert anyio.run(late) is None
    assert events_of(runs) == before


def test_what_a_person_says_before_the_first_turn_is_in_the_first_request() -> None:
    runs, model = some_runs(), PlayedModel((("done",), ("done",)))
    steer_run(runs, RUN[:12], "Mind the gap.", "me")
    driven(runs, World(), model)
    said = [each.text for each in model.requests[0].messages if isinstance(each, Told)]
    assert "Mind the gap." in said


def test_a_run_that_nobody_drives_is_aborted_at_once_and_answers_ended_from_then_on() -> None:
    runs = some_runs()
    assert abort_run(runs, RUN, "me", "wrong").state == "ended"
    for again in (
        lambda: abort_run(runs, RUN, "me"),
        lambda: steer_run(runs, RUN, "x", "me"),
        lambda: resume_run(runs, RUN, "me"),
    ):
        with pytest.raises(PreconditionFailed, match="has ended: cancelled"):
            again()
    assert claim_run(runs, RUN) is None


def test_an_abort_from_elsewhere_cuts_a_driven_run_short() -> None:
    runs, world = some_runs(), World()
    held = claim_run(runs, RUN)
    assert held is not None

    def during(_: ToolCall) -> None:
        abort_run(runs, RUN, "somebody", "enough")

    async def main() -> Outcome | None:
        crew = a_crew(world, PlayedModel(TURNS), during)
        return await drive(runs, held, crew, lambda *_: None)

    outcome = anyio.run(main)
    assert outcome is not None
    assert kind_of(outcome) == "cancelled"
    assert named_run(runs, RUN).outcome == "cancelled"
    assert len(world.effects) == 1


def test_a_limit_rests_the_run_and_a_resumption_grants_it_once_more() -> None:
    runs, world = some_runs(Limits(turns=2)), World()
    model = PlayedModel(TURNS)
    assert driven(runs, world, model) == Paused(limit="turns")
    assert claim_run(runs) is None
    assert resume_run(runs, RUN, "me").state == "queued"
    assert driven(runs, world, model) == Paused(limit="turns")
    resume_run(runs, RUN, "me")
    assert driven(runs, world, model) == Success(commit="abc123")


def test_a_driven_run_is_not_resumed_by_another() -> None:
    runs = some_runs()
    claim_run(runs, RUN)
    with pytest.raises(PreconditionFailed, match="is being driven by process 1"):
        resume_run(runs, RUN, "me")


def test_a_model_that_is_overloaded_is_asked_again_after_a_wait() -> None:
    busy = ModelFailed("transient", "529", retry_after_ms=1)
    runs = some_runs()
    model = PlayedModel((busy, ("done",)))
    assert driven(runs, World(), model) == Success(commit="abc123")
    assert conversation(runs).spent.turns == 2


def test_a_fatal_tool_error_ends_the_run_and_another_failure_does_not() -> None:
    runs = some_runs()
    outcome = driven(runs, World(), PlayedModel((("nothing",), ("fatal",))))
    assert isinstance(outcome, Failed)
    assert outcome.reason == "tool_fatal"
    assert "Start again." in outcome.message


def test_a_run_is_named_by_the_beginning_of_its_id() -> None:
    runs = some_runs()
    assert named_run(runs, RUN.removeprefix("task_")[:4]).run == RUN
    with pytest.raises(NotFound):
        named_run(runs, "zzz")
    other = Task(run=RunId(RUN[:-1] + "b"), workflow_id="w", workspace="/w", goal="g")
    begun = events_of(runs)[0]
    runs.queue.submit(other, (begun,), ())
    with pytest.raises(InvalidInput, match="Several runs"):
        named_run(runs, RUN[:10])
    assert named_run(runs, RUN).run == RUN


def test_each_claim_stands_in_the_stream() -> None:
    runs, world, model = some_runs(), World(), PlayedModel(TURNS)
    with pytest.raises(Killed):
        driven(runs, world, model, 10)
    bury(runs)
    driven(runs, world, model)
    claims = [event for event in events_of(runs) if isinstance(event, RunClaimed)]
    assert [claim.fence for claim in claims] == [1, 2]
    assert replace(claims[0].owner, pid=2) == claims[1].owner

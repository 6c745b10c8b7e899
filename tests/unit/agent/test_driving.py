"""Runs driven to their end on the store in memory, and through a crash at every moment."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace as changed

import anyio
import pytest
from msgspec.structs import replace

from headway.agent.driving import drive
from headway.agent.memory import INTERRUPTED
from headway.application.abort_run import abort_run
from headway.application.claim_run import claim_run
from headway.application.naming_runs import named_run
from headway.application.pause_run import pause_run
from headway.application.record_run import record_run
from headway.application.record_turn import record_turn
from headway.application.resume_run import resume_run
from headway.application.runs import Runs
from headway.application.show_run import show_run
from headway.application.steer_run import steer_run
from headway.domain.errors import InvalidInput, NotFound, PreconditionFailed, SessionNotHealthy
from headway.domain.ids import RunId
from headway.domain.runs.acting import ERRORS_MAX
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import (
    ModelAsked,
    ModelErred,
    Owner,
    PauseAsked,
    RunClaimed,
    RunEnded,
    RunEvent,
    RunSubmitted,
    WorktreePlanned,
)
from headway.domain.runs.limits import Limits
from headway.domain.runs.messages import ModelRequest, Reply, Results, Told, ToolCall
from headway.domain.runs.outcomes import (
    Cancelled,
    Failed,
    Outcome,
    Parked,
    Paused,
    Success,
    kind_of,
)
from headway.ports.engine import GateWaits, Whereabouts
from headway.ports.models import Heard, ModelFailed, unheard
from headway.ports.queue import RunRecorded, RunWrite, Task
from tests.fakes.crew import PlayedEngine, PlayedModel, World, a_crew
from tests.support.driven_runs import (
    RUN,
    TURNS,
    Killed,
    Owners,
    bury,
    conversation,
    driven,
    events_of,
    some_runs,
)
from tests.support.patience import SECONDS_MAX


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
        lambda: pause_run(runs, RUN, "me"),
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


def test_a_run_that_nobody_drives_is_paused_at_once_and_once() -> None:
    runs, world = some_runs(), World()
    row = pause_run(runs, RUN, "me")
    assert (row.state, row.outcome) == ("resting", "paused")
    before = events_of(runs)
    assert pause_run(runs, RUN, "other").state == "resting"
    assert events_of(runs) == before
    assert claim_run(runs) is None
    resume_run(runs, RUN, "me")
    assert driven(runs, world, PlayedModel(TURNS)) == Success(commit="abc123")


def driven_while(
    runs: Runs, world: World, model: PlayedModel, said: Callable[[], object]
) -> Outcome | None:
    """Drive the run; in the middle of its second turn somebody says something to it."""
    held = claim_run(runs, RUN)
    assert held is not None

    def during(call: ToolCall) -> None:
        if call.id == "2-0":
            said()

    async def main() -> Outcome | None:
        return await drive(runs, held, a_crew(world, model, during), lambda *_: None)

    return anyio.run(main)


def test_a_driven_run_finishes_its_turn_and_rests() -> None:
    runs, world, model = some_runs(), World(), PlayedModel(TURNS)

    def paused() -> None:
        pause_run(runs, RUN, "me")
        pause_run(runs, RUN, "me")

    assert driven_while(runs, world, model, paused) == Paused(by="me")
    assert set(world.effects) == {"1-0", "2-0", "2-1"}
    assert sum(isinstance(event, PauseAsked) for event in events_of(runs)) == 1
    resume_run(runs, RUN, "me")
    assert driven(runs, world, model) == Success(commit="abc123")
    assert max(world.effects.values()) == 1


def test_a_pause_that_is_taken_back_before_the_turn_is_over_never_happens() -> None:
    runs, world = some_runs(), World()

    def wavering() -> None:
        pause_run(runs, RUN, "me")
        resume_run(runs, RUN, "me")

    assert driven_while(runs, world, PlayedModel(TURNS), wavering) == Success(commit="abc123")


def test_a_pause_does_not_wait_for_a_model_that_is_to_be_asked_again_much_later() -> None:
    runs, model = some_runs(), PlayedModel((ModelFailed("transient", "529", retry_after_ms=10**8),))
    held = claim_run(runs, RUN)
    assert held is not None

    outcomes: list[Outcome | None] = []

    async def main() -> None:
        waits = anyio.Event()

        def tell(_: Conversation, event: RunEvent) -> None:
            if isinstance(event, ModelErred):
                waits.set()

        async def drives() -> None:
            outcomes.append(await drive(runs, held, a_crew(World(), model), tell))

        with anyio.fail_after(SECONDS_MAX):
            async with anyio.create_task_group() as beside:
                beside.start_soon(drives)
                await waits.wait()
                await anyio.sleep(0.2)  # the pause counts at any time; now it finds the run waiting
                pause_run(runs, RUN, "me")

    anyio.run(main)
    assert outcomes == [Paused(by="me")]


@pytest.mark.parametrize(
    ("verb", "end"),
    [
        (lambda runs: resume_run(runs, RUN, "me"), Success(commit="abc123")),
        (lambda runs: abort_run(runs, RUN, "me", "enough"), Cancelled(by="me", reason="enough")),
    ],
    ids=["resumed", "aborted"],
)
def test_what_somebody_says_in_the_moment_before_a_run_rests_counts(
    verb: Callable[[Runs], object], end: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, world = some_runs(), World()
    append, said = runs.queue.append, list[str]()

    def late(write: RunWrite) -> tuple[RunRecorded, ...]:
        if isinstance(write.events[-1], RunEnded) and not said:
            said.append("said")
            verb(runs)
        return append(write)

    monkeypatch.setattr(runs.queue, "append", late)
    outcome = driven_while(runs, world, PlayedModel(TURNS), lambda: pause_run(runs, RUN, "me"))
    assert outcome == end
    assert named_run(runs, RUN).state == "ended"
    assert said


def test_a_gate_that_is_decided_just_before_its_run_rests_lets_it_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs, world = some_runs(), World()
    held, decided, append = claim_run(runs, RUN), list[str](), runs.queue.append
    assert held is not None

    class Gated(PlayedEngine):
        async def current(self) -> Whereabouts:
            if world.step > 1 and not decided:
                return GateWaits(gate="gate_1", step="step-1", command="decide")
            return await super().current()

    def late(write: RunWrite) -> tuple[RunRecorded, ...]:
        if isinstance(write.events[-1], RunEnded):
            decided.append("approved")
        return append(write)

    async def main() -> Outcome | None:
        crew = changed(a_crew(world, PlayedModel(TURNS)), engine=Gated(world))
        return await drive(runs, held, crew, lambda *_: None)

    monkeypatch.setattr(runs.queue, "append", late)
    assert anyio.run(main) == Parked(gate="gate_1")
    assert named_run(runs, RUN).state == "queued"
    assert driven(runs, world, PlayedModel(TURNS)) == Success(commit="abc123")


def test_a_watch_that_meets_a_fault_leaves_it_to_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = some_runs()
    held = claim_run(runs, RUN)
    assert held is not None

    met = threading.Event()

    def damaged(*_: object) -> tuple[RunRecorded, ...]:
        met.set()
        raise SessionNotHealthy("Event 3 is missing.", remedy="Restore it.")

    class Slow(PlayedModel):
        async def reply(self, request: ModelRequest, heard: Heard = unheard) -> Reply:
            monkeypatch.setattr(runs.queue, "scan", damaged)
            await anyio.to_thread.run_sync(met.wait, SECONDS_MAX)  # for the watch's next look
            return await super().reply(request, heard)

    async def main() -> Outcome | None:
        return await drive(runs, held, a_crew(World(), Slow(TURNS)), lambda *_: None)

    outcome = anyio.run(main)
    assert isinstance(outcome, Failed)
    assert outcome.reason == "fault"
    assert "Event 3 is missing" in outcome.message


def test_a_run_whose_worker_died_before_it_came_to_rest_rests_when_it_is_asked_again() -> None:
    runs = some_runs()
    claim_run(runs, RUN)
    assert pause_run(runs, RUN, "me").state == "claimed"
    bury(runs)
    row = pause_run(runs, RUN, "other")
    assert (row.state, row.outcome) == ("resting", "paused")
    assert conversation(runs).outcome == Paused(by="me")


def test_a_run_at_rest_that_is_aborted_has_ended_in_its_own_history_too() -> None:
    runs = some_runs()
    pause_run(runs, RUN, "me")
    assert abort_run(runs, RUN, "me").outcome == "cancelled"
    assert conversation(runs).outcome == Cancelled(by="me")


class RemovedPlaces:
    """Every worktree was removed, and of none can anything be cleared away."""

    def __init__(self) -> None:
        self.tried: list[WorktreePlanned] = []

    def is_there(self, planned: WorktreePlanned) -> bool:
        return False

    def forget(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str:
        self.tried.append(planned)
        raise PreconditionFailed("git is away", remedy="Install it.")


@dataclass
class Elsewhere(Owners):
    """Another machine."""

    def me(self) -> Owner:
        return replace(super().me(), host="elsewhere")


@pytest.mark.parametrize(("owners", "tries"), [(Owners(), 1), (Elsewhere(), 0)])
def test_an_abort_ends_a_run_whatever_becomes_of_a_worktree_that_only_its_machine_knows(
    owners: Owners, tries: int
) -> None:
    runs, places = some_runs(Limits(turns=2)), RemovedPlaces()
    assert driven(runs, World(), PlayedModel(TURNS)) == Paused(limit="turns")
    assert abort_run(changed(runs, places=places, owners=owners), RUN, "me").outcome == "cancelled"
    assert len(places.tried) == tries


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


def test_a_run_whose_key_has_expired_rests_and_its_transcript_plays_without_that() -> None:
    runs, world = some_runs(), World()
    model = PlayedModel((("write",), ModelFailed("expired", "401"), ("done",)))
    failed = Failed(reason="credential_expired", message="401")
    assert driven(runs, world, model) == Paused(failure=failed)
    assert claim_run(runs) is None, "nobody takes it up by himself"
    assert "problem: expired" in record_run(runs, RUN)
    resume_run(runs, RUN, "me")
    assert driven(runs, world, model) == Success(commit="abc123")
    assert max(world.effects.values()) == 1
    assert "expired" not in record_run(runs, RUN)


def test_a_model_that_stays_overloaded_lets_the_run_rest() -> None:
    busy = ModelFailed("transient", "529", retry_after_ms=1)
    runs = some_runs()
    held = claim_run(runs, RUN)
    assert held is not None
    erred = ModelErred(turn=1, problem="transient", message="529", wait_ms=1)
    for _ in range(ERRORS_MAX - 1):
        held = record_turn(runs, held, ModelAsked(turn=1), erred)
    bury(runs)
    outcome = driven(runs, World(), PlayedModel((busy,)))
    assert outcome == Paused(failure=Failed(reason="model_unavailable", message="529"))
    assert named_run(runs, RUN).reason == "model_unavailable"


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

"""What a run finds when it is taken up again: its place, what was left there, a silent model."""

import asyncio
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from headway.agent import loop
from headway.agent.asking import SILENCE_SECONDS_MAX
from headway.agent.driving import drive
from headway.agent.tooling import Tools
from headway.application.claim_run import claim_run
from headway.application.runs import text_of
from headway.domain.runs.acting import LOSSES_MAX
from headway.domain.runs.events import ModelAsked, ModelReplied, StepReached, TextTold, ToolStarted
from headway.domain.runs.messages import ModelRequest, Reply, Told, ToolCall, ToolResult, ToolSpec
from headway.domain.runs.outcomes import Failed, Outcome, Stuck, Success, kind_of
from headway.ports.models import Heard, unheard
from tests.fakes.crew import PlayedModel, Turn, World, a_crew
from tests.support.driven_runs import (
    RUN,
    TURNS,
    Killed,
    bury,
    conversation,
    driven,
    events_of,
    some_runs,
)

LOCK = "A tool that was interrupted left this behind: the lock file index.lock."


def told(request: ModelRequest) -> list[str]:
    return [each.text for each in request.messages if isinstance(each, Told)]


def first_of(kind: type) -> int:
    """Return the version at which an undisturbed run records its first event of a kind."""
    runs = some_runs()
    driven(runs, World(), PlayedModel(TURNS))
    return [type(each) for each in events_of(runs)].index(kind) + 1


def test_a_run_without_a_reply_starts_again_and_nothing_is_told_twice() -> None:
    for moment in (first_of(StepReached), first_of(ModelAsked)):
        runs, world, model = some_runs(), World(), PlayedModel(TURNS)
        for claims in range(2):
            with pytest.raises(Killed):
                driven(runs, world, model, moment + claims)
            bury(runs)
        assert driven(runs, world, model) == Success(commit="abc123")
        assert told(model.requests[-1]).count("Do step-1.") == 1
        steps = [each.step for each in events_of(runs) if isinstance(each, StepReached)]
        assert steps == ["step-1", "step-2"]


def test_what_a_dead_tool_left_is_told_at_every_claim_until_the_model_has_heard_it() -> None:
    runs, world, model = some_runs(), World(left=LOCK), PlayedModel(TURNS)
    with pytest.raises(Killed):
        driven(runs, world, model, in_tool="1-0")
    bury(runs)
    before = len(events_of(runs))
    with pytest.raises(Killed):
        driven(runs, world, model, before + 2)  # claimed, told, and dead again
    bury(runs)
    assert isinstance(events_of(runs)[-1], TextTold)
    assert driven(runs, world, model, in_tool="") == Success(commit="abc123")
    heard = next(request for request in model.requests if LOCK in told(request))
    assert told(heard).count(LOCK) == 1
    notices = [each for each in events_of(runs) if isinstance(each, TextTold)]
    assert [text_of(runs, each.text) for each in notices if each.origin == "notice"] == [LOCK]


def test_what_is_still_there_after_a_third_claim_is_told_again() -> None:
    runs, world, model = some_runs(), World(left=LOCK), PlayedModel(TURNS)
    for call in ("1-0", "2-0"):
        with pytest.raises(Killed):
            driven(runs, world, model, in_tool=call)
        bury(runs)
    driven(runs, world, model)
    assert told(model.requests[-1]).count(LOCK) == 2


def test_a_worktree_removed_under_a_driven_run_ends_it_at_the_next_failing_tool() -> None:
    runs, world = some_runs(), World()
    held = claim_run(runs, RUN)
    assert held is not None

    def during(call: ToolCall) -> None:
        if call.id == "2-0":
            world.places.clear()

    async def main() -> Outcome | None:
        crew = a_crew(world, PlayedModel(TURNS), during)
        return await drive(runs, held, crew, lambda *_: None)

    outcome = anyio.run(main)
    assert isinstance(outcome, Failed)
    assert outcome.reason == "worktree_gone"
    assert conversation(runs).spent.turns == 2, "no turn is spent on a place that is gone"
    assert not world.commits


def test_a_worktree_removed_before_the_commit_is_no_success() -> None:
    runs, world, model = some_runs(), World(), PlayedModel((("done",), ("done",)))
    held = claim_run(runs, RUN)
    assert held is not None

    def during(_: ToolCall) -> None:
        world.places.clear()

    async def main() -> Outcome | None:
        return await drive(runs, held, a_crew(world, model, during), lambda *_: None)

    outcome = anyio.run(main)
    assert isinstance(outcome, Failed)
    assert outcome.reason == "worktree_gone"


def test_a_worktree_removed_between_two_claims_is_made_anew_only_if_nothing_was_done() -> None:
    for moment, lost in ((first_of(ModelReplied), False), (first_of(ToolStarted), True)):
        runs, world, model = some_runs(), World(), PlayedModel(TURNS)
        with pytest.raises(Killed):
            driven(runs, world, model, moment)
        bury(runs)
        world.places.clear()
        outcome = driven(runs, world, model)
        if lost:
            assert isinstance(outcome, Failed)
            assert outcome.reason == "worktree_gone"
            assert "/place" in outcome.message
            assert "Its branch went with it." in outcome.message
        else:
            assert outcome == Success(commit="abc123")


@pytest.mark.parametrize(("refusals", "kind"), [(3, "success"), (4, "error")])
def test_a_commit_that_git_refuses_for_a_while_is_made_all_the_same(
    refusals: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "COMMIT_WAITS_SECONDS", (0.0, 0.0, 0.0))
    runs, world = some_runs(), World(refusals=refusals)
    outcome = driven(runs, world, PlayedModel(TURNS))
    assert outcome is not None
    assert kind_of(outcome) == kind
    assert len(world.commits) == (kind == "success")


def test_a_run_that_is_lost_again_and_again_while_it_is_prepared_comes_to_an_end() -> None:
    runs, world = some_runs(), World()
    for _ in range(LOSSES_MAX):
        assert claim_run(runs, RUN) is not None
        bury(runs)
    outcome = driven(runs, world, PlayedModel(TURNS))
    assert isinstance(outcome, Failed)
    assert outcome.reason == "workers_lost"
    assert not world.places, "nothing is prepared once more"


class Hours:
    """The event loop's clock, moved on by hand."""

    def __init__(self) -> None:
        self._ahead = 0.0
        loop = asyncio.get_running_loop()
        real = loop.time
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(loop, "time", lambda: real() + self._ahead)

    async def pass_by(self, seconds: float) -> None:
        self._ahead += seconds
        for _ in range(5):  # whatever is due by now is run
            await anyio.lowlevel.checkpoint()


class SlowModel(PlayedModel):
    """Takes twice its time for each reply, and is heard of in between, or not."""

    def __init__(self, turns: tuple[Turn, ...], *, silent: bool) -> None:
        super().__init__(turns)
        self._silent = silent

    async def reply(self, request: ModelRequest, heard: Heard = unheard) -> Reply:
        hours = Hours()
        for _ in range(2):
            await hours.pass_by(SILENCE_SECONDS_MAX - 1)
            if not self._silent:
                heard()
        return await super().reply(request)


class SlowTools:
    """Tools that take longer than a model may be silent."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    async def run(self, call: ToolCall) -> ToolResult:
        await Hours().pass_by(2 * SILENCE_SECONDS_MAX)
        return await self._tools.run(call)


def driven_slowly(model: PlayedModel, *, slow_tools: bool = False) -> Outcome | None:
    runs = some_runs()
    held = claim_run(runs, RUN)
    assert held is not None
    crew = a_crew(World(), model)
    if slow_tools:
        slow = SlowTools(crew.tools("/place"))
        crew = replace(crew, tools=lambda _: slow)

    async def main() -> Outcome | None:
        return await drive(runs, held, crew, lambda *_: None)

    outcome = anyio.run(main)
    assert conversation(runs).outcome == outcome
    return outcome


def test_a_model_that_gives_no_word_is_stuck() -> None:
    outcome = driven_slowly(SlowModel((("done",), ("done",)), silent=True))
    assert outcome == Stuck(sign="silence", message="no word from the model for 600 seconds")


def test_a_long_reply_that_comes_in_parts_is_no_silence_and_neither_is_a_slow_tool() -> None:
    done: tuple[Turn, ...] = (("done",), ("done",))
    assert driven_slowly(SlowModel(done, silent=False)) == Success(commit="abc123")
    assert driven_slowly(PlayedModel(done), slow_tools=True) == Success(commit="abc123")

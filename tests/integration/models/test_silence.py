"""A model that says nothing ends the run as stuck; one that talks for long is heard out."""

import anyio
import pytest

from headway.agent import asking
from headway.agent.crew import Crew
from headway.agent.driving import drive
from headway.application.claim_run import claim_run
from headway.domain.runs.outcomes import Outcome, Stuck, Success
from tests.fakes.crew import PlayedEngine, PlayedPlace, PlayedTools, World
from tests.support.driven_runs import RUN, some_runs
from tests.support.provided import ANTHROPIC, PROVIDERS, Provider, Talk, talk_with
from tests.support.provider_acts import Call, Says, Silent


def driven(talk: Talk, world: World) -> Outcome | None:
    runs = some_runs()
    held = claim_run(runs, RUN)
    assert held is not None
    crew = Crew(
        model=talk.model,
        tools=lambda _: PlayedTools(world, lambda _: None),
        engine=PlayedEngine(world),
        place=PlayedPlace(world),
    )

    async def main() -> Outcome | None:
        await talk.ask()  # the libraries are imported, which takes its time
        return await drive(runs, held, crew, lambda *_: None)

    return anyio.run(main)


@pytest.mark.parametrize("whose", PROVIDERS, ids=lambda each: each.name)
def test_a_model_that_falls_silent_in_mid_reply_is_not_waited_for(
    whose: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "SILENCE_SECONDS_MAX", 0.3)
    with talk_with(whose, Says(text="Well."), Silent()) as talk:
        ended = driven(talk, World(steps=1))
        # On a loaded machine the time may be over before the request has arrived.
        assert len(talk.fake.asked) <= 2, "it is not asked again"
    assert isinstance(ended, Stuck)
    assert ended.sign == "silence"
    assert "0.3 seconds" in ended.message


def test_a_model_that_talks_for_longer_than_it_may_be_silent_is_heard_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "SILENCE_SECONDS_MAX", 3.0)
    says = Says(text=" ".join(["word"] * 36), calls=(Call("c1", "done", "{}"),), gap=0.1)
    assert len(list(ANTHROPIC.wire().pieces(says, "m"))) * says.gap > 3.5
    with talk_with(ANTHROPIC, Says(text="Well."), says) as talk:
        ended = driven(talk, World(steps=1))
    assert ended == Success(commit="abc123")

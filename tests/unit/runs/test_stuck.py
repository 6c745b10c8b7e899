"""Signs that a run does not get on: when they hold, what follows, and what is none."""

from headway.domain.ids import digest
from headway.domain.runs.acting import CallModel, Note, Stop, next_action
from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.events import (
    CallAsked,
    LimitNeared,
    ModelAsked,
    ModelReplied,
    RunEnded,
    RunEvent,
    RunResumed,
    RunSubmitted,
    StepReached,
    StuckNoticed,
    StuckPolicy,
    ToolEnded,
    ToolStarted,
)
from headway.domain.runs.limits import Limits
from headway.domain.runs.messages import StopReason, Usage
from headway.domain.runs.outcomes import Paused, Sign, Stuck

USAGE = Usage(output_tokens=1)


class Talk:
    """A conversation by turns, whose notes are recorded as they come up."""

    def __init__(self, stuck: StuckPolicy = "abort", limits: Limits | None = None) -> None:
        begun = RunSubmitted(
            workflow_id="w",
            workspace="/w",
            goal="g",
            model="m",
            limits=limits or Limits(turns=None),
            stuck=stuck,
        )
        self.now = evolve(Conversation(), begun)
        self.noted: list[RunEvent] = []

    def turn(self, *calls: str) -> "Talk":
        number = self.now.turn
        asked = tuple(
            CallAsked(id=f"{number}-{i}", name="bash", arguments=digest(call.encode()))
            for i, call in enumerate(calls)
        )
        self.add(ModelAsked(turn=number))
        stop: StopReason = "tools" if calls else "end"
        self.add(
            ModelReplied(
                turn=number, reply=digest(b"r"), stop=stop, model="m", calls=asked, usage=USAGE
            )
        )
        for call in asked:
            self.add(ToolStarted(call=call.id))
            self.add(ToolEnded(call=call.id, text=digest(b"t")))
        while isinstance(action := next_action(self.now), Note):
            self.noted.append(action.event)
            self.add(action.event)
        return self

    def add(self, event: RunEvent) -> None:
        self.now = evolve(self.now, event)

    @property
    def sign(self) -> Sign | None:
        action = next_action(self.now)
        stuck = action.outcome if isinstance(action, Stop) else None
        return stuck.sign if isinstance(stuck, Stuck) else None


def test_the_same_call_three_times_is_repetition_across_replies_and_within_one() -> None:
    assert Talk().turn("a").turn("a").turn("a").sign == "repetition"
    assert Talk().turn("a", "a", "a").sign == "repetition"
    assert Talk().turn("a", "a", "a", "b").sign == "repetition"
    assert Talk().turn("b", "a").turn("a").turn("a", "c").sign == "repetition"


def test_the_same_calls_in_three_turns_are_repetition() -> None:
    assert Talk().turn("a", "b").turn("a", "b").turn("a", "b").sign == "repetition"


def test_what_is_interrupted_by_something_else_is_no_repetition() -> None:
    assert Talk().turn("a").turn("a").turn("b").turn("a").sign is None
    assert Talk().turn("a").turn("a").turn().turn("a").sign is None
    assert Talk().turn("a", "b").turn("a", "c").turn("a", "b").sign is None


def test_a_new_step_is_progress_whatever_was_called_to_get_there() -> None:
    talk = Talk()
    for number in range(1, 9):
        talk.turn("hand in")
        talk.add(StepReached(step=f"s{number}", title="S", number=number, total=9))
        assert talk.sign is None


def test_no_progress_is_said_of_sixty_turns_on_one_step() -> None:
    talk = Talk()
    for number in range(59):
        assert talk.turn(f"{number}").sign is None
    assert talk.turn("x").sign == "no_progress"


def test_a_run_that_only_tells_goes_on_and_tells_of_each_occurrence_once() -> None:
    talk = Talk("notify").turn("a").turn("a").turn("a").turn("a").turn("a")
    assert [type(each) for each in talk.noted] == [StuckNoticed]
    assert isinstance(next_action(talk.now), CallModel)
    talk.turn("b").turn("c", "c", "c")
    assert [each.sign for each in talk.noted if isinstance(each, StuckNoticed)] == [
        "repetition",
        "repetition",
    ]


def test_a_run_that_only_tells_tells_of_two_signs_at_once() -> None:
    talk = Talk("notify")
    for _ in range(61):
        talk.turn("a")
    signs = [each.sign for each in talk.noted if isinstance(each, StuckNoticed)]
    assert signs == ["repetition", "no_progress"]


def test_four_fifths_of_a_limit_are_told_once_and_nothing_follows() -> None:
    talk = Talk(limits=Limits(turns=10, tokens=20))
    for number in range(9):
        talk.turn(f"{number}")
        assert isinstance(next_action(talk.now), CallModel)
    assert talk.noted == [LimitNeared(limit="turns")]
    talk.turn("x")
    assert next_action(talk.now) == Stop(outcome=Paused(limit="turns"))


def test_a_limit_that_was_granted_anew_is_told_of_anew() -> None:
    talk = Talk(limits=Limits(turns=5))
    for number in range(4):
        talk.turn(f"{number}")
    talk.turn("x")
    talk.add(RunEnded(outcome=Paused(limit="turns")))
    talk.add(RunResumed(by="me", limits=Limits(turns=10)))
    for number in range(4):
        talk.turn(f"again {number}")
    assert talk.noted == [LimitNeared(limit="turns")] * 2

"""What each step of a run took."""

from headway.domain.ids import digest
from headway.domain.runs.costs import step_costs
from headway.domain.runs.events import (
    ModelAsked,
    ModelErred,
    ModelReplied,
    RunEvent,
    StepReached,
    ToolEnded,
)
from headway.domain.runs.messages import Usage

LOOK = StepReached(step="look", title="Look", number=1, total=2)
MEND = StepReached(step="mend", title="Mend", number=2, total=2)


def replied(turn: int, tokens: int, cost: int | None = None) -> ModelReplied:
    return ModelReplied(
        turn=turn,
        reply=digest(b"r"),
        stop="end",
        model="m",
        usage=Usage(input_tokens=tokens, output_tokens=1, cost=cost),
        duration_ms=100,
    )


def test_what_was_spent_counts_for_the_step_that_was_open() -> None:
    events: list[RunEvent] = [
        LOOK,
        ModelAsked(turn=1),
        replied(1, 10, 5),
        ModelErred(turn=2, problem="transient", message="", duration_ms=7),
        replied(2, 20),
        ToolEnded(call="c", text=digest(b"t"), duration_ms=3),
        MEND,
        MEND,  # told again after a rest
        replied(3, 30, 8),
    ]
    look, mend = step_costs(events)
    assert (look.step, look.spent.turns, look.spent.input_tokens) == (LOOK, 2, 30)
    assert (look.spent.money, look.spent.unpriced, look.spent.worked_ms) == (5, 1, 210)
    assert (mend.step, mend.spent.turns, mend.spent.input_tokens) == (MEND, 1, 30)
    assert (mend.spent.money, mend.spent.worked_ms) == (8, 100)


def test_a_step_met_again_stands_there_again() -> None:
    again = step_costs([LOOK, replied(1, 1), MEND, replied(2, 2), LOOK, replied(3, 4)])
    assert [(each.step.step, each.spent.input_tokens) for each in again] == [
        ("look", 1),
        ("mend", 2),
        ("look", 4),
    ]


def test_before_the_first_step_there_is_nothing() -> None:
    assert step_costs([]) == ()

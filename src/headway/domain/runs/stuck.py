"""Signs that a run goes on without getting on. A slow tool is none of them."""

from typing import Final

from headway.domain.runs.outcomes import Stuck
from headway.domain.values import Value

REPEATS_MAX: Final = 3
IDLE_TURNS_MAX: Final = 60  # turns in a row on one step


class Habit(Value):
    """What is remembered of the turns so far: the last calls, alike in a row; turns on the step."""

    last: str = ""
    repeats: int = 0
    idle_turns: int = 0


def after_turn(habit: Habit, calls: str) -> Habit:
    """Return the habit after a reply whose calls are these, by name and arguments."""
    same = bool(calls) and calls == habit.last
    return Habit(
        last=calls,
        repeats=habit.repeats + 1 if same else int(bool(calls)),
        idle_turns=habit.idle_turns + 1,
    )


def stuck(habit: Habit) -> Stuck | None:
    """Return the first sign that holds."""
    if habit.repeats >= REPEATS_MAX:
        return Stuck(
            sign="repetition", message=f"the same call {habit.repeats} times in a row: {habit.last}"
        )
    if habit.idle_turns >= IDLE_TURNS_MAX:
        return Stuck(sign="no_progress", message=f"{habit.idle_turns} turns on one step")
    return None

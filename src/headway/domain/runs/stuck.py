"""Signs that a run goes on without getting on. A slow tool is none of them.

The third sign, a silent model, is met by the loop, which alone has a clock; it always ends a run.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from headway.domain.runs.events import CallAsked
from headway.domain.runs.outcomes import Sign, Stuck
from headway.domain.values import Value

REPEATS_MAX: Final = 3
IDLE_TURNS_MAX: Final = 60  # turns in a row on one step


class Habit(Value):
    """What is remembered of the turns on the present step.

    `last` is the last call, by name and arguments, and `alike` how many in a row were the same;
    `turn` and `turns_alike` say that of the calls of whole turns. `repeats` is the worst of the
    last turn, and `repeated` the names of those calls. `noticed` are the signs that hold and were
    told of.
    """

    last: str = ""
    alike: int = 0
    turn: str = ""
    turns_alike: int = 0
    repeated: str = ""
    repeats: int = 0
    idle_turns: int = 0
    noticed: tuple[Sign, ...] = ()


def after_turn(habit: Habit, calls: Sequence[CallAsked]) -> Habit:
    """Return the habit after a reply with these calls."""
    spelled = [f"{call.name}({call.arguments[7:19]})" for call in calls]
    turn = " ".join(spelled)
    turns_alike = habit.turns_alike + 1 if turn == habit.turn else 1
    last, alike = habit.last, habit.alike
    rows = [(turns_alike, ", ".join(call.name for call in calls))] if calls else []
    for call, key in zip(calls, spelled, strict=True):
        last, alike = key, alike + 1 if key == last else 1
        rows.append((alike, call.name))
    repeats, repeated = max(rows, key=lambda row: row[0], default=(0, ""))
    after = Habit(
        last=last if calls else "",
        alike=alike if calls else 0,
        turn=turn,
        turns_alike=turns_alike,
        repeated=repeated,
        repeats=repeats,
        idle_turns=habit.idle_turns + 1,
    )
    holding = {sign.sign for sign in signs(after)}
    return replace(after, noticed=tuple(sign for sign in habit.noticed if sign in holding))


def after_interruption(habit: Habit) -> Habit:
    """Return the habit once a call was cut off: to make it again is no repetition."""
    return Habit(idle_turns=habit.idle_turns, noticed=habit.noticed)


def signs(habit: Habit) -> tuple[Stuck, ...]:
    """Return the signs that hold."""
    found: list[Stuck] = []
    if habit.repeats >= REPEATS_MAX:
        message = f"the same call {habit.repeats} times in a row: {habit.repeated}"
        found.append(Stuck(sign="repetition", message=message))
    if habit.idle_turns >= IDLE_TURNS_MAX:
        message = f"{habit.idle_turns} turns on one step"
        found.append(Stuck(sign="no_progress", message=message))
    return tuple(found)

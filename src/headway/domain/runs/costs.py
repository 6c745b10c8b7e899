"""What each step of a run took: the difference of what was spent before it and after."""

from collections.abc import Iterable

from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.events import RunEvent, StepReached
from headway.domain.runs.limits import Spent
from headway.domain.values import Value


class StepCost(Value):
    """A step as it was met, and what was spent on it; a step met again stands there again."""

    step: StepReached
    spent: Spent


def step_costs(events: Iterable[RunEvent]) -> tuple[StepCost, ...]:
    """Return the steps of a run in the order they were met."""
    now = Conversation()
    met: list[tuple[StepReached, Spent]] = []
    for event in events:
        now = evolve(now, event)
        if isinstance(event, StepReached) and (not met or met[-1][0] != event):
            met.append((event, now.spent))
    ends = [*(begun for _, begun in met), now.spent][1:]
    return tuple(
        StepCost(step=step, spent=_minus(end, begun))
        for (step, begun), end in zip(met, ends, strict=True)
    )


def _minus(end: Spent, begun: Spent) -> Spent:
    return Spent(
        turns=end.turns - begun.turns,
        input_tokens=end.input_tokens - begun.input_tokens,
        output_tokens=end.output_tokens - begun.output_tokens,
        cached_tokens=end.cached_tokens - begun.cached_tokens,
        money=end.money - begun.money,
        unpriced=end.unpriced - begun.unpriced,
        worked_ms=end.worked_ms - begun.worked_ms,
    )

"""What a run may spend, and what it has spent."""

from typing import Literal, TypeAlias

from msgspec.structs import replace

from headway.domain.runs.messages import Usage
from headway.domain.values import Value

Limit: TypeAlias = Literal["turns", "tokens", "money", "time"]


class Limits(Value):
    """What a run may spend; None is no limit.

    `tokens` counts those written by the model and those it read that no cache held. `money` is in
    millionths of a US dollar. `seconds` is time at work: replies and tools, not waiting in a queue.
    `policy` says what a run does at a limit, and when its model cannot be asked any more through no
    fault of the run: it ends, or it parks and can be resumed.
    """

    turns: int | None = 200
    tokens: int | None = None
    money: int | None = None
    seconds: int | None = 3_600
    policy: Literal["end", "park"] = "park"


class Spent(Value):
    """What a run has spent. `unpriced` counts replies whose price is not known."""

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    money: int = 0
    unpriced: int = 0
    worked_ms: int = 0

    @property
    def tokens(self) -> int:
        """Return what counts against the limit of tokens."""
        return self.input_tokens + self.output_tokens


def with_reply(spent: Spent, usage: Usage, duration_ms: int) -> Spent:
    """Return what is spent after one more reply."""
    return Spent(
        turns=spent.turns + 1,
        input_tokens=spent.input_tokens + usage.input_tokens,
        output_tokens=spent.output_tokens + usage.output_tokens,
        cached_tokens=spent.cached_tokens + usage.cache_read_tokens,
        money=spent.money + (usage.cost or 0),
        unpriced=spent.unpriced + (usage.cost is None),
        worked_ms=spent.worked_ms + duration_ms,
    )


def with_summary(spent: Spent, usage: Usage, duration_ms: int) -> Spent:
    """Return what is spent after a summary, which is a reply but no turn."""
    return replace(with_reply(spent, usage, duration_ms), turns=spent.turns)


def reached(limits: Limits, spent: Spent) -> Limit | None:
    """Return the first limit that is reached."""
    bounds = _bounds(limits, spent)
    return next((name for name, most, used in bounds if most is not None and used >= most), None)


def near(limits: Limits, spent: Spent) -> tuple[Limit, ...]:
    """Return the limits of which four fifths are spent."""
    bounds = _bounds(limits, spent)
    return tuple(name for name, most, used in bounds if most is not None and 5 * used >= 4 * most)


def _bounds(limits: Limits, spent: Spent) -> tuple[tuple[Limit, int | None, int], ...]:
    """Return each limit with how much it allows and how much of it is spent."""
    return (
        ("turns", limits.turns, spent.turns),
        ("tokens", limits.tokens, spent.tokens),
        ("money", limits.money, spent.money),
        ("time", None if limits.seconds is None else limits.seconds * 1_000, spent.worked_ms),
    )

"""Whether what a run may spend can be meant."""

from typing import Final

from msgspec.structs import asdict

from headway.domain.errors import InvalidInput
from headway.domain.runs.limits import Limits
from headway.domain.values import Value

LIMIT_MAX: Final = 10**12  # a million dollars in millionths; more is a slip
PRIORITY_MAX: Final = 1_000_000
BOUNDS: Final = {
    "turns": "turns",
    "tokens": "tokens",
    "money": "millionths of a dollar",
    "seconds": "seconds",
}


class Grant(Value):
    """How much more a run may spend than it has; None grants nothing. The units are `Limits`'."""

    turns: int | None = None
    tokens: int | None = None
    money: int | None = None
    seconds: int | None = None


def check_limits(limits: Limits | Grant) -> None:
    """Raise InvalidInput for a bound that leaves nothing to work with, or is beyond reason."""
    bounds = asdict(limits)
    for name, unit in BOUNDS.items():
        bound = bounds[name]
        if bound is not None and not 0 < bound <= LIMIT_MAX:
            what = "leaves nothing to work with" if bound <= 0 else "is more than can be meant"
            raise InvalidInput(
                f"A limit of {bound} {unit} {what}.",
                remedy=f"Give a limit from 1 to {LIMIT_MAX:,}, or none.",
                details={"kind": "limit", "limit": name},
            )


def check_priority(priority: int) -> None:
    """Raise InvalidInput for a priority beyond reason."""
    if abs(priority) > PRIORITY_MAX:
        raise InvalidInput(
            f"A priority of {priority} is beyond what the queue takes.",
            remedy=f"Give a whole number from {-PRIORITY_MAX:,} to {PRIORITY_MAX:,}.",
            details={"kind": "priority"},
        )

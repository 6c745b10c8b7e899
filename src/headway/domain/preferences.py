"""How far a session may go by itself: autonomy and risk policy, each from careful to bold."""

from typing import Final, get_args

from headway.domain.values import Value
from headway.domain.workflow import Autonomy, Recommended, RiskPolicy

AUTONOMY_ORDER: Final[tuple[Autonomy, ...]] = get_args(Autonomy)
RISK_ORDER: Final[tuple[RiskPolicy, ...]] = get_args(RiskPolicy)


class Preferences(Value):
    """The preferences in force at a node; guided and conservative by default."""

    autonomy: Autonomy = "guided"
    risk_policy: RiskPolicy = "conservative"


def never_stops(preferences: Preferences) -> bool:
    """Tell whether a block becomes a recorded gap instead of stopping the run."""
    return preferences.autonomy == "full_auto_never_stop"


def exceedances(chosen: Preferences, recommended: Recommended | None) -> tuple[str, ...]:
    """Say, one sentence each, where the chosen preferences are bolder than the author advises."""
    if recommended is None:
        return ()
    found = []
    if recommended.autonomy and _bolder(AUTONOMY_ORDER, chosen.autonomy, recommended.autonomy):
        found.append(
            f"Autonomy {chosen.autonomy} goes further than the recommended {recommended.autonomy}."
        )
    if recommended.risk_policy and _bolder(RISK_ORDER, chosen.risk_policy, recommended.risk_policy):
        found.append(
            f"Risk policy {chosen.risk_policy} goes further than the recommended "
            f"{recommended.risk_policy}."
        )
    return tuple(found)


def _bolder(order: tuple[str, ...], chosen: str, advised: str) -> bool:
    return order.index(chosen) > order.index(advised)

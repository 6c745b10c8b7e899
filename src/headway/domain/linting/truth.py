"""Whether a condition can hold at all, or can fail at all: by trying what could tell.

A condition compares variables with values written in it. Trying, for each variable, those values,
their neighbours, and a few that are nothing like them, meets every case that the comparisons can
tell apart; the engine's own evaluator judges each. Where that cannot be done (a regular
expression, too many variables) the condition counts as open.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from headway.domain.conditions import holds
from headway.domain.values import Json
from headway.domain.workflow import AllOf, Always, AnyOf, Compare, Condition, Malformed, Negation

CASES_MAX: Final = 1_024
COMPARISONS_MAX: Final = 64

Verdict: TypeAlias = Literal["never", "always", "open"]

_UNLIKE: Final = "\N{MIDDLE DOT}unlike\N{MIDDLE DOT}"  # equals and contains nothing anybody writes
_PLAIN: Final[tuple[Json, ...]] = (None, "", _UNLIKE, True, False, 0, 1, ["x"])


def verdict(condition: Condition, unset: frozenset[str] = frozenset()) -> Verdict:
    """Tell whether a condition never holds, always holds, or depends; `unset` have no value."""
    leaves = list(_leaves(condition))
    if len(leaves) > COMPARISONS_MAX or any(not isinstance(each, Compare) for each in leaves):
        return "open"
    compared = [leaf for leaf in leaves if isinstance(leaf, Compare)]
    if any(leaf.operator == "matches" and leaf.var not in unset for leaf in compared):
        return "open"
    cases = {
        name: [None]
        if name in unset
        else distinguishing([each for each in compared if each.var == name])
        for name in dict.fromkeys(leaf.var for leaf in compared)
    }
    if math.prod(len(values) for values in cases.values()) > CASES_MAX:
        return "open"
    outcomes = (
        holds(condition, dict(zip(cases, values, strict=True)))
        for values in itertools.product(*cases.values())
    )
    first = next(outcomes)
    if any(each is not first for each in outcomes):
        return "open"
    return "always" if first else "never"


def _leaves(condition: Condition) -> Iterator[Compare | Malformed | Always]:
    match condition:
        case AllOf(terms=terms) | AnyOf(terms=terms):
            for term in terms:
                yield from _leaves(term)
        case Negation(term=term):
            yield from _leaves(term)
        case _:
            yield condition


def distinguishing(leaves: list[Compare]) -> list[Json]:
    """Return values of one variable that tell its comparisons apart."""
    written = [
        value
        for leaf in leaves
        for value in (_members(leaf) if leaf.operator == "in" else (leaf.value,))
    ]
    cases: list[Json] = [*_PLAIN, *written]
    numbers = sorted(
        {
            value
            for value in written
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
    )
    cases += [number + step for number in numbers for step in (-1, 1)]
    cases += [(low + high) / 2 for low, high in itertools.pairwise(numbers)]
    cases += _joined(leaves)
    unique: list[Json] = []
    for case in cases:
        if not any(type(case) is type(each) and case == each for each in unique):
            unique.append(case)
    return unique


def _members(leaf: Compare) -> list[Json]:
    return list(leaf.value) if isinstance(leaf.value, list | tuple) else []


def _joined(leaves: list[Compare]) -> list[Json]:
    """Return one text that begins, goes on and ends as the comparisons of a text ask."""
    parts = {
        operator: [leaf.value for leaf in leaves if leaf.operator == operator]
        for operator in ("startsWith", "contains", "endsWith")
    }
    found = [str(value) for values in parts.values() for value in values]
    return ["".join(found)] if len(found) > 1 else []

"""Finding values under which conditions come out as wanted, judged by the engine's own evaluator.

A condition is opened into conjunctions of comparisons; for each variable of a conjunction the
values written in its comparisons, their neighbours and a few unlike values are tried. What cannot
be decided that way (too many conjunctions, a regular expression nothing tried matches) is told
apart from what no value can meet.
"""

import math
from collections.abc import Iterator
from itertools import chain, islice, product
from typing import Final, TypeAlias

from headway.domain.conditions import holds
from headway.domain.linting.truth import distinguishing
from headway.domain.simulating.samples import sample
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import AllOf, Always, AnyOf, Compare, Condition, Malformed, Negation

CONJUNCTIONS_MAX: Final = 256

Wanted: TypeAlias = tuple[Condition, bool]  # a condition, and how it is to come out
_Literals: TypeAlias = tuple[Wanted, ...]
_NEVER: Final[tuple[_Literals, ...]] = ()
_AT_ONCE: Final[tuple[_Literals, ...]] = ((),)


class Found(Value):
    """Values to set so that everything comes out as wanted."""

    values: dict[str, Json]


class Impossible(Value):
    """No values do: `sure` when every case was tried; `missing` would help, but cannot be set."""

    sure: bool
    missing: tuple[str, ...] = ()


def solve(
    wanted: tuple[Wanted, ...], known: JsonObject, settable: frozenset[str], turn: int = 0
) -> Found | Impossible:
    """Return values of `settable` variables under which all of `wanted` come out.

    `known` holds the variables as they are; what need not change stays out of the answer. `turn`
    picks another of several ways, the same one for the same number.
    """
    if all(holds(condition, known) is outcome for condition, outcome in wanted):
        return Found(values={})
    opened = islice(product(*(_ways(each) for each in wanted)), CONJUNCTIONS_MAX + 1)
    ways = [tuple(chain.from_iterable(parts)) for parts in opened]
    sure = len(ways) <= CONJUNCTIONS_MAX
    ways = ways[turn % len(ways) :] + ways[: turn % len(ways)] if ways else ways
    missing: dict[str, None] = {}
    for way in ways:
        made = _assigned(way, known, settable, turn)
        if isinstance(made, Found):
            return made
        sure = sure and made.sure
        missing |= dict.fromkeys(made.missing)
    return Impossible(sure=sure, missing=tuple(missing))


def variables_in(condition: Condition | None) -> Iterator[str]:
    """Yield the variables a condition compares."""
    return (leaf.var for leaf in comparisons(condition))


def comparisons(condition: Condition | None) -> Iterator[Compare]:
    """Yield the comparisons of a condition."""
    match condition:
        case Compare():
            yield condition
        case AllOf(terms=terms) | AnyOf(terms=terms):
            for term in terms:
                yield from comparisons(term)
        case Negation(term=term):
            yield from comparisons(term)
        case _:
            return


def _ways(wanted: Wanted) -> tuple[_Literals, ...]:
    """Return the conjunctions of comparisons under each of which a condition comes out."""
    condition, outcome = wanted
    if not holds_at_all(condition):
        return _NEVER if outcome else _AT_ONCE
    return tuple(islice(_opened(condition, outcome=outcome), CONJUNCTIONS_MAX + 1))


def _opened(condition: Condition, *, outcome: bool) -> Iterator[_Literals]:
    match condition:
        case Compare():
            yield ((condition, outcome),)
        case Always():
            yield from _AT_ONCE if outcome else _NEVER
        case Malformed():
            yield from _NEVER if outcome else _AT_ONCE
        case Negation(term=term):
            yield from _opened(term, outcome=not outcome)
        case AllOf(terms=terms) | AnyOf(terms=terms):
            if isinstance(condition, AllOf) is outcome:
                parts = [tuple(_opened(term, outcome=outcome)) for term in terms]
                for each in islice(product(*parts), CONJUNCTIONS_MAX + 1):
                    yield tuple(chain.from_iterable(each))
            else:
                for term in terms:
                    yield from _opened(term, outcome=outcome)


def holds_at_all(condition: Condition) -> bool:
    """Tell whether a condition is free of malformed parts, which make the whole false."""
    match condition:
        case Malformed():
            return False
        case AllOf(terms=terms) | AnyOf(terms=terms):
            return all(holds_at_all(term) for term in terms)
        case Negation(term=term):
            return holds_at_all(term)
        case _:
            return True


def _assigned(
    literals: _Literals, known: JsonObject, settable: frozenset[str], turn: int
) -> Found | Impossible:
    values: dict[str, Json] = {}
    by_variable: dict[str, list[Wanted]] = {}
    for literal in literals:
        by_variable.setdefault(next(variables_in(literal[0])), []).append(literal)
    for name, asked in by_variable.items():
        if _fits(asked, known.get(name)):
            continue
        candidates = _candidates(asked)
        fitting = [value for value in candidates if _fits(asked, value)]
        if not fitting:
            return Impossible(sure=not _has_pattern(asked))
        if name not in settable:
            return Impossible(sure=True, missing=(name,))
        values[name] = fitting[turn % len(fitting)]
    return Found(values=values)


def _fits(asked: list[Wanted], value: Json) -> bool:
    return all(
        holds(condition, {next(variables_in(condition)): value}) is outcome
        for condition, outcome in asked
    )


def _candidates(asked: list[Wanted]) -> list[Json]:
    """Return values to try, those that are written in the comparisons first, null last."""
    leaves = [condition for condition, _ in asked if isinstance(condition, Compare)]
    matching = [sample(str(leaf.value)) for leaf in leaves if leaf.operator == "matches"]
    cases = [*matching, *distinguishing(leaves)]
    written = [case for case in cases if any(case == leaf.value for leaf in leaves)]
    plain = [case for case in cases if case is not None and not _is_in(case, written)]
    return [*written, *matching, *sorted(plain, key=_oddity), None]


def _is_in(case: Json, cases: list[Json]) -> bool:
    return any(type(case) is type(each) and case == each for each in cases)


def _oddity(case: Json) -> float:
    """Return how unlikely an agent is to set a value: truth values and small numbers come first."""
    if isinstance(case, bool):
        return 0.0
    if isinstance(case, int | float):
        return 1.0 + (abs(case) if math.isfinite(case) else 1e9)
    return 2.0


def _has_pattern(asked: list[Wanted]) -> bool:
    return any(isinstance(each, Compare) and each.operator == "matches" for each, _ in asked)

"""Loops: their variables, and whether a pass begins.

A `for` runs while its pass (from 0) is below the count, a `forEach` while it is below the length of
the array, both read from the context anew each time, so they may grow or shrink on the way. `while`
goes on as long as its condition holds, `until` as long as it does not.
"""

import re
from typing import Final, TypeAlias, assert_never

from headway.domain.conditions import holds
from headway.domain.errors import PreconditionFailed
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import ByCondition, ByCount, ByDecision, ByItems, Item, Loop, Step

Around: TypeAlias = tuple[tuple[Loop, int], ...]  # outermost first, each with its pass from 0

_IDENTIFIER: Final = r"[A-Za-z_][A-Za-z0-9_]*"


def variables_at(around: Around, context: JsonObject) -> JsonObject:
    """Return the context with the variables of the loops laid over it, the innermost on top.

    An inner loop may count or go through a variable of a loop around it.
    """
    if not around:
        return context
    variables = dict(context)
    for loop, number in around:
        variables[loop.iteration_var] = number + 1
        if isinstance(loop.source, ByItems):
            items = variables.get(loop.source.key)
            if isinstance(items, list) and number < len(items):
                variables[loop.item_var] = items[number]
            variables[loop.index_var] = number
    return variables


def loop_ids(loop: Loop) -> frozenset[str]:
    """Return the names under which a decision may speak of a loop."""
    named = {loop.source.loop_id} if isinstance(loop.source, ByDecision) else set()
    return frozenset({loop.id, *named})


def is_entered(around: Around, context: JsonObject) -> bool:
    """Tell whether the innermost of these loops, steered by context, begins its pass.

    Raises PreconditionFailed when the context lacks what the loop counts or goes through.
    """
    loop, number = around[-1]
    match loop.source:
        case ByCondition(condition=condition):
            return holds(condition, variables_at(around, context)) is (loop.kind == "while")
        case ByCount(count=count):
            if isinstance(count, str):
                return number < _count(loop, count, variables_at(around[:-1], context))
            return number < count
        case ByItems(key=key):
            outer = variables_at(around[:-1], context)
            return number < len(_items(loop, key, outer, checked=number == 0))
        case ByDecision():
            raise AssertionError("a loop steered by decisions is not asked")
        case _:
            assert_never(loop.source)


def _count(loop: Loop, key: str, context: JsonObject) -> float:
    value = context.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _missing(loop, key, "a number", value, "3")
    return value


def _items(loop: Loop, key: str, context: JsonObject, *, checked: bool) -> list[Json]:
    items = context.get(key)
    if not isinstance(items, list):
        raise _missing(loop, key, "an array", items, '["first", "second"]')
    if checked and items and not isinstance(items[0], dict):
        pattern = re.compile(r"\{\{" + re.escape(loop.item_var) + r"\.(" + _IDENTIFIER + ")")
        field = next((found[1] for text in _prompts(loop) if (found := pattern.search(text))), None)
        if field:
            raise _missing(
                loop, key, f"an array of objects with a field {field!r}", items[0],
                f'[{{"{field}": "..."}}]',
            )  # fmt: skip
    return items


def _prompts(item: Item) -> list[str]:
    """Return the prompts of a body. Titles and fragments may do without the field, as recorded."""
    if isinstance(item, Step):
        return [item.prompt]
    return [prompt for inner in item.body for prompt in _prompts(inner)]


def _missing(loop: Loop, key: str, wanted: str, found: Json, example: str) -> PreconditionFailed:
    seen = "it is missing" if found is None else f"it holds {_kind(found)}"
    return PreconditionFailed(
        f"The loop {loop.title!r} needs the context key {key!r} to hold {wanted}; {seen}.",
        remedy=f'Repeat the call with the same token and "context": {{"{key}": {example}}}.',
        details={"kind": "missing_context_key", "key": key},
    )


def _kind(value: Json) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"

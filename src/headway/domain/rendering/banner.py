"""The loop banner: where in its loops a step stands, one line a level, outermost first.

A first pass is told its bound; a later one sees its progress, what to look at this time, and that
the notes of earlier passes are there. The step that decides about the loop has none, so that the
count does not sway the decision. Loops are named by title, never by id.
"""

import math
from typing import Final, assert_never

from headway.domain.loops import Around, variables_at
from headway.domain.rendering.interpolate import interpolate, preview
from headway.domain.rendering.metrics import is_loop_control
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import ByCondition, ByCount, ByDecision, ByItems, Loop, Step

BAR_CELLS_MAX: Final = 10
ITEM_CHARS_MAX: Final = 80

_FIRST: Final = "Its steps come round again until the loop ends; do this pass properly."
_SECOND: Final = "Look for what the first pass missed."
_MIDDLE: Final = "Close the gaps that are left; each pass should find less than the one before."
_FINAL: Final = "This is the last pass: check that nothing broke, and open nothing new."
_COUNTED: Final = "Do the same work for this pass only."
_EARLIER: Final = "Your notes of earlier passes hold what is done: build on them."


def render_banner(step: Step, loops: Around, variables: JsonObject) -> str:
    """Return the banner of a step, "" outside loops and on a step that decides about its loop."""
    if not loops or is_loop_control(step):
        return ""
    arounds = [loops[: depth + 1] for depth in range(len(loops))]
    passes = [_passes(around, variables) for around in arounds]
    lines = [_level(around, most, variables) for around, most in zip(arounds, passes, strict=True)]
    return "> " + "\n> ".join([*lines, _hint(*loops[-1], passes[-1])])


def _level(around: Around, passes: int, variables: JsonObject) -> str:
    """Return the line of the innermost of these loops."""
    loop, number = around[-1]
    title, about = loop.title, ""
    if isinstance(loop.source, ByItems) or "{{" in title:
        here = variables_at(around, variables)  # a loop further in may use the same names
        title = interpolate(title, here)
        if isinstance(loop.source, ByItems):
            about = f", item: {preview(here.get(loop.item_var), ITEM_CHARS_MAX)}"
    title = " ".join(title.split())
    if number == 0:
        bound = f"of {passes}" if _is_counted(loop) else f"of at most {passes}"
        return f"Loop: {title}, pass 1 {bound}{about}."
    return f"{_bar(number + 1, passes)} Pass {number + 1} of {passes}: {title}{about}."


def _hint(loop: Loop, number: int, passes: int) -> str:
    if number == 0:
        return _COUNTED if _is_counted(loop) else _FIRST
    if _is_counted(loop):
        scope = _COUNTED
    elif number + 1 >= passes:
        scope = _FINAL
    else:
        scope = _SECOND if number == 1 else _MIDDLE
    return f"{scope} {_EARLIER}"


def _passes(around: Around, variables: JsonObject) -> int:
    """Return how many passes there will be at most; never fewer than the one that is running."""
    loop, number = around[-1]
    known: Json = None
    match loop.source:
        case ByCount(count=str(key)):
            known = variables_at(around[:-1], variables).get(key)
        case ByCount(count=count):
            known = count
        case ByItems(key=key):
            items = variables_at(around[:-1], variables).get(key)
            known = len(items) if isinstance(items, list) else None
        case ByCondition() | ByDecision():
            pass
        case _:
            assert_never(loop.source)
    if isinstance(known, bool) or not isinstance(known, int | float):
        known = loop.max_iterations
    return max(number + 1, math.ceil(min(known, loop.max_iterations)))


def _is_counted(loop: Loop) -> bool:
    return isinstance(loop.source, ByCount | ByItems)


def _bar(number: int, passes: int) -> str:
    cells = min(passes, BAR_CELLS_MAX)
    done = max(1, number * cells // passes)
    return "[" + "#" * done + "-" * (cells - done) + "]"

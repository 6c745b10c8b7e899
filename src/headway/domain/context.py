"""Context: facts the caller and the agent give, read by conditions, loops and prompts.

Law. Context belongs to a node: it is what was given on the way from the root to that node, and
nothing else. Merging is shallow; null removes a key; arrays and objects are replaced whole.

Theory of operation. What an advance hands in (its delta) is stored in its event. A node refers to
its context by `Segment`s: versions of events whose folded changes, laid over each other in order,
give the merged context. A new delta absorbs the segments above which it has grown (those less than
twice its size), the way a binary counter carries. So each segment is at least twice the size of the
one above it: a context within its limit never takes more than some twenty segments to read, and
each byte is rewritten only as often as the counter carries, logarithmically. Branches share
segments and never see each other's.
"""

from collections.abc import Mapping
from typing import Final

from headway.domain.errors import InvalidInput
from headway.domain.events import ContextChange, Segment
from headway.domain.json_limits import CONTEXT_BYTES_MAX, canonical
from headway.domain.values import Json, JsonObject

Folds = Mapping[int, JsonObject]  # by version of the event that holds the fold

ABSORB_RATIO: Final = 2


def merge(under: JsonObject, over: JsonObject) -> JsonObject:
    """Return the context with a change applied: null removes, anything else replaces whole."""
    merged = {**under, **over}
    return {key: value for key, value in merged.items() if value is not None}


def merged_context(segments: tuple[Segment, ...], folds: Folds) -> JsonObject:
    """Return the context that segments stand for."""
    if not segments:
        return {}
    merged: dict[str, Json] = {}
    for segment in segments:
        merged.update(folds[segment.version])
    return {key: value for key, value in merged.items() if value is not None}


def check_merged(context: JsonObject, size_bound: int) -> None:
    """Refuse a merged context beyond its limit; `size_bound` spares measuring the small ones.

    Raises InvalidInput.
    """
    if size_bound <= CONTEXT_BYTES_MAX:
        return
    size = len(canonical(context, "The merged context"))
    if size > CONTEXT_BYTES_MAX:
        raise InvalidInput(
            f"The context would grow to {size} bytes; at most {CONTEXT_BYTES_MAX} are kept.",
            remedy="Send null for keys that are no longer needed, or put long texts into notes.",
            details={
                "kind": "context_budget_exceeded",
                "measured": size,
                "max": CONTEXT_BYTES_MAX,
                "method": "merged",
            },
        )


def change_context(
    segments: tuple[Segment, ...], folds: Folds, delta: JsonObject, version: int
) -> tuple[tuple[Segment, ...], ContextChange]:
    """Return the segments after a change recorded in the event of `version`, and that change."""
    kept = list(segments)
    fold, size = delta, _size(delta)
    while kept and kept[-1].size < ABSORB_RATIO * size:
        below = folds[kept.pop().version]
        # Removals must stay visible while anything lies underneath.
        fold = merge(below, fold) if not kept else {**below, **fold}
        size = _size(fold)
    change = ContextChange(delta=delta, fold=None if fold is delta else fold)
    return (*kept, Segment(version=version, size=size)), change


def fold_of(change: ContextChange) -> JsonObject:
    """Return what a change contributes to later reads."""
    return change.delta if change.fold is None else change.fold


def _size(value: JsonObject) -> int:
    return len(canonical(value, "The context"))

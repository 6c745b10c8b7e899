"""Where the text of a prompt comes from: the author, a ref, a feature, a routine.

Refs and features are closed sets of texts that come with the engine, put in word for word; so
a stretch of a compiled prompt that reads like one of them is told as that one.
"""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from headway.domain.compiler.library import FEATURES, REFS
from headway.domain.compiler.nodes import items, record, text
from headway.domain.values import Json, JsonObject, Value

PartOrigin: TypeAlias = Literal[
    "author", "routine", "ref", "feature", "fragment", "engine"
]  # fmt: skip


class Part(Value):
    """A stretch of a prompt and what it comes from; `name` says which one of its kind."""

    origin: PartOrigin
    name: str
    text: str


def parts_of(prompt: str) -> tuple[Part, ...]:
    """Return a compiled prompt in stretches; their texts joined are the prompt."""
    parts: list[Part] = [Part(origin="author", name="", text=prompt)]
    for origin, name, sought in _LIBRARY:
        parts = [piece for part in parts for piece in _split(part, origin, name, sought)]
    return tuple(parts)


def routines_called(root: JsonObject) -> dict[str, str]:
    """Return the template ids of the routines a document calls, by the id of the calling step."""
    return dict(_calls(items(root, "steps")))


def _calls(steps: Json) -> Iterator[tuple[str, str]]:
    for node in steps if isinstance(steps, list | tuple) else ():
        if isinstance(node, dict):
            if "templateCall" in node:
                yield text(node, "id"), text(record(node, "templateCall"), "templateId")
            yield from _calls(node.get("body"))


def _split(part: Part, origin: PartOrigin, name: str, sought: str) -> Iterator[Part]:
    if part.origin != "author" or sought not in part.text:
        yield part
        return
    before, _, after = part.text.partition(sought)
    if before:
        yield Part(origin="author", name="", text=before)
    yield Part(origin=origin, name=name, text=sought)
    if after:
        yield from _split(Part(origin="author", name="", text=after), origin, name, sought)


def _library() -> Iterator[tuple[PartOrigin, str, str]]:
    for name, feature in FEATURES.items():
        for sought in (*feature.constraints, *feature.procedure, *feature.verify):
            if sought not in REFS.values():
                yield "feature", name, sought
    for name, sought in REFS.items():
        yield "ref", name, sought


_LIBRARY: Final = tuple(_library())

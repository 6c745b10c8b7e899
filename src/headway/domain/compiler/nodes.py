"""Looking into a checked tree: typed access that passes over what was already reported."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from headway.domain.values import Json, JsonObject

Chosen = TypeVar("Chosen", bound=str)


def text(node: JsonObject, key: str) -> str:
    """Return the text under a key, or nothing."""
    value = node.get(key)
    return value if isinstance(value, str) else ""


def maybe_text(node: JsonObject, key: str) -> str | None:
    """Return the text under a key, or None."""
    value = node.get(key)
    return value if isinstance(value, str) else None


def flag(node: JsonObject, key: str, *, default: bool = False) -> bool:
    """Return the boolean under a key, or the default."""
    value = node.get(key)
    return value if isinstance(value, bool) else default


def record(node: JsonObject, key: str) -> JsonObject:
    """Return the object under a key, or an empty one."""
    value = node.get(key)
    return value if isinstance(value, dict) else {}


def items(node: JsonObject, key: str) -> Sequence[Json]:
    """Return the list under a key, or an empty one."""
    value = node.get(key)
    return value if isinstance(value, list) else ()


def texts(node: JsonObject, key: str) -> tuple[str, ...]:
    """Return the texts of the list under a key."""
    return tuple(value for value in items(node, key) if isinstance(value, str))


def records(node: JsonObject, key: str) -> Iterator[tuple[int, JsonObject]]:
    """Yield the objects of the list under a key, each with its index."""
    for index, value in enumerate(items(node, key)):
        if isinstance(value, dict):
            yield index, value


def text_map(node: JsonObject, key: str) -> dict[str, str]:
    """Return the texts of the object under a key, by their keys."""
    return {name: value for name, value in record(node, key).items() if isinstance(value, str)}


def choice(node: JsonObject, key: str, choices: tuple[Chosen, ...]) -> Chosen | None:
    """Return the text under a key as the one of the choices it is, or None."""
    value = node.get(key)
    return next((each for each in choices if each == value), None)

"""The texts in a document that somebody reads, told apart from ids, settings and conditions."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from headway.domain.diagnostics import Path
from headway.domain.values import Json

# What stands under these keys is read by the engine, or names another part.
_NOT_PROSE: Final = frozenset(
    {
        "id", "type", "kind", "version", "runCondition", "when", "condition",
        "requireConfirmation", "loop", "body", "lint", "templateId", "contractRef", "refId",
        "assessmentRefs", "functionReferences", "workflowId", "modelTier", "allowedTools",
        "anyEqualsLevel", "forAssessment", "pattern", "flags", "source", "resolveFrom", "scope",
        "checks",
    }
)  # fmt: skip
_TITLED: Final = frozenset({"outputRequired", "args", "properties"})  # their keys are read as well
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_BRACES: Final = re.compile(r"\{\{[^{}]*\}\}")


class Prose(NamedTuple):
    """A text with its place; `key` is the key of the step, or of the workflow, it belongs to."""

    text: str
    path: Path
    key: str


def prose_of(value: Json, path: Path, key: str = "") -> Iterator[Prose]:
    """Yield the texts in a value. The body of a loop is not looked into."""
    if isinstance(value, str):
        yield Prose(value, path, key)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in _NOT_PROSE:
                yield from prose_of(each, (*path, name), key or name)
        if path and path[-1] in _TITLED:
            for name in value:
                yield Prose(name, (*path, name), key)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from prose_of(each, (*path, index), key)


def words_of(texts: Iterable[Prose]) -> frozenset[str]:
    """Return the words of texts; a `{{placeholder}}` reads a variable and names nothing."""
    words: set[str] = set()
    for each in texts:
        plain = _BRACES.sub(" ", each.text) if "{{" in each.text else each.text
        words.update(_WORD.findall(plain))
    return frozenset(words)


def is_named(name: str, words: frozenset[str]) -> bool:
    """Tell whether texts with these words name a context key, all its parts if it has several."""
    parts = words_in(name)
    return bool(parts) and all(part in words for part in parts)


def words_in(name: str) -> list[str]:
    """Return the words a context key is made of, which is one for most."""
    return _WORD.findall(name)

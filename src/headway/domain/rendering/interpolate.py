"""Placeholders: `{{name}}` and `{{a.b.c}}` become values of the context when a step is shown.

Only a dotted path of identifiers is a placeholder; anything else in double braces stays as written,
and so does `{{wr.*}}`, which belongs to the compiler. A path without a value leaves a mark, so that
neither the agent nor the author takes a hole for an answer. What is put in is not read again, hence
a value cannot smuggle in a placeholder. The time is linear in the text and in what is put in, and
`SUBSTITUTED_CHARS_MAX` bounds the latter.
"""

import re
from collections.abc import Mapping
from typing import Final

from headway.domain.coercions import to_text
from headway.domain.values import Json, JsonObject

SUBSTITUTED_CHARS_MAX: Final = 1_048_576
PREVIEW_CHARS_MAX: Final = 60

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*+"
# Possessive throughout: a text that almost matches is given up at once, never tried again.
_PLACEHOLDER: Final = re.compile(rf"\{{\{{\s*+({_NAME}(?:\.{_NAME})*+)\s*+\}}\}}")


def interpolate(text: str, variables: JsonObject) -> str:
    """Return `text` with every placeholder replaced by its value, or by a mark when it has none."""
    if "{{" not in text:
        return text
    known: dict[str, str] = {}
    room = SUBSTITUTED_CHARS_MAX

    def value_of(found: re.Match[str]) -> str:
        nonlocal room
        path = found[1]
        if path.startswith("wr."):
            return found[0]
        if path not in known:
            known[path] = _resolve(path, variables)
        value = known[path]
        if len(value) > room:
            value = f"[left out: {path}, the values in this text are too long]"
        room = max(0, room - len(value))
        return value

    return _PLACEHOLDER.sub(value_of, text)


def preview(value: Json, chars_max: int = PREVIEW_CHARS_MAX) -> str:
    """Return a value in short, on one line."""
    line = " ".join(to_text(value)[: chars_max * 4].split())
    return line if len(line) <= chars_max else line[: chars_max - 3].rstrip() + "..."


def unset(path: str) -> str:
    """Return the mark that stands where a value is missing."""
    return f"[unset: {path}]"


def _resolve(path: str, variables: JsonObject) -> str:
    names = path.split(".")
    value: Json = variables
    for count, name in enumerate(names):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list | tuple) and name == "length":
            value = len(value)
        elif value is None:
            return unset(path)
        else:
            where = ".".join(names[:count])
            return f"{unset(path)} ({where} is {_kind(value)}: {preview(value)})"
    return unset(path) if value is None else to_text(value)


def _kind(value: Json) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return "an array"

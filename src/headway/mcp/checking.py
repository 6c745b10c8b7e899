"""Checking a value against one of our input schemas: every problem, each with its path, in words.

It knows the handful of keywords our schemas use and no others; the names of unknown keys are
compared with the known ones. It never repeats a caller's value at length.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headway.application.requests import Json, JsonObject

SIMILARITY_MIN: Final = 0.6
SUGGESTIONS_MAX: Final = 3
PROBLEMS_MAX: Final = 50
SHOWN_MAX: Final = 60

NAMES: Final[Mapping[str, str]] = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "boolean": "true or false",
}

PATTERNS: Final[Mapping[str, str]] = {
    # What a pattern means, by how it begins, for the ones a caller is likely to miss.
    "^(?:/": "must be an absolute path, without NUL characters",
    r"^[^\u0000]": "must not hold NUL characters",
    "^run_": "must look like run_abc123",
    "^sess_": "must look like sess_abc123",
    "^[0-9a-f]{40}": "must be a full commit id: 40 lower-case hexadecimal digits",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something wrong at a path (`output.notesMarkdown`; empty for the arguments as a whole)."""

    path: str
    message: str
    suggestions: tuple[str, ...] = ()


def problems(schema: JsonObject, value: Json, path: str = "") -> list[Problem]:
    """Return what is wrong with a value, in the order of its parts."""
    kind = schema.get("type")
    if isinstance(kind, str) and kind_of(value) != kind:
        return [Problem(path=path, message=f"must be {NAMES[kind]}, not {_shown_kind(value)}")]
    if isinstance(value, str):
        return _text_problems(schema, value, path)
    if isinstance(value, Mapping):
        return _object_problems(schema, value, path)[:PROBLEMS_MAX]
    if isinstance(value, Sequence):
        return _array_problems(schema, value, path)[:PROBLEMS_MAX]
    return []


def kind_of(value: Json) -> str:
    """Return the JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def near(name: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the known names a misspelt one may stand for, the likeliest first."""
    folded = {re.sub(r"[_\-\s]", "", key).lower(): key for key in known}
    wanted = re.sub(r"[_\-\s]", "", name[:SHOWN_MAX]).lower()
    if wanted in folded:
        return (folded[wanted],)
    found = difflib.get_close_matches(wanted, folded, n=SUGGESTIONS_MAX, cutoff=SIMILARITY_MIN)
    # A name cut short, as notes for notesMarkdown, is far from the whole one.
    found = found or [key for key in folded if wanted and key.startswith(wanted)][:SUGGESTIONS_MAX]
    return tuple(folded[key] for key in found)


def _shown_kind(value: Json) -> str:
    kind = kind_of(value)
    return NAMES.get(kind, f"a {kind}") if kind != "null" else "null"


def _text_problems(schema: JsonObject, value: str, path: str) -> list[Problem]:
    allowed = schema.get("enum")
    if isinstance(allowed, Sequence) and value not in allowed:
        names = [str(name) for name in allowed]
        message = f"must be one of {', '.join(names)}"
        return [Problem(path=path, message=message, suggestions=near(value, names))]
    shortest, longest = schema.get("minLength"), schema.get("maxLength")
    if isinstance(shortest, int) and len(value) < shortest:
        return [Problem(path=path, message="must not be empty")]
    if isinstance(longest, int) and len(value) > longest:
        return [Problem(path=path, message=f"must not be longer than {longest} characters")]
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not re.fullmatch(pattern.removesuffix("$"), value):
        return [Problem(path=path, message=_pattern_message(pattern))]
    return []


def _pattern_message(pattern: str) -> str:
    return next(
        (text for begin, text in PATTERNS.items() if pattern.startswith(begin)),
        f"must match {pattern}",
    )


def _object_problems(schema: JsonObject, value: JsonObject, path: str) -> list[Problem]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    found = []
    for key, item in value.items():
        part = properties.get(key)
        if isinstance(part, Mapping):
            found += problems(part, item, _join(path, key))
        elif schema.get("additionalProperties") is False:
            found.append(_unknown_key(key, path, list(properties)))
    required = schema.get("required")
    if isinstance(required, Sequence):
        found += [
            Problem(path=_join(path, str(key)), message="is required but was not given")
            for key in required
            if key not in value
        ]
    return found


def _unknown_key(key: str, path: str, known: Sequence[str]) -> Problem:
    suggestions = near(key, known)
    hint = f" (did you mean {' or '.join(suggestions)}?)" if suggestions else ""
    return Problem(
        path=_join(path, key[:SHOWN_MAX]),
        message=f"is not known here{hint}",
        suggestions=suggestions,
    )


def _array_problems(schema: JsonObject, value: Sequence[Json], path: str) -> list[Problem]:
    longest = schema.get("maxItems")
    if isinstance(longest, int) and len(value) > longest:
        return [Problem(path=path, message=f"must not hold more than {longest} items")]
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return []
    found = []
    for index, item in enumerate(value):
        found += problems(items, item, f"{path}[{index}]")
    return found


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key

"""Strictness for values that come from callers: what may be kept, and how large.

Law: what passes here has exactly one canonical form (RFC 8785), the same on every machine, and can
be read back. Everything else is refused before anything is written, with the place and a remedy.
"""

from typing import Final, NoReturn

import msgspec
import rfc8785

from headway.domain.coercions import SAFE_INTEGER_MAX
from headway.domain.errors import InvalidInput
from headway.domain.values import Json, JsonObject, Value

DEPTH_MAX: Final = 64
CONTEXT_BYTES_MAX: Final = 262_144
ARTIFACT_BYTES_MAX: Final = 16 << 20
NOTES_BYTES_MAX: Final = 16 << 20

FORBIDDEN_KEYS: Final = frozenset({"__proto__", "constructor", "prototype"})
RESERVED_KEYS: Final = frozenset(
    {
        "eat_token",
        "parent_eat_token",
        "metrics_harness",
        "metrics_active_model",
        "is_autonomous",
        "headway_autonomous",
    }
)
METRICS_OUTCOMES: Final = ("success", "partial", "abandoned", "error")

_SORTED: Final = msgspec.json.Encoder(order="sorted")


class _Place(Value):
    """A value on the way through a document, with where it stands for the message."""

    value: Json
    depth: int
    key: str | int | None = None
    parent: "_Place | None" = None

    def path(self) -> str:
        """Return the way from the root, such as `.steps[2].id`; empty at the root."""
        parts: list[str] = []
        place: _Place | None = self
        while place is not None and place.key is not None:
            parts.append(f"[{place.key}]" if isinstance(place.key, int) else f".{place.key}")
            place = place.parent
        return "".join(reversed(parts))


def canonical(value: Json, what: str) -> bytes:
    """Return the RFC 8785 bytes of a value. Raises InvalidInput, naming `what`, for all others."""
    if _is_plain(value, what):
        # Without floats and with ASCII keys alone the fast encoder writes the very same bytes.
        return _SORTED.encode(value)
    return rfc8785.dumps(value)  # checked above, value by value


def check_context(delta: JsonObject) -> int:
    """Return the size of a context delta in bytes. Raises InvalidInput when it may not be kept."""
    for key in delta:
        if key in FORBIDDEN_KEYS or key in RESERVED_KEYS:
            _refuse_key(key)
    outcome = delta.get("metrics_outcome")
    if outcome is not None and outcome not in METRICS_OUTCOMES:
        raise InvalidInput(
            "The context key metrics_outcome has a value that is not an outcome.",
            remedy=f"Use one of {', '.join(METRICS_OUTCOMES)}.",
            details={"kind": "invalid_metrics_outcome", "allowed": list(METRICS_OUTCOMES)},
        )
    size = len(canonical(delta, "The context"))
    _check_size("context", size, CONTEXT_BYTES_MAX)
    return size


def check_artifact(value: Json) -> bytes:
    """Return the canonical bytes of an artifact, which may be any JSON value."""
    data = canonical(value, "The artifact")
    _check_size("artifact", len(data), ARTIFACT_BYTES_MAX)
    return data


def check_notes(text: str) -> bytes:
    """Return notes as UTF-8. Raises InvalidInput for lone surrogates and beyond the limit."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"The notes hold half a character (a lone surrogate) at position {error.start}.",
            remedy="Send the whole character, or leave it out.",
            details={"kind": "lone_surrogate", "position": error.start},
        ) from error
    _check_size("notes", len(data), NOTES_BYTES_MAX)
    return data


def _is_plain(value: Json, what: str) -> bool:
    """Check every part of a value, without recursion; tell if the fast encoder may write it."""
    plain = True
    stack = [_Place(value=value, depth=1)]
    while stack:
        place = stack.pop()
        match place.value:
            case dict() as members:
                _check_depth(place, what)
                plain = _push_members(members, place, what, stack) and plain
            case list() | tuple() as items:
                _check_depth(place, what)
                _push_items(items, place, stack)
            case _ as scalar:
                if isinstance(scalar, float):
                    plain = False
                _check_scalar(scalar, place, what)
    return plain


def _push_members(members: JsonObject, place: _Place, what: str, stack: list[_Place]) -> bool:
    ascii_keys = True
    for key, member in members.items():
        if not isinstance(key, str):
            _refuse(what, place, "has a key that is no text", "Use texts as keys.", "invalid_key")
        if not key.isascii():
            ascii_keys = False
            if _has_lone_surrogate(key):
                _refuse_surrogate(what, place)
        if _is_fine(member):
            continue
        stack.append(_Place(value=member, depth=place.depth + 1, key=key, parent=place))
    return ascii_keys


def _push_items(items: "list[Json] | tuple[Json, ...]", place: _Place, stack: list[_Place]) -> None:
    for index, item in enumerate(items):
        if _is_fine(item):
            continue
        stack.append(_Place(value=item, depth=place.depth + 1, key=index, parent=place))


def _is_fine(value: Json) -> bool:
    """Tell whether a value needs no closer look; most do not."""
    if isinstance(value, str):
        return value.isascii()
    if isinstance(value, int):
        return -SAFE_INTEGER_MAX <= value <= SAFE_INTEGER_MAX
    return value is None


def _check_depth(place: _Place, what: str) -> None:
    if place.depth > DEPTH_MAX:
        raise InvalidInput(
            f"{what} is nested deeper than {DEPTH_MAX} levels, or contains itself.",
            remedy="Flatten it, or put the deep part into a file and name the file.",
            details={
                "kind": "context_too_deep" if "context" in what.lower() else "too_deep",
                "measured": place.depth,
                "max": DEPTH_MAX,
            },
        )


def _check_scalar(value: object, place: _Place, what: str) -> None:
    match value:
        case None | bool():
            return
        case str():
            if not value.isascii() and _has_lone_surrogate(value):
                _refuse_surrogate(what, place)
        case int():
            if abs(value) > SAFE_INTEGER_MAX:
                _refuse(
                    what,
                    place,
                    "is an integer that other systems would round",
                    f"Send integers beyond {SAFE_INTEGER_MAX} as texts.",
                    "unsafe_integer",
                )
        case float():
            if value - value != 0:  # true of NaN and the infinities alone
                _refuse(
                    what,
                    place,
                    "is not a finite number",
                    "Leave it out, or send null or a text.",
                    "non_finite_number",
                )
        case _:
            _refuse(
                what,
                place,
                f"is a {type(value).__name__}, which JSON does not have",
                "Send objects, arrays, texts, numbers, booleans and null only.",
                "unsupported_value",
            )


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _refuse_surrogate(what: str, place: _Place) -> NoReturn:
    _refuse(
        what,
        place,
        "holds half a character (a lone surrogate)",
        "Send the whole character, or leave it out.",
        "lone_surrogate",
    )


def _refuse(what: str, place: _Place, problem: str, remedy: str, kind: str) -> NoReturn:
    path = place.path().encode("utf-8", "replace").decode()
    where = f"{what} at {path}" if path else what
    raise InvalidInput(f"{where} {problem}.", remedy=remedy, details={"kind": kind, "path": path})


def _refuse_key(key: str) -> NoReturn:
    if key in RESERVED_KEYS:
        raise InvalidInput(
            f"The context key {key} is reserved; the engine sets it itself.",
            remedy=f"Leave {key} out, or use another name for what you want to keep.",
            details={"kind": "reserved_key", "key": key},
        )
    raise InvalidInput(
        f"The context key {key} is forbidden.",
        remedy="Use another name.",
        details={"kind": "forbidden_key", "key": key},
    )


def _check_size(what: str, measured: int, most: int) -> None:
    if measured > most:
        raise InvalidInput(
            f"The {what} takes {measured:,} bytes; at most {most:,} are taken.",
            remedy="Send less, or put the bulk into a file and name the file.",
            details={"kind": f"{what}_budget_exceeded", "measured": measured, "max": most},
        )

"""Making values that fit: a text for a pattern, a JSON value for a schema.

What is made is a first guess for whoever asked; it is held against the real pattern or schema
before it is used, so a guess that is wrong costs a case and never a wrong answer.
"""

from typing import Final

from headway.domain.values import Json, JsonObject

DEPTH_MAX: Final = 8
_CLASSES: Final = {"d": "7", "w": "w", "s": " ", "D": "x", "W": "-", "S": "x", "t": "\t", "n": "\n"}
_NOTHING: Final = frozenset("bBAzZ")


def sample(pattern: str) -> str:
    """Return a text that a plain pattern is likely to match: first alternatives, least counts."""
    return _Pattern(pattern).alternatives()


def instance(schema: Json, depth: int = 0) -> Json:
    """Return a small value that is likely to fit a schema."""
    if not isinstance(schema, dict) or depth > DEPTH_MAX:
        return "x"
    for key in ("const", "default"):
        if key in schema:
            said: Json = schema[key]
            return said
    for key in ("examples", "enum"):
        listed = schema.get(key)
        if isinstance(listed, list | tuple) and listed:
            first: Json = listed[0]
            return first
    for key in ("oneOf", "anyOf", "allOf"):
        parts = schema.get(key)
        if isinstance(parts, list | tuple) and parts and "properties" not in schema:
            return instance(parts[0], depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list | tuple) and kind else kind
    return _of_kind(schema, kind if isinstance(kind, str) else "", depth)


def _of_kind(schema: JsonObject, kind: str, depth: int) -> Json:
    match kind:
        case "string":
            pattern = schema.get("pattern")
            text = sample(pattern) if isinstance(pattern, str) else "x"
            return text.ljust(_whole(schema, "minLength"), "x")
        case "integer" | "number":
            least = schema.get("minimum", schema.get("exclusiveMinimum"))
            return least + 1 if isinstance(least, int | float) else 1
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            count = _whole(schema, "minItems")
            return [instance(schema.get("items"), depth + 1) for _ in range(count)]
        case _:
            return _object(schema, depth)


def _object(schema: JsonObject, depth: int) -> Json:
    members, required = schema.get("properties"), schema.get("required")
    known = members if isinstance(members, dict) else {}
    names = required if isinstance(required, list | tuple) else ()
    return {str(name): instance(known.get(str(name)), depth + 1) for name in names}


def _whole(schema: JsonObject, key: str) -> int:
    value = schema.get(key)
    return int(value) if isinstance(value, int | float) else 0


class _Pattern:
    """A pattern read from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def alternatives(self) -> str:
        """Read alternatives up to the end or a closing bracket; return what fits the first."""
        found = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            found.append(self._sequence())
        return found[0]

    def _sequence(self) -> str:
        parts = []
        while self._peek() not in ("", "|", ")"):
            one = self._one()
            parts.append(one * self._least_count())
        return "".join(parts)

    def _one(self) -> str:
        sign = self._next()
        match sign:
            case "^" | "$":
                return ""
            case ".":
                return "x"
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "\\":
                escaped = self._next()
                return "" if escaped in _NOTHING else _CLASSES.get(escaped, escaped)
            case _:
                return sign

    def _group(self) -> str:
        if self._peek() == "?":
            while self._peek() not in ("", ":", ">", ")"):
                self._at += 1
            self._next()
        inner = self.alternatives()
        self._next()
        return inner

    def _class(self) -> str:
        start = self._at
        inverted = self._peek() == "^"
        self._at += inverted
        first = self._next()
        if first == "\\":
            escaped = self._next()
            first = _CLASSES.get(escaped, escaped)
        while self._peek() not in ("", "]"):
            self._at += 2 if self._peek() == "\\" else 1
        inside = self._text[start : self._at]
        self._next()
        if not inverted:
            return first
        return next((sign for sign in "x7 -_" if sign not in inside), first)

    def _least_count(self) -> int:
        count = 1
        match self._peek():
            case "*" | "?":
                self._next()
                count = 0
            case "+":
                self._next()
            case "{":
                end = self._text.find("}", self._at)
                least = self._text[self._at + 1 : end].partition(",")[0]
                if end < 0 or not least.isdigit():
                    return 1
                self._at, count = end + 1, int(least)
            case _:
                pass
        if self._peek() == "?":
            self._next()
        return count

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        sign = self._peek()
        self._at += 1
        return sign

"""YAML 1.2 (core schema) without its traps.

`no`, `on` and dates stay text, `012` is twelve, `1:30` is text; keys stand once; an alias is
followed while the whole stays small; tags of one's own are refused. Built on the parser's events,
not on its loader, so that depth and size are bounded before anything is built.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

import yaml

from headway.domain.compiler.reporting import shown
from headway.domain.compiler.trouble import Trouble
from headway.domain.diagnostics import Path, Position
from headway.domain.values import Json

NODES_MAX: Final = 100_000  # after aliases are followed

Places: TypeAlias = dict[Path, tuple[Position, Position]]

_START: Final = Position(line=1, column=1)
_CORE: Final = "tag:yaml.org,2002:"
_NULL: Final = re.compile(r"null|Null|NULL|~|")
_BOOLEAN: Final = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DIGITS_MAX: Final = 400
_QUOTE_IT: Final = "Put the text in quotes, or on lines of its own below `key: |`."
# What the parser's most frequent complaints mean to an author, and what to do about each.
_PROBLEMS: Final = {
    "mapping values are not allowed in this context": (
        "a colon and a space stand inside a text, and would make a key of it", _QUOTE_IT,
    ),
    "found character that cannot start any token": (
        "a text begins with a character that YAML keeps for itself (a tab, @, ` or %)", _QUOTE_IT,
    ),
    "did not find expected key": (
        "the line is no key of the object it stands in",
        "Indent it as the keys above it are; a text that begins with a quote ends with one.",
    ),
    "could not find expected ':'": (
        "the line before has neither a colon nor a dash",
        "Write `key: value`, or indent the line further if it continues a text.",
    ),
}  # fmt: skip


def read_yaml(text: str, depth_max: int) -> tuple[Json, Callable[[], Places]]:
    """Return the tree of a YAML text and its places. Raises Trouble."""
    loader = yaml.CSafeLoader(text)
    try:
        reader = _Reader(loader, depth_max)
        tree = reader.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = Position(line=mark.line + 1, column=mark.column + 1) if mark else _START
        raise _not_yaml(position, error.problem or "it cannot be parsed") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _not_yaml(Position(line=line, column=1), error.reason) from None
    except yaml.YAMLError:
        raise _not_yaml(_START, "it cannot be parsed") from None
    finally:
        loader.dispose()
    return tree, lambda: reader.places


class _Reader:
    """Builds values from events, noting places; recursion is bounded by the depth limit."""

    def __init__(self, loader: yaml.CSafeLoader, depth_max: int) -> None:
        self.places: Places = {}
        self._loader = loader
        self._depth_max = depth_max
        self._anchors: dict[str, tuple[Json, int, int] | None] = {}  # value, nodes, depth
        self._nodes = 0

    def document(self) -> Json:
        self._next()  # the stream begins
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        tree, _ = self._value(self._next(), ())
        self._next()  # the document ends
        following = self._next()
        if not isinstance(following, yaml.StreamEndEvent):
            raise _not_yaml(_where(following), "a second document begins")
        return tree

    def _next(self) -> yaml.Event:
        event = self._loader.get_event()
        assert event is not None  # nothing is asked for once the stream has ended
        return event

    def _value(self, event: yaml.Event, path: Path) -> tuple[Json, int]:
        """Return the value an event begins and how deep it nests."""
        position = _where(event)
        self.places.setdefault(path, (position, position))
        self._count(1, position)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor or "", path, position)
        assert isinstance(event, yaml.NodeEvent)
        anchor = event.anchor
        if anchor:
            self._anchors[anchor] = None
        before = self._nodes
        value: Json
        if isinstance(event, yaml.ScalarEvent):
            value, depth = _scalar(event, position), 0
        elif len(path) >= self._depth_max:
            raise _too_deep(position, path, self._depth_max)
        elif isinstance(event, yaml.SequenceStartEvent):
            _check_tag(event.tag, "seq", position)
            value, depth = self._sequence(path)
        else:
            assert isinstance(event, yaml.MappingStartEvent)
            _check_tag(event.tag, "map", position)
            value, depth = self._mapping(path)
        if anchor:
            self._anchors[anchor] = (value, self._nodes - before + 1, depth)
        return value, depth

    def _sequence(self, path: Path) -> tuple[Json, int]:
        values: list[Json] = []
        deepest = 0
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            value, depth = self._value(event, (*path, len(values)))
            values.append(value)
            deepest = max(deepest, depth)
        return values, deepest + 1

    def _mapping(self, path: Path) -> tuple[Json, int]:
        values: dict[str, Json] = {}
        deepest = 0
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event)
            position = _where(event)
            if key in values:
                raise Trouble(
                    "DUPLICATE_KEY", position, f"The key {shown(key)} stands here a second time.",
                    "Keep one of the two.", (*path, key),
                )  # fmt: skip
            following = self._next()
            self.places[*path, key] = (position, _where(following))
            values[key], depth = self._value(following, (*path, key))
            deepest = max(deepest, depth)
        return values, deepest + 1

    def _key(self, event: yaml.Event) -> str:
        position = _where(event)
        value: Json = None
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event, position)
        elif isinstance(event, yaml.AliasEvent):
            value, _ = self._alias(event.anchor or "", (), position)
        if not isinstance(value, str):
            found = event.value if isinstance(event, yaml.ScalarEvent) else "a structure"
            raise Trouble(
                "YAML_KEY", position, f"The key {shown(found)} is not text.",
                "Put the key in quotes.",
            )  # fmt: skip
        if isinstance(event, yaml.ScalarEvent) and event.anchor:
            self._anchors[event.anchor] = (value, 1, 0)
        return value

    def _alias(self, anchor: str, path: Path, position: Position) -> tuple[Json, int]:
        if anchor not in self._anchors:
            raise Trouble(
                "YAML_ALIAS", position, f"The alias *{anchor} has no anchor before it.",
                f"Mark a value above with &{anchor}, or write the value out.", path,
            )  # fmt: skip
        known = self._anchors[anchor]
        if known is None:
            raise Trouble(
                "YAML_ALIAS", position, f"The alias *{anchor} stands inside its own anchor.",
                "Write the value out.", path,
            )  # fmt: skip
        value, nodes, depth = known
        if len(path) + depth > self._depth_max:
            raise _too_deep(position, path, self._depth_max)
        self._count(nodes, position)
        return value, depth

    def _count(self, nodes: int, position: Position) -> None:
        self._nodes += nodes
        if self._nodes > NODES_MAX:
            raise Trouble(
                "YAML_ALIAS", position, f"With its aliases the file has over {NODES_MAX:,} values.",
                "Use fewer aliases.",
            )  # fmt: skip


def _scalar(event: yaml.ScalarEvent, position: Position) -> Json:
    text: str = event.value
    tag: str | None = event.tag
    if tag is None or tag == "!":
        return _plain(text, position) if event.implicit[0] and tag is None else text
    match tag.removeprefix(_CORE):
        case "str":
            return text
        case "null" if _NULL.fullmatch(text):
            return None
        case "bool" if _BOOLEAN.fullmatch(text):
            return text[0] in "tT"
        case "int" if _INTEGER.fullmatch(text):
            return _plain(text, position)
        case "float" if _FLOAT.fullmatch(text):
            return float(text)
        case _:
            raise _bad_tag(tag, position)


def _plain(text: str, position: Position) -> Json:
    """Return what a scalar without quotes and tag means in YAML's core schema."""
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text[0] in "tT"
    if _INTEGER.fullmatch(text):
        if len(text) > _DIGITS_MAX:
            raise Trouble(
                "NUMBER_TOO_LARGE", position, "A number of hundreds of digits stands here.",
                "Write a smaller number, or put it in quotes.",
            )  # fmt: skip
        return int(text, 8 if text[:2] == "0o" else 16) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text


def _check_tag(tag: str | None, wanted: str, position: Position) -> None:
    if tag not in (None, "!", _CORE + wanted):
        raise _bad_tag(str(tag), position)


def _bad_tag(tag: str, position: Position) -> Trouble:
    short = tag.replace(_CORE, "!!")
    return Trouble(
        "YAML_TAG", position, f"The tag {shown(short)} does not fit here.", "Remove the tag."
    )


def _too_deep(position: Position, path: Path, limit: int) -> Trouble:
    return Trouble(
        "TOO_DEEP", position, f"The nesting passes {limit} levels here.",
        "Flatten the structure.", path,
    )  # fmt: skip


def _not_yaml(position: Position, problem: str) -> Trouble:
    otherwise = "Look just before this place for wrong indentation or text that needs quotes."
    told, remedy = _PROBLEMS.get(problem, (problem, otherwise))
    return Trouble(
        "NOT_YAML", position, f"The text stops being YAML here: {told}.", remedy
    )  # fmt: skip


def _where(event: yaml.Event) -> Position:
    mark = event.start_mark
    assert mark is not None  # every event of a text has one
    return Position(line=mark.line + 1, column=mark.column + 1)

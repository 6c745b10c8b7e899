"""Reading a workflow file: bytes to a tree of plain values, or the reasons why not.

Law: what is read has unique keys, finite numbers that keep their digits, whole characters and
bounded depth, so nothing later has to doubt it. The name decides the format: `.yaml` and `.yml` are
YAML 1.2 (core schema), everything else is JSON. A byte order mark is tolerated.

Positions cost a second scan of the text, so they are worked out when the first one is asked for.
"""

import contextlib
import json
import math
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from headway.domain.compiler import json_scan, yaml_reading
from headway.domain.compiler.reporting import Abandoned, Report, kind_of, path_text, shown
from headway.domain.compiler.trouble import Trouble
from headway.domain.diagnostics import Diagnostic, Path, Position
from headway.domain.values import Json, JsonObject

FILE_BYTES_MAX: Final = 1_000_000
DEPTH_MAX: Final = 64
INTEGER_MAX: Final = 2**53 - 1

Places: TypeAlias = dict[Path, tuple[Position, Position]]  # of the key, of the value

_START: Final = Position(line=1, column=1)
_YAML_SUFFIXES: Final = (".yaml", ".yml")
_NAMEABLE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_YAML_ID: Final = re.compile(r"""^id:[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#]+))""", re.MULTILINE)


class Document:
    """A file that could be read: its name, text and root object, and where each part stands."""

    def __init__(
        self, name: str, source: str, root: JsonObject, find_places: Callable[[], Places]
    ) -> None:
        self.name: Final = name
        self.source: Final = source
        self.root: Final = root
        self._find_places = find_places
        self._places: Places | None = None

    def places(self) -> Places:
        """Return where each part stands: its key, its value."""
        if self._places is None:
            self._places = self._find_places()
        return self._places

    def position(self, path: Path, at_key: bool = False) -> Position:  # noqa: FBT001, FBT002 - a place has two ends
        """Return where the value at `path` begins, or its key; of a missing part, its parent's."""
        places = self.places()
        length = next(n for n in range(len(path), -1, -1) if path[:n] in places)
        key, value = places[path[:length]]
        return key if at_key and length == len(path) else value


def is_yaml(name: str) -> bool:
    """Tell whether a file of this name holds YAML."""
    return name.endswith(_YAML_SUFFIXES)


def read_document(text: bytes, name: str) -> Document | tuple[Diagnostic, ...]:
    """Read a file's bytes. The diagnostics, when there are any, are all errors."""
    try:
        source = _decoded(text)
        places: Callable[[], Places]
        if is_yaml(name):
            tree, places = yaml_reading.read_yaml(source, DEPTH_MAX)
        else:
            tree = _json_tree(source)
            places = lambda: json_scan.scan(source).places  # noqa: E731
    except Trouble as problem:
        return _told(name, problem)
    if not isinstance(tree, dict):
        trouble = Trouble(
            "NOT_AN_OBJECT", _START, f"The file holds {kind_of(tree)}.",
            'Put the workflow into one object: { "id": …, "steps": […] }.',
        )  # fmt: skip
        return _told(name, trouble)
    document = Document(name, source, tree, places)
    report = Report(name, document.position)
    with contextlib.suppress(Abandoned):
        _check_values(tree, report)
    return report.diagnostics() or document


def declared_id(text: bytes, name: str) -> str:
    """Return the id a file declares, as far as it can be made out; else the stem of its name."""
    source = text[:FILE_BYTES_MAX].decode("utf-8-sig", errors="replace")
    if is_yaml(name):
        found = _YAML_ID.search(source)
        declared = next(filter(None, found.groups()), "") if found else ""
    else:
        declared = json_scan.root_text(source, "id")
    if _NAMEABLE.fullmatch(declared):
        return declared
    base = name.replace("\\", "/").rpartition("/")[2]
    return base.rpartition(".")[0] or base


def _told(name: str, trouble: Trouble) -> tuple[Diagnostic, ...]:
    report = Report(name, lambda _path, _at_key: trouble.position)
    report.add(trouble.code, trouble.path, trouble.what, trouble.remedy)
    return report.diagnostics()


def _decoded(text: bytes) -> str:
    if len(text) > FILE_BYTES_MAX:
        raise Trouble(
            "FILE_TOO_LARGE", _START, f"The file has {len(text):,} bytes.",
            "Split the work into several workflows, or move long prose to a reference.",
        )  # fmt: skip
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode("utf-8-sig")
        raise Trouble(
            "NOT_UTF8", json_scan.Lines(before).position(len(before)),
            f"Byte {error.start} (0x{text[error.start]:02x}) does not belong to UTF-8 text.",
            "Save the file as UTF-8.",
        ) from None  # fmt: skip


def _json_tree(source: str) -> Json:
    doubled = False

    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        nonlocal doubled
        found = dict(pairs)
        doubled = doubled or len(found) != len(pairs)
        return found

    try:
        tree: Json = json.loads(source, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise Trouble(
            "NOT_JSON", json_scan.Lines(source).position(error.pos),
            f"The text stops being JSON here: {error.msg}.",
            "Look just before this place for a missing quote, comma or brace, a trailing comma or a"
            " comment.",
        ) from None  # fmt: skip
    except RecursionError:
        raise json_scan.too_deep(source, DEPTH_MAX) from None
    except ValueError:  # an integer of thousands of digits
        raise json_scan.long_number(source) from None
    if doubled:
        key, path, position = json_scan.scan(source).doubled[0]
        raise Trouble(
            "DUPLICATE_KEY", position, f"The key {shown(key)} stands here a second time.",
            "Keep one of the two.", path,
        )  # fmt: skip
    return tree


def _check_values(root: Json, report: Report) -> None:
    """Report values that have no faithful canonical form. Walks without recursion."""
    todo: list[tuple[Json, Path]] = [(root, ())]
    while todo:
        value, path = todo.pop()
        if isinstance(value, str):
            _check_text(value, path, report)
        elif isinstance(value, dict | list):
            if len(path) >= DEPTH_MAX:
                report.add(
                    "TOO_DEEP", path, f"The value lies {len(path) + 1} levels deep.",
                    "Flatten the structure.",
                )  # fmt: skip
                continue
            if isinstance(value, dict):
                for key in value:
                    _check_text(key, (*path, key), report, at_key=True)
                todo.extend((each, (*path, key)) for key, each in value.items())
            else:
                todo.extend((each, (*path, index)) for index, each in enumerate(value))
        elif isinstance(value, int | float):
            _check_number(value, path, report)


def _check_text(value: str, path: Path, report: Report, *, at_key: bool = False) -> None:
    found = None if value.isascii() else _SURROGATE.search(value)
    if found:
        report.add(
            "LONE_SURROGATE", path, f"The text holds the lone surrogate \\u{ord(found[0]):04x}.",
            "Write the whole character, or both halves of its pair.", at_key=at_key,
        )  # fmt: skip


def _check_number(value: float, path: Path, report: Report) -> None:
    if not math.isfinite(value):
        report.add(
            "NUMBER_NOT_FINITE", path, f"{path_text(path)} is {value}.",
            "Write a number, or leave the key out.",
        )  # fmt: skip
    elif abs(value) > INTEGER_MAX:
        report.add(
            "NUMBER_TOO_LARGE", path, f"{path_text(path)} is {value}.",
            "Write a smaller number, or text.",
        )  # fmt: skip

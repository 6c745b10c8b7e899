"""Mending a file: the smallest change of its text, so that comments and layout stay.

Law: a change counts only if the text after it reads as exactly the tree that was meant. So nothing
has to be taken on trust about notation: where an edit would mean anything else, it is not made.
"""

import json
import re
from typing import Final

from headway.domain.compiler.reading import Document, is_yaml, read_document
from headway.domain.diagnostics import Mend, Path
from headway.domain.linting.spans import Span, Spans, spans_of
from headway.domain.values import Json
from headway.domain.writing.yaml_writing import yaml_flow

_BLANK: Final = re.compile(r"[ \t]*")
_SPACE: Final = re.compile(r"\s*")
_LINE: Final = re.compile(r"[^\r\n]*")
_DASH: Final = re.compile(r"[ \t]*-[ \t]+")


def mended(document: Document, mend: Mend) -> Document | None:
    """Return the document after a change; None where the change cannot be made safely."""
    spans = spans_of(document)
    edited = _edited(document, mend, spans)
    if edited is None:
        return None
    after = read_document(edited.encode(), document.name)
    meant = _meant(document, mend, spans)
    return after if isinstance(after, Document) and _same(after.root, meant) else None


def _edited(document: Document, mend: Mend, spans: Spans) -> str | None:
    text, span = document.source, spans.get(mend.path)
    if mend.action == "put" and span is None:
        return _with_new_key(document, mend, spans)
    if span is None:
        return None
    match mend.action:
        case "remove":
            return _without(text, mend.path, span, spans)
        case "put":
            return text[: span.value] + _written(document, mend.value) + text[span.end :]
        case "quote":
            return text[: span.value] + json.dumps(text[span.value : span.end]) + text[span.end :]
        case "enlist":
            return f"{text[: span.value]}[{text[span.value : span.end]}]{text[span.end :]}"


def _without(text: str, path: Path, span: Span, spans: Spans) -> str | None:
    if span.flow:
        return _without_between_commas(text, span)
    begins = text.rfind("\n", 0, span.key) + 1
    ends = text.find("\n", span.end)
    ends = len(text) if ends < 0 else ends + 1
    before = text[begins : span.key]
    alone = _BLANK if isinstance(path[-1], str) else _DASH
    if alone.fullmatch(before):
        return text[:begins] + text[ends:]
    # The first key of a list's item shares its line with the dash: the next key moves up to it.
    following = [each.key for other, each in spans.items() if _beside(other, path, each, span)]
    return text[: span.key] + text[min(following) :] if following else None


def _beside(other: Path, path: Path, span: Span, removed: Span) -> bool:
    return len(other) == len(path) and other[:-1] == path[:-1] and span.key > removed.key


def _without_between_commas(text: str, span: Span) -> str:
    after = _end_of(_SPACE, text, span.end)
    if text[after : after + 1] == ",":
        return text[: span.key] + text[_end_of(_SPACE, text, after + 1) :]
    before = text[: span.key].rstrip()
    if before.endswith(","):
        return before[:-1] + text[span.end :]
    return text[: span.key] + text[span.end :]


def _with_new_key(document: Document, mend: Mend, spans: Spans) -> str | None:
    """Return the text with a key added at the root, behind the version, as the keys there stand."""
    beside = spans.get(("version",))
    if len(mend.path) != 1 or beside is None:
        return None
    text, value = document.source, _written(document, mend.value)
    begins = text.rfind("\n", 0, beside.key) + 1
    indent = text[begins : beside.key]
    newline = "\r\n" if text[:begins].endswith("\r\n") else "\n"
    if not beside.flow:
        ends = _end_of(_LINE, text, beside.end)
        return f"{text[:ends]}{newline}{indent}{mend.path[0]}: {value}{text[ends:]}"
    between = newline + indent if _BLANK.fullmatch(indent) and begins else " "
    key = json.dumps(mend.path[0])
    return f"{text[: beside.end]},{between}{key}: {value}{text[beside.end :]}"


def _written(document: Document, value: Json) -> str:
    return yaml_flow(value) if is_yaml(document.name) else json.dumps(value)


def _meant(document: Document, mend: Mend, spans: Spans) -> Json:
    """Return the tree that the change should lead to."""
    span = spans.get(mend.path)
    written = document.source[span.value : span.end] if span else ""
    return _changed(document.root, mend.path, mend, written)


def _changed(value: Json, path: Path, mend: Mend, written: str) -> Json:
    if not path:
        match mend.action:
            case "quote":
                return written
            case "enlist":
                return [value]
            case _:
                return mend.value
    key, rest = path[0], path[1:]
    removes = mend.action == "remove" and not rest
    if isinstance(value, dict):
        kept = {name: each for name, each in value.items() if not (removes and name == key)}
        if not removes:
            kept[str(key)] = _changed(value.get(str(key)), rest, mend, written)
        return kept
    assert isinstance(value, list)
    if removes:
        return [each for index, each in enumerate(value) if index != key]
    return [_changed(e, rest, mend, written) if n == key else e for n, e in enumerate(value)]


def _same(one: Json, other: Json) -> bool:
    """Tell whether two trees are equal, types of numbers and truth values included."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start

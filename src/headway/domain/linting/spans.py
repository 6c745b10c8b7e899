"""Where each part of a workflow file stands in its text, from its first character to its last.

A span covers what a part is written with: the quotes of a text, the braces of an object; in YAML's
block style, from the first key to the end of the last value, without the line break.
"""

import json
import re
from typing import Final, NamedTuple, TypeAlias

import yaml

from headway.domain.compiler.json_scan import scan
from headway.domain.compiler.reading import Document, is_yaml
from headway.domain.diagnostics import Path, Position

_DECODER: Final = json.JSONDecoder()


class Span(NamedTuple):
    """One part of a text, as offsets: its key (or itself), its value, and the end of both.

    `flow` parts stand between brackets or braces, with commas; the others on lines of their own.
    """

    key: int
    value: int
    end: int
    flow: bool


Spans: TypeAlias = dict[Path, Span]


def spans_of(document: Document) -> Spans:
    """Return the spans of a document's parts; those behind a YAML alias are left out."""
    return _yaml(document.source) if is_yaml(document.name) else _json(document.source)


def _json(text: str) -> Spans:
    starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def offset(position: Position) -> int:
        return starts[position.line - 1] + position.column - 1

    spans: Spans = {}
    for path, (key, value) in scan(text).places.items():
        begins = offset(value)
        _, end = _DECODER.raw_decode(text, begins)
        spans[path] = Span(offset(key), begins, end, flow=True)
    return spans


def _yaml(text: str) -> Spans:
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    spans: Spans = {}
    if root is not None:
        _visit(root, (), _Place(root.start_mark.index, flow=False), text, spans)
    return spans


class _Place(NamedTuple):
    key: int
    flow: bool


def _visit(node: yaml.Node, path: Path, place: _Place, text: str, spans: Spans) -> int:
    """Note a node and what is in it; return where its text ends."""
    begins = node.start_mark.index
    flow = place.flow or getattr(node, "flow_style", False)
    end: int = node.end_mark.index
    if isinstance(node, yaml.ScalarNode):
        if node.style in ("|", ">"):
            end = len(text[:end].rstrip())
    elif isinstance(node, yaml.MappingNode):
        ends = [begins]
        for key, value in node.value:
            inner = _Place(key.start_mark.index, flow)
            ends.append(_visit(value, (*path, str(key.value)), inner, text, spans))
            ends.append(key.end_mark.index + 1)  # the colon, where the value is empty
        end = end if flow else max(ends)
    elif isinstance(node, yaml.SequenceNode):
        ends = [begins]
        for index, value in enumerate(node.value):
            inner = _Place(value.start_mark.index, flow)
            ends.append(_visit(value, (*path, index), inner, text, spans))
        end = end if flow else max(ends)
    spans.setdefault(path, Span(place.key, begins, end, place.flow))
    return end

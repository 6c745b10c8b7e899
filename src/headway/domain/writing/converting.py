"""A workflow file in the other format: JSON to YAML, YAML to JSON.

Law: the values are the same, and so is the order of keys; what is written is read back before it is
let out. Comments have no place in JSON: how many are left behind is told. The schema a file names
for editors goes along, as a comment in YAML, as `$schema` in JSON.
"""

import json
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import yaml

from headway.domain.compiler.reading import Document, is_yaml, read_document
from headway.domain.diagnostics import Diagnostic
from headway.domain.values import Json, JsonObject, Value
from headway.domain.writing.editor_line import (
    SCHEMA_KEY,
    editor_line,
    is_comment_for_editors,
    schema_named,
)
from headway.domain.writing.yaml_writing import yaml_text

Format: TypeAlias = Literal["yaml", "json"]
OTHER: Final[dict[Format, Format]] = {"yaml": "json", "json": "yaml"}


class Converted(Value):
    """A file's text in a format, and how many comments did not fit into it."""

    text: str
    comments_lost: int = 0


def format_of(name: str) -> Format:
    """Return the format of a file of this name."""
    return "yaml" if is_yaml(name) else "json"


def converted(document: Document, to: Format) -> Converted | tuple[Diagnostic, ...]:
    """Return a document in a format.

    The diagnostics, when there are any, are those of a text that would not be read as it was meant:
    one that is larger than a workflow file may be.
    """
    root, lost = document.root, 0
    if to == "yaml":
        text = _schema_line(root.get(SCHEMA_KEY)) + yaml_text(root)
    else:
        if is_yaml(document.name):
            root, lost = _with_schema(document), len([*_comments(document.source)])
        text = json.dumps(root, ensure_ascii=False, indent=2) + "\n"
    read = read_document(text.encode(), f"converted.{to}")
    if not isinstance(read, Document):
        return read
    assert json.dumps(read.root) == json.dumps(root), "what is written reads back as it was"
    return Converted(text=text, comments_lost=lost)


def _schema_line(named: Json) -> str:
    fits = isinstance(named, str) and named and named.isprintable() and " " not in named
    return editor_line(str(named)) if fits else ""


def _with_schema(document: Document) -> JsonObject:
    named = schema_named(document.source)
    if not named or SCHEMA_KEY in document.root:
        return document.root
    return {SCHEMA_KEY: named, **document.root}


def _comments(text: str) -> Iterator[str]:
    """Yield the comments of a YAML text, but for the one that names the schema."""
    end = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        assert event.start_mark is not None  # every event of a text has both marks
        assert event.end_mark is not None
        for line in text[end : event.start_mark.index].split("\n"):
            comment = line[line.find("#") :] if "#" in line else ""
            if comment and not is_comment_for_editors(comment):
                yield comment
        end = max(end, event.end_mark.index)

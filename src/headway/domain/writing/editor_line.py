"""The comment by which a YAML file names its schema for editors, as `$schema` does in JSON."""

import re
from typing import Final

SCHEMA_KEY: Final = "$schema"
_LINE: Final = re.compile(
    r"^(?P<before>#[ \t]*yaml-language-server:[ \t]*\$schema=)(?P<named>\S+)", re.MULTILINE
)
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|\\")


def editor_line(schema: str) -> str:
    """Return the line that names a schema."""
    return f"# yaml-language-server: $schema={schema}\n"


def schema_named(text: str) -> str:
    """Return the schema that a YAML text names; empty where it names none."""
    found = _LINE.search(text)
    return found["named"] if found else ""


def with_schema_named(text: str, schema: str) -> str:
    """Return a YAML text with another schema in the place of the one it names."""
    return _LINE.sub(lambda found: found["before"] + schema, text, count=1)


def is_comment_for_editors(line: str) -> bool:
    """Tell whether a comment is the one that names the schema."""
    return bool(_LINE.match(line))


def is_relative(schema: str) -> bool:
    """Tell whether a schema is named by its place beside the file, not by an address."""
    return bool(schema) and not _ADDRESS.match(schema)

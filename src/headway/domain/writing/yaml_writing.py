"""A tree of JSON values as YAML that people like to read and edit.

Law: the text reads back as exactly the tree, types of numbers and every space included. Text of
several lines becomes a literal block, one long line a folded block, a short list or object of plain
words stays on its line; whatever any reader of YAML, old ones too, might take for something else
than text is put in quotes.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from headway.domain.values import Json, JsonObject

COLUMNS_MAX: Final = 96  # lines are folded beyond, and flow collections are not made
KEY_CHARACTERS_MAX: Final = 500  # a longer key is announced with `?`, as YAML demands
_INDENT: Final = "  "

# A word that needs no quotes anywhere; a sentence that needs none on a line of its own.
_WORD: Final = re.compile(r"[A-Za-z_$](?:[A-Za-z0-9_.$/-]*[A-Za-z0-9_$])?")
_SENTENCE: Final = re.compile(r"[^\W\d](?:[^\x00-\x1f\x7f-\x9f:#\s]|[ ](?=[^ #])|[:#](?=[^\s:#]))*")
_VERSION: Final = re.compile(r"[0-9]+(?:\.[0-9]+){2}")
_NO_WORD: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# What may stand in a block as it is; readers of YAML 1.1 break lines at U+2028 and U+2029.
_BLOCK_LINE: Final = re.compile(
    "[\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
)
_TO_ESCAPE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def yaml_text(root: JsonObject) -> str:
    """Return an object as a YAML document in block style, the items of its lists of steps apart."""
    if not root:
        return "{}\n"
    return "\n".join(_spaced(_mapping(root, ""))) + "\n"


def _spaced(lines: Iterator[str]) -> Iterator[str]:
    """Set an empty line before each key of the root that opens a block, and between steps."""
    steps, before = False, ""
    for line in lines:
        at_root = line[:1] not in (" ", "?", ":", "")
        opens = at_root and line.endswith(":")
        follows = steps and line.startswith("  - ") and before != "steps:"
        if (opens and before) or follows:
            yield ""
        if at_root:
            steps = line == "steps:"
        yield line
        before = line


def yaml_flow(value: Json) -> str:
    """Return a value on one line, for a place among others that stand there already."""
    flow = _flow(value)
    return json.dumps(value) if flow is None else flow


def _mapping(value: JsonObject, indent: str) -> Iterator[str]:
    for key, each in value.items():
        written = _word(key)
        if len(written) > KEY_CHARACTERS_MAX:
            yield f"{indent}? {written}"
            yield from _behind(f"{indent}:", each, indent)
        else:
            yield from _behind(f"{indent}{written}:", each, indent)


def _sequence(values: list[Json], indent: str) -> Iterator[str]:
    for each in values:
        lines = _nested(each, indent + _INDENT) if _is_block(each, len(indent)) else None
        if lines is None:
            yield from _scalar_lines(f"{indent}-", each, indent)
        else:
            yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
            yield from lines


def _behind(head: str, value: Json, indent: str) -> Iterator[str]:
    """Yield the lines of a value behind its key."""
    if _is_block(value, len(head)):
        yield head
        yield from _nested(value, indent + _INDENT)
    else:
        yield from _scalar_lines(head, value, indent)


def _is_block(value: Json, columns: int) -> bool:
    flow = _flow(value)
    return isinstance(value, dict | list) and (flow is None or columns + len(flow) > COLUMNS_MAX)


def _nested(value: Json, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        return _mapping(value, indent)
    assert isinstance(value, list)
    return _sequence(value, indent)


def _flow(value: Json) -> str | None:
    """Return a value on one line, if it is plain enough to be read there."""
    match value:
        case str():
            return _word(value) if len(value) < COLUMNS_MAX else None
        case dict():
            if any(isinstance(each, dict) and each for each in value.values()):
                return None
            parts = [(_word(key), _flow(each)) for key, each in value.items()]
            if any(each is None for _, each in parts):
                return None
            return "{" + ", ".join(f"{key}: {each}" for key, each in parts) + "}"
        case list():
            if not all(_is_short(each) for each in value):
                return None
            return "[" + ", ".join(str(_flow(each)) for each in value) + "]"
        case _:
            return json.dumps(value)


def _is_short(value: Json) -> bool:
    if isinstance(value, str):
        return len(value) < COLUMNS_MAX and bool(_WORD.fullmatch(value))
    return not isinstance(value, dict | list)


def _scalar_lines(head: str, value: Json, indent: str) -> Iterator[str]:
    """Yield the lines of a value that is no block of its own, behind its key or dash."""
    if not isinstance(value, str):
        yield f"{head} {_flow(value)}"
        return
    lines = value.split("\n")
    if len(lines) > 1 and _fits_literal(lines):
        yield f"{head} |{_marks(lines)}"
        kept = lines[:-1] if not lines[-1] else lines
        yield from (f"{indent}{_INDENT}{line}" if line else "" for line in kept)
    elif len(head) + len(value) > COLUMNS_MAX and _fits_folded(value):
        yield f"{head} >-"
        yield from _folded(value, indent + _INDENT)
    else:
        yield f"{head} {_sentence(value)}"


def _fits_literal(lines: list[str]) -> bool:
    """Tell whether lines keep every character as a literal block."""
    some = [line for line in lines if line]
    return (
        bool(some)
        and not any(line.isspace() or line[0] == "\t" for line in some)
        and all(_BLOCK_LINE.fullmatch(line) for line in some)
        and lines[-2:] != ["", ""]  # it ends with one line break at most
    )


def _marks(lines: list[str]) -> str:
    """Return what a block's bar needs: how deep it stands, whether its last line is ended."""
    first = next(line for line in lines if line)
    return ("2" if first[0] == " " else "") + ("" if not lines[-1] else "-")


def _fits_folded(value: str) -> bool:
    return (
        bool(_BLOCK_LINE.fullmatch(value))
        and not re.search(r"\t|  |^ | $", value)
        and value[0] != "\xa0"
    )


def _folded(value: str, indent: str) -> Iterator[str]:
    line = ""
    for word in value.split(" "):
        if line and len(indent) + len(line) + 1 + len(word) > COLUMNS_MAX:
            yield indent + line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield indent + line


def _sentence(value: str) -> str:
    """Return a text of one line, without quotes where nothing could mistake it."""
    plain = _SENTENCE.fullmatch(value) and _BLOCK_LINE.fullmatch(value)
    return value if plain and value.lower() not in _NO_WORD else _word(value)


def _word(value: str) -> str:
    """Return a text for a key or a flow collection."""
    plain = _WORD.fullmatch(value) or _VERSION.fullmatch(value)
    return value if plain and value.lower() not in _NO_WORD else _quoted(value)


def _quoted(value: str) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return _TO_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)

"""The records of the language, walked from the outermost in."""

from collections.abc import Iterator
from typing import assert_never

from headway.domain.compiler.kinds import (
    AnyRecord,
    Anything,
    Chosen,
    Either,
    Flag,
    Kind,
    ListOf,
    MapOf,
    Number,
    Primitive,
    Record,
    Text,
)  # fmt: skip


def records_of(kind: Kind) -> tuple[Record, ...]:
    """Return every record that a kind holds, itself included, each once, in order of meeting."""
    found: dict[str, Record] = {}
    todo = [kind]
    while todo:
        each = todo.pop(0)
        if isinstance(each, Record):
            if each.name in found:
                continue
            found[each.name] = each
        todo = [*_inside(each), *todo]
    return tuple(found.values())


def choices_of(kind: Chosen) -> tuple[Kind, ...]:
    """Return the kinds that are chosen from."""
    named = [kind.choose({kind.key: name}) for name in kind.known or ("",)]
    return tuple(each for each in (kind.choose({}), *named) if each is not None)


def _inside(kind: Kind) -> Iterator[Kind]:
    match kind:
        case Record():
            yield from kind.required.values()
            yield from kind.optional.values()
        case ListOf():
            yield kind.item
        case MapOf():
            yield kind.value
        case Either():
            yield from kind.kinds
        case Chosen():
            yield from choices_of(kind)
        case Text() | Number() | Flag() | Anything() | AnyRecord() | Primitive():
            pass
        case _:
            assert_never(kind)

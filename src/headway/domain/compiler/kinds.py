"""What a value in a workflow file may be, as values: the words the grammar is written in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from re import Pattern
from typing import TypeAlias

from headway.domain.values import JsonObject


@dataclass(frozen=True, slots=True)
class Text:
    """Text of limited length (in code points), of a form or from a closed set."""

    least: int = 0
    most: int | None = None
    form: "Form | None" = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A pattern the whole text must match, and how to say so."""

    pattern: Pattern[str]
    words: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a closed range."""

    least: float | None = None
    most: float | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value."""


@dataclass(frozen=True, slots=True)
class AnyRecord:
    """An object whose inside is read by a module of its own; `holds` says what is in it."""

    holds: str


@dataclass(frozen=True, slots=True)
class Primitive:
    """Text, a number or a boolean."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one kind. `id_key` names the key by which its items are told apart."""

    item: "Kind"
    least: int = 0
    most: int | None = None
    unique: bool = False
    id_key: str = ""


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with free keys and values of one kind."""

    value: "Kind"


@dataclass(frozen=True, slots=True)
class Record:
    """An object with known keys. `elsewhere` says where a key belongs that authors put here."""

    name: str
    required: Mapping[str, "Kind"]
    optional: Mapping[str, "Kind"] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Either:
    """One of several kinds, told apart by the JSON type of the value."""

    kinds: tuple["Kind", ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of several records, told apart by the text under a key; None when it names none."""

    key: str
    known: tuple[str, ...]
    choose: Callable[[JsonObject], "Kind | None"]
    code: str = "UNKNOWN_VALUE"


Kind: TypeAlias = (
    Text | Number | Flag | Anything | AnyRecord | Primitive
    | ListOf | MapOf | Record | Either | Chosen
)  # fmt: skip

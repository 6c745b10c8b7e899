"""Holding a tree against the grammar: every problem of shape, each reported once.

A step's kind is chosen by its `type` before its keys are looked at, so one wrong key is
one problem.
"""

from collections.abc import Mapping, Sequence
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
from headway.domain.compiler.reporting import Report, did_you_mean, kind_of, listed, nearest, shown
from headway.domain.diagnostics import MendAction, Path
from headway.domain.values import Json, JsonObject


def check(kind: Kind, value: Json, path: Path, report: Report) -> None:
    """Report where a value is not of its kind, at any depth."""
    if not _fits(kind, value):
        report.add(
            "WRONG_TYPE", path, f"{_name(path)} is {kind_of(value)}: {shown(value)}.",
            _retyped(kind, value), why=f"Here belongs {_wanted(kind)}.", mend=_mend(kind, value),
        )  # fmt: skip
        return
    match kind:
        case Text():
            _check_text(kind, _as_text(value), path, report)
        case Number():
            _check_number(kind, value, path, report)
        case ListOf():
            _check_list(kind, _as_list(value), path, report)
        case Either():
            check(next(each for each in kind.kinds if _fits(each, value)), value, path, report)
        case MapOf() | Record() | Chosen():
            _check_object(kind, _as_record(value), path, report)
        case Flag() | Anything() | AnyRecord() | Primitive():
            pass
        case _:
            assert_never(kind)


def _fits(kind: Kind, value: Json) -> bool:
    """Tell whether a value has the JSON type of a kind."""
    match kind:
        case Text():
            return isinstance(value, str)
        case Number():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case Flag():
            return isinstance(value, bool)
        case Anything():
            return True
        case Primitive():
            return isinstance(value, str | int | float)
        case ListOf():
            return isinstance(value, list)
        case MapOf() | Record() | AnyRecord() | Chosen():
            return isinstance(value, dict)
        case Either():
            return any(_fits(each, value) for each in kind.kinds)
        case _:
            assert_never(kind)


def _wanted(kind: Kind) -> str:
    match kind:
        case Text():
            return "text"
        case Number():
            return "a number"
        case Flag():
            return "true or false"
        case Anything():
            return "any value"
        case Primitive():
            return "text, a number or a boolean"
        case ListOf():
            return "a list"
        case MapOf() | Record() | AnyRecord() | Chosen():
            return "an object"
        case Either():
            return " or ".join(_wanted(each) for each in kind.kinds)
        case _:
            assert_never(kind)


def _wanted_form(kind: Kind) -> str:
    return kind.form.words if isinstance(kind, Text) and kind.form else _wanted(kind)


def _retyped(kind: Kind, value: Json) -> str:
    if isinstance(kind, Text) and isinstance(value, bool | int | float):
        if kind.form and not kind.form.pattern.fullmatch(shown(value)):
            return f"Write {kind.form.words}."
        return f'Put it in quotes: "{shown(value)}".'
    if isinstance(kind, ListOf) and isinstance(value, str | dict):
        return "Put it in brackets: […]."
    if value is None:
        return "Give it a value, or remove the key."
    return f"Write {_wanted(kind)}."


def _mend(kind: Kind, value: Json) -> MendAction | None:
    """Return the change of notation that gives a scalar the type the author must have meant."""
    if isinstance(kind, Text) and isinstance(value, bool | int | float):
        fits = kind.form is None or kind.form.pattern.fullmatch(shown(value))
        return "quote" if fits else None
    if isinstance(kind, ListOf) and isinstance(kind.item, Text) and isinstance(value, str):
        return "enlist"
    return None


def _check_text(kind: Text, value: str, path: Path, report: Report) -> None:
    if kind.choices:
        if value not in kind.choices:
            choices = f"Choose one of {listed(kind.choices)}."
            report.add(
                "UNKNOWN_VALUE", path, f"{_name(path)} is {shown(value)}.",
                did_you_mean(value, kind.choices, choices),
                why=f"It is one of {listed(kind.choices)}.",
            )  # fmt: skip
    elif len(value) < kind.least:
        report.add(
            "TOO_SHORT", path, f"{_name(path)} has {len(value)} characters: {shown(value)}.",
            "Write more, or remove the key." if kind.least == 1 else "Write more.",
            why=f"It has at least {kind.least}.",
        )  # fmt: skip
    elif kind.most is not None and len(value) > kind.most:
        report.add(
            "TOO_LONG", path, f"{_name(path)} has {len(value):,} characters: {shown(value)}.",
            f"Shorten it by {len(value) - kind.most:,}.", why=f"It has at most {kind.most:,}.",
        )  # fmt: skip
    elif kind.form and not kind.form.pattern.fullmatch(value):
        report.add(
            "BAD_FORMAT", path, f"{_name(path)} is {shown(value)}.", "Write it in that form.",
            why=f"Its form is {kind.form.words}.",
        )  # fmt: skip


def _check_number(kind: Number, value: Json, path: Path, report: Report) -> None:
    assert isinstance(value, int | float)
    too_small = kind.least is not None and value < kind.least
    too_large = kind.most is not None and value > kind.most
    fraction = kind.whole and value != int(value)
    if too_small or too_large or fraction:
        least = "" if kind.least is None else f" from {kind.least:g}"
        most = "" if kind.most is None else f" to {kind.most:g}"
        report.add(
            "OUT_OF_RANGE", path, f"{_name(path)} is {shown(value)}.",
            "Write a whole number." if fraction else "Write a number in that range.",
            why=f"It is a {'whole ' if kind.whole else ''}number{least}{most}.",
        )  # fmt: skip


def _check_list(kind: ListOf, values: Sequence[Json], path: Path, report: Report) -> None:
    if len(values) < kind.least:
        report.add(
            "TOO_FEW_ITEMS", path, f"{_name(path)} has {len(values)} items.",
            "Add what is missing.", why=f"It has at least {kind.least}.",
        )  # fmt: skip
    elif kind.most is not None and len(values) > kind.most:
        report.add(
            "TOO_MANY_ITEMS", path, f"{_name(path)} has {len(values)} items.",
            f"Remove {len(values) - kind.most}.", why=f"It has at most {kind.most}.",
        )  # fmt: skip
    for index, each in enumerate(values):
        check(kind.item, each, (*path, index), report)
    if kind.id_key:
        _check_ids(kind.id_key, values, path, report)
    elif kind.unique:
        _check_unique(values, path, report)


def _check_ids(key: str, values: Sequence[Json], path: Path, report: Report) -> None:
    seen: dict[str, int] = {}
    for index, each in enumerate(values):
        name = each.get(key) if isinstance(each, dict) else None
        if isinstance(name, str) and seen.setdefault(name, index) != index:
            report.add(
                "DUPLICATE_ID", (*path, index, key),
                f"{shown(name)} is already the {key} of item {seen[name]} of {_name(path)}.",
                "Give one of the two another name.",
            )  # fmt: skip


def _check_unique(values: Sequence[Json], path: Path, report: Report) -> None:
    seen: dict[str, int] = {}
    for index, each in enumerate(values):
        if isinstance(each, str) and seen.setdefault(each, index) != index:
            report.add(
                "NOT_UNIQUE", (*path, index),
                f"{shown(each)} already stands at item {seen[each]} of {_name(path)}.",
                "Remove one of the two.", mend="remove",
            )  # fmt: skip


def _check_object(
    kind: MapOf | Record | Chosen, node: JsonObject, path: Path, report: Report
) -> None:
    match kind:
        case MapOf():
            for key, each in node.items():
                check(kind.value, each, (*path, key), report)
        case Record():
            _check_record(kind, node, path, report)
        case Chosen():
            _check_chosen(kind, node, path, report)
        case _:
            assert_never(kind)


def _check_record(kind: Record, node: JsonObject, path: Path, report: Report) -> None:
    required, optional = kind.required, kind.optional
    misspelt = misspelt_keys(kind, node)
    for key, value in node.items():
        known = required.get(key) or optional.get(key)
        if known:
            check(known, value, (*path, key), report)
        elif key in kind.elsewhere:
            report.add(
                "MISPLACED_KEY", (*path, key), f"A {kind.name} has no {shown(key)}.",
                kind.elsewhere[key], at_key=True,
            )  # fmt: skip
        else:
            meant = misspelt.get(key)
            report.add(
                "UNKNOWN_KEY", (*path, key), f"A {kind.name} has no key {shown(key)}.",
                f"Did you mean {shown(meant)}?" if meant
                else f"Remove it; the keys are {_keys(kind)}.",
                at_key=True,
            )  # fmt: skip
    for key in required:
        if key not in node and key not in misspelt.values():
            report.add(
                "MISSING_KEY", (*path, key), f"The {kind.name} has no {shown(key)}.",
                f"Add {shown(key)}: {_wanted_form(required[key])}.",
                why=f"A {kind.name} needs {listed(required)}.",
            )  # fmt: skip


def misspelt_keys(kind: Record, node: JsonObject) -> dict[str, str]:
    """Return the unknown keys of an object that are likely meant as another, and as which."""
    names = [each for each in (*kind.required, *kind.optional) if each not in node]
    unknown = [key for key in node if key not in kind.required and key not in kind.optional]
    meant = {key: nearest(key, names) for key in unknown if key not in kind.elsewhere}
    return {key: name for key, name in meant.items() if name}


def _check_chosen(kind: Chosen, node: JsonObject, path: Path, report: Report) -> None:
    chosen = kind.choose(node)
    if chosen:
        check(chosen, node, path, report)
    elif kind.key not in node:
        report.add(
            "MISSING_KEY", (*path, kind.key), f"The object has no {shown(kind.key)}.",
            f"Add {shown(kind.key)}: one of {listed(kind.known)}.",
        )  # fmt: skip
    else:
        value = node[kind.key]
        otherwise = f"Choose one of {listed(kind.known)}."
        report.add(
            kind.code, (*path, kind.key), f"{_name((*path, kind.key))} is {shown(value)}.",
            did_you_mean(value, kind.known, otherwise) if isinstance(value, str) else otherwise,
        )  # fmt: skip


def _keys(kind: Record) -> str:
    return listed((*kind.required, *kind.optional))


def _name(path: Path) -> str:
    """Return how a message names a value: its key, or its place in the list around it."""
    last = path[-1]
    return last if isinstance(last, str) else f"Item {last} of {_name(path[:-1])}"


def _as_text(value: Json) -> str:
    assert isinstance(value, str)
    return value


def _as_list(value: Json) -> Sequence[Json]:
    assert isinstance(value, list)
    return value


def _as_record(value: Json) -> JsonObject:
    assert isinstance(value, Mapping)
    return value

"""The reference pages of the workflow language, written from the tables the compiler reads by.

`python -m tests.support.language_reference` writes them anew; a test holds them to the tables.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

from headway.domain.compiler.conditions import JOINTS, OPERATORS
from headway.domain.compiler.criteria import NEEDED
from headway.domain.compiler.grammar import RULE, WORKFLOW
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
from headway.domain.compiler.library import FEATURES, REFS
from headway.domain.compiler.meanings import MEANINGS, OPERATOR_MEANINGS, RULE_MEANINGS
from headway.domain.compiler.records import choices_of, records_of
from headway.domain.contracts.builtin import BUILTIN
from headway.domain.values import Json
from headway.domain.writing.yaml_writing import yaml_flow, yaml_text

FIELDS = """\
# Every field of a workflow file

`make reference` writes this page from the tables that the compiler reads by. An editor shows the
same where a file names the schema: [how](../howto/complete-in-an-editor.md). Keys that are not
listed are refused. Lengths count characters.
"""
CONDITIONS = """\
# Conditions, and rules for the notes

`make reference` writes this page from the compiler's tables.

## Conditions

A condition looks at one key of the context, or joins others with `and`, `or` (lists) or `not`
(one). `{var: KEY}` by itself asks whether the key is set to something other than false, 0 and the
empty text. Dots in a key mean nothing.
"""
BETWEEN = """
Of several operators beside one `var` the first in this table counts; of {joints} beside each
other, the first in this order.

Equality is lenient: texts are compared trimmed and without case, a text equals the number or truth
value it spells, and lists and objects equal nothing. Order is for numbers alone: a text that spells
one never matches. A key that is not set equals `null`, and is the empty text to `contains`,
`startsWith`, `endsWith` and `matches`, which look without case.

## Rules for the notes

`validationCriteria` holds one rule, a list of which all must be kept, or rules joined by `and`,
`or`, `not`.
"""
CONTRACTS = """\
# The contracts that are built in

`make reference` writes this page from the contracts themselves. A step names one in
`outputContract: {contractRef: ...}` and stays open until an artifact of its kind satisfies it;
agents get the guidance and the example with the step. How to declare one of your own is told in
[a recipe](../howto/demand-data-of-a-form.md).
"""
TEXTS = """\
# Texts that come with the engine, and what is put into texts

`make reference` writes this page. The ids are part of the language; the wording is not.

## Refs

A part `{kind: ref, refId: ID}` of a prompt block stands for a text.
"""
VARIABLES = """\
## Variables

| written | where | becomes |
|---|---|---|
| `{{name}}`, `{{a.b}}` | titles, prompts, fragments | the context's value when shown, else a mark |
| `{name}` | titles and prompts of a routine | the argument of the `templateCall` |
| `{{wr.bindings.slot}}` | prompts | what the project binds the slot to, else its default |"""
FOLDER = Path(__file__).parents[2] / "docs" / "reference"
# Where what is read by a module of its own is explained.
ELSEWHERE = {
    "condition": "[condition](conditions.md)",
    "criteria": "[criteria](conditions.md#rules-for-the-notes)",
    "schema": "JSON Schema (draft-07 or 2020-12)",
}
OPERATOR_EXAMPLES: dict[str, Json] = {
    "equals": "large", "not_equals": "small", "gt": 3, "gte": 3, "lt": 3, "lte": 3,
    "contains": "api", "startsWith": "feat", "endsWith": "-wip", "matches": "^v[0-9]+$",
    "in": ["medium", "large"],
}  # fmt: skip


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    return {
        "workflow-fields.md": _page(_fields()),
        "conditions.md": _page(_conditions()),
        "contracts.md": _page(_contracts()),
        "texts.md": _page(_texts()),
    }


def _page(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"


def _fields() -> Iterator[str]:
    yield FIELDS
    for record in records_of(WORKFLOW):
        yield from _record(record)


def _record(record: Record) -> Iterator[str]:
    yield f"## {record.name}\n\n| key | | what it holds | what for |\n|---|---|---|---|"
    for needed, keys in (("required", record.required), ("", record.optional)):
        for key, kind in keys.items():
            yield f"| `{key}` | {needed} | {_words(kind)} | {_cell(MEANINGS[record.name][key])} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _words(kind: Kind) -> str:  # noqa: C901, PLR0911 - one case a kind, like `checking`
    """Return what a kind is, in the words of a table's cell."""
    match kind:
        case Text():
            return _text(kind)
        case Number():
            noun = "whole number" if kind.whole else "number"
            return noun + _bounds(kind.least, kind.most)
        case Flag():
            return "true or false"
        case Anything():
            return "any value"
        case Primitive():
            return "text, number, true or false"
        case AnyRecord():
            return ELSEWHERE[kind.holds]
        case ListOf():
            each = "each once" if kind.unique else ""
            size = _bounds(kind.least or None, kind.most).strip()
            extra = ", ".join(part for part in (size, each) if part)
            return f"list: {_words(kind.item)}{f' ({extra})' if extra else ''}"
        case MapOf():
            return f"object of free keys: {_words(kind.value)}"
        case Record():
            return f"[{kind.name}](#{kind.name.replace(' ', '-')})"
        case Either():
            return " or ".join(dict.fromkeys(map(_words, kind.kinds)))
        case Chosen():
            return " or ".join(dict.fromkeys(map(_words, choices_of(kind))))
        case _:
            assert_never(kind)


def _text(kind: Text) -> str:
    if kind.choices:
        return ", ".join(f"`{choice}`" for choice in kind.choices)
    if kind.form and kind.form.words[0].isdigit():  # the words say how long
        return kind.form.words
    bounds = _bounds(kind.least or None, kind.most, "").strip()
    return (kind.form.words if kind.form else "text") + (f" ({bounds})" if bounds else "")


def _bounds(least: float | None, most: float | None, before: str = " of ") -> str:
    match least, most:
        case None, None:
            return ""
        case _, None:
            return f"{before}at least {least:,}"
        case None, _:
            return f"{before}at most {most:,}"
        case _:
            return f"{before}{least:,} to {most:,}"


def _conditions() -> Iterator[str]:
    yield CONDITIONS
    yield "| operator | with | holds when | example |\n|---|---|---|---|"
    for operator, kind in OPERATORS.items():
        example = _flow({"var": "x", operator: OPERATOR_EXAMPLES[operator]})
        yield f"| `{operator}` | {_words(kind)} | {OPERATOR_MEANINGS[operator]} | `{example}` |"
    yield BETWEEN.format(joints=", ".join(f"`{joint}`" for joint in JOINTS))
    yield "| type | kept when | needs |\n|---|---|---|"
    for rule, needed in NEEDED.items():
        yield f"| `{rule}` | {RULE_MEANINGS[rule]} | {' or '.join(f'`{key}`' for key in needed)} |"
    yield ""
    yield from _record(RULE)


def _flow(value: dict[str, Json]) -> str:
    return yaml_flow(value)


def _contracts() -> Iterator[str]:
    yield CONTRACTS
    for contract in BUILTIN:
        yield f"## {contract.ref}\n\nKind: `{contract.kind}`. {contract.guidance}\n"
        yield f"```yaml\n{yaml_text(contract.example)}```\n"
        schema = json.dumps(contract.schema, indent=2)
        yield f"<details><summary>JSON Schema</summary>\n\n```json\n{schema}\n```\n\n</details>\n"


def _texts() -> Iterator[str]:
    yield TEXTS
    yield "| id | the text |\n|---|---|"
    for name, text in REFS.items():
        yield f"| `{name}` | {_cell(text)} |"
    yield "\n## Features\n\nA feature adds lines to every step that is made of prompt blocks.\n"
    for name, feature in FEATURES.items():
        yield f"### {name}\n"
        for section in ("constraints", "procedure", "verify"):
            lines = getattr(feature, section)
            yield from (f"- {section}: {line}" for line in lines)
        yield ""
    yield VARIABLES


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")

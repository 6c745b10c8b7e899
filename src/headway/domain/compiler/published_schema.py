"""The grammar as JSON Schema, for editors: completion, and red lines while a file is written.

Law: nothing is said here that `grammar`, `conditions` or `criteria` does not say; the tables are
translated, never copied. What tables cannot say (references between parts, unique ids, regular
expressions) the schema leaves to the compiler, so a file that compiles always satisfies it.

Draft-07, because it is the dialect that editors for JSON and YAML have in common.
"""

from typing import Final, TypeAlias, assert_never

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
from headway.domain.compiler.meanings import MEANINGS
from headway.domain.values import Json

DIALECT: Final = "http://json-schema.org/draft-07/schema#"

Schema: TypeAlias = dict[str, Json]


def workflow_schema() -> Schema:
    """Return the JSON Schema of a workflow file."""
    writer = _Writer()
    root = writer.record(WORKFLOW)
    title: Schema = {"$schema": DIALECT, "title": "Headway workflow"}
    return title | root | {"definitions": dict(sorted(writer.definitions.items()))}


class _Writer:
    """Translates kinds; each named record becomes one definition, however often it is met."""

    def __init__(self) -> None:
        self.definitions: dict[str, Json] = {}
        self._named: dict[str, Kind] = {}

    def schema(self, kind: Kind) -> Schema:  # noqa: C901, PLR0911 - one case a kind, like `checking`
        match kind:
            case Text():
                return _text(kind)
            case Number():
                return _number(kind)
            case Flag():
                return {"type": "boolean"}
            case Anything():
                return {}
            case Primitive():
                return {"type": ["string", "number", "boolean"]}
            case ListOf():
                return self._list(kind)
            case MapOf():
                return {"type": "object", "additionalProperties": self.schema(kind.value)}
            case Either():
                return {"anyOf": [self.schema(each) for each in kind.kinds]}
            case Record():
                return self._definition(kind.name, kind)
            case AnyRecord():
                return self._definition(kind.holds, kind)
            case Chosen():
                return self._chosen(kind)
            case _:
                assert_never(kind)

    def record(self, kind: Record) -> Schema:
        """Return the schema of a record, in place."""
        meanings = MEANINGS.get(kind.name, {})
        properties: Schema = {}
        for key, each in {**kind.required, **kind.optional}.items():
            schema = self.schema(each)
            # Draft-07 looks at nothing beside a $ref, so the words go around it.
            schema = {"allOf": [schema]} if "$ref" in schema else schema
            meaning: Schema = {"description": meanings[key]} if key in meanings else {}
            properties[key] = meaning | schema
        return {
            "type": "object",
            "required": list(kind.required),
            "properties": properties,
            "additionalProperties": False,
        }

    def _definition(self, words: str, kind: Record | AnyRecord) -> Schema:
        name = words.replace(" ", "-")
        known = self._named.setdefault(name, kind)
        assert known == kind, f"two kinds are called {words}"
        if name not in self.definitions:
            self.definitions[name] = {}  # met again on the way down: the language is recursive
            self.definitions[name] = (
                self.record(kind) if isinstance(kind, Record) else self._inside(kind.holds)
            )
        return {"$ref": f"#/definitions/{name}"}

    def _inside(self, holds: str) -> Schema:
        match holds:
            case "condition":
                return self._condition()
            case "criteria":
                return self._criteria()
            case _:
                return {"type": "object"}

    def _list(self, kind: ListOf) -> Schema:
        schema: Schema = {"type": "array", "items": self.schema(kind.item)}
        if kind.least:
            schema["minItems"] = kind.least
        if kind.most is not None:
            schema["maxItems"] = kind.most
        if kind.unique:
            schema["uniqueItems"] = True
        return schema

    def _chosen(self, kind: Chosen) -> Schema:
        absent = kind.choose({})
        otherwise: Schema = self.schema(absent) if absent else {"required": [kind.key]}
        return {
            "type": "object",
            "if": {"required": [kind.key]},
            "then": self._named_choice(kind),
            "else": otherwise,
        }

    def _named_choice(self, kind: Chosen) -> Schema:
        if not kind.known:
            only = kind.choose({kind.key: ""})
            assert only is not None
            return self.schema(only)
        cases: list[Json] = []
        for name in kind.known:
            chosen = kind.choose({kind.key: name})
            assert chosen is not None
            named: Schema = {"properties": {kind.key: {"const": name}}}
            cases.append({"if": named, "then": self.schema(chosen)})
        return {"properties": {kind.key: {"enum": list(kind.known)}}, "allOf": cases}

    def _condition(self) -> Schema:
        itself: Schema = {"$ref": "#/definitions/condition"}
        several: Schema = {"type": "array", "items": itself}
        keys: Schema = {"var": {"type": "string", "minLength": 1}}
        keys |= {operator: self.schema(kind) for operator, kind in OPERATORS.items()}
        keys |= {joint: itself if joint == "not" else several for joint in JOINTS}
        forms: list[Json] = [{"maxProperties": 0}]
        forms += [{"required": [key]} for key in ("var", *JOINTS)]
        return {
            "type": "object", "properties": keys, "additionalProperties": False, "anyOf": forms,
        }  # fmt: skip

    def _criteria(self) -> Schema:
        itself: Schema = {"$ref": "#/definitions/criteria"}
        several: Schema = {"type": "array", "items": itself, "minItems": 1}
        rule = self.schema(RULE)
        complete: list[Json] = [
            {
                "if": {"properties": {"type": {"const": kind}}},
                "then": {"anyOf": [{"required": [key]} for key in needed]},
            }
            for kind, needed in NEEDED.items()
        ]
        joined: list[Json] = [
            {
                "type": "object",
                "required": [joint],
                "properties": {joint: itself if joint == "not" else several},
                "additionalProperties": False,
            }
            for joint in JOINTS
        ]
        return {"anyOf": [{"allOf": [rule, *complete]}, *joined]}


def _text(kind: Text) -> Schema:
    schema: Schema = {"type": "string"}
    if kind.choices:
        return schema | {"enum": list(kind.choices)}
    if kind.least:
        schema["minLength"] = kind.least
    if kind.most is not None:
        schema["maxLength"] = kind.most
    if kind.form:
        schema["pattern"] = f"^(?:{kind.form.pattern.pattern})$"
    return schema


def _number(kind: Number) -> Schema:
    schema: Schema = {"type": "integer" if kind.whole else "number"}
    if kind.least is not None:
        schema["minimum"] = kind.least
    if kind.most is not None:
        schema["maximum"] = kind.most
    return schema

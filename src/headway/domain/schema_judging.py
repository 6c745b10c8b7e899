"""JSON Schema over artifacts and notes: every problem as a sentence with the path to it.

Draft 7 unless a schema names 2019-09 or later. Patterns are matched in linear time (`patterns.py`)
and nothing is ever fetched: a reference leads to a place inside the schema or is refused.
Validators are made once per schema and kept.
"""

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Protocol, TypeAlias

import jsonschema
import msgspec
import referencing
import referencing.exceptions
import referencing.jsonschema
from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend

from headway.domain.coercions import json_text
from headway.domain.patterns import PatternProblem, compile_pattern, search
from headway.domain.texts import cut_text
from headway.domain.values import Json, JsonObject

ISSUES_MAX: Final = 100
VALIDATORS_CACHED_MAX: Final = 256
_REASON_BYTES_MAX: Final = 400

_Errors: TypeAlias = Iterator[ValidationError]


class _Validator(Protocol):
    """What the library's validators offer of which use is made here."""

    def iter_errors(self, instance: Json) -> _Errors: ...

    def descend(
        self,
        instance: Json,
        schema: bool | JsonObject,  # noqa: FBT001  # as the library has it
        path: str | int | None = None,
        schema_path: str | None = None,
    ) -> _Errors: ...


_ENCODER: Final = msgspec.json.Encoder(order="sorted")


def schema_issues(schema: JsonObject, value: Json) -> tuple[str, ...]:
    """Return what is wrong with a value under a schema, one sentence each.

    The schema must be free of `schema_problems`.
    """
    validator = _validator(_ENCODER.encode(schema))
    try:
        errors = list(itertools.islice(validator.iter_errors(value), ISSUES_MAX))
    except RecursionError:
        return ("The value cannot be checked: the schema leads back to itself without end.",)
    except referencing.exceptions.Unresolvable as error:
        return (
            f"The value cannot be checked: the schema refers to {error.ref}, which is not there.",
        )
    errors.sort(key=lambda error: [str(part) for part in error.absolute_path])
    return tuple(dict.fromkeys(_sentence(error) for error in errors))


def schema_problems(schema: Json) -> tuple[str, ...]:
    """Return why an author's schema cannot be used, one sentence each; nothing when it can."""
    if not isinstance(schema, dict):
        return ("A schema must be an object.",)
    problems = []
    try:
        # The formats of the metaschema would judge patterns by Python's rules; ours come below.
        _dialect(schema).check_schema(schema, format_checker=FormatChecker(()))
    except jsonschema.SchemaError as error:
        where = _path(error)
        problems.append(
            f"The schema is not valid{' at ' + where if where else ''}: {_said(error)}."
        )
    for part in _objects(schema):
        problems += _part_problems(part, schema)
    return tuple(dict.fromkeys(problems))


def _part_problems(part: JsonObject, schema: JsonObject) -> Iterator[str]:
    own = part.get("patternProperties")
    patterns = list(own) if isinstance(own, dict) else []
    if isinstance(pattern := part.get("pattern"), str):
        patterns.append(pattern)
    for pattern in patterns:
        compiled = compile_pattern(pattern, "u")
        if isinstance(compiled, PatternProblem):
            yield f'The pattern "{pattern}" cannot be used. {compiled.what} {compiled.remedy}'
    if "unevaluatedProperties" in part:
        yield "unevaluatedProperties is not supported; use additionalProperties."
    ref = part.get("$ref")
    if not isinstance(ref, str):
        return
    if not ref.startswith("#"):
        yield f'The schema refers to "{ref}"; only references inside it (#/...) are followed.'
        return
    try:
        _registry(schema).resolver("").lookup(ref)
    except (referencing.exceptions.Unresolvable, ValueError):
        yield f'The schema refers to "{ref}", which is not in it.'


def _objects(schema: JsonObject) -> Iterator[JsonObject]:
    """Yield every object of a schema, the schema itself first."""
    stack: list[Json] = [schema]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
            # What stands under these is data, not schema.
            stack += [
                v for k, v in part.items() if k not in {"const", "enum", "default", "examples"}
            ]
        elif isinstance(part, list):
            stack += part


@lru_cache(maxsize=VALIDATORS_CACHED_MAX)
def _validator(encoded: bytes) -> _Validator:
    schema: JsonObject = msgspec.json.decode(encoded)
    return _dialect(schema)(schema, registry=_registry(schema))


def _registry(schema: JsonObject) -> "referencing.Registry[bool | JsonObject]":
    later = _dialect(schema) is _Later
    names = referencing.jsonschema
    resource = (names.DRAFT202012 if later else names.DRAFT7).create_resource(schema)
    # A registry of ours has no means to fetch what is not in it.
    registry: referencing.Registry[bool | JsonObject] = referencing.Registry().with_resource(
        "", resource
    )
    return registry


def _dialect(schema: JsonObject) -> "type[Draft7Validator]":
    named = schema.get("$schema")
    later = isinstance(named, str) and ("2019-09" in named or "2020-12" in named)
    return _Later if later else _Draft7


def _found(pattern: str, text: str) -> bool:
    compiled = compile_pattern(pattern, "u")
    return not isinstance(compiled, PatternProblem) and search(compiled, text)


def _check_pattern(_: _Validator, pattern: str, value: Json, _schema: JsonObject) -> _Errors:
    if isinstance(value, str) and not _found(pattern, value):
        yield ValidationError(f"must match the pattern {pattern}")


def _check_pattern_properties(
    validator: _Validator, patterns: JsonObject, value: Json, _schema: JsonObject
) -> _Errors:
    if not isinstance(value, dict):
        return
    for pattern, subschema in patterns.items():
        if not isinstance(subschema, bool | dict):
            continue
        for key, member in value.items():
            if _found(pattern, key):
                yield from validator.descend(member, subschema, path=key, schema_path=pattern)


def _check_additional(
    validator: _Validator, allowed: Json, value: Json, schema: JsonObject
) -> _Errors:
    if not isinstance(value, dict):
        return
    known, patterns = schema.get("properties"), schema.get("patternProperties")
    named = known if isinstance(known, dict) else {}
    matched = patterns if isinstance(patterns, dict) else {}
    for key, member in value.items():
        if key in named or any(_found(pattern, key) for pattern in matched):
            continue
        if isinstance(allowed, dict):
            yield from validator.descend(member, allowed, path=key)
        elif allowed is False:
            yield ValidationError(f"has the key {json_text(key)}, which is not allowed")


def _check_required(
    _: _Validator, required: "list[str]", value: Json, _schema: JsonObject
) -> _Errors:
    if not isinstance(value, dict):
        return
    for key in required:
        if key not in value:
            yield ValidationError(f"lacks the required key {json_text(key)}")


_KEYWORDS: Final = {
    "pattern": _check_pattern,
    "patternProperties": _check_pattern_properties,
    "additionalProperties": _check_additional,
    "required": _check_required,
}
_Draft7: Final[type[Draft7Validator]] = extend(  # type: ignore[no-untyped-call]  # no stub
    Draft7Validator, _KEYWORDS
)
_Later: Final[type[Draft7Validator]] = extend(  # type: ignore[no-untyped-call]  # no stub
    Draft202012Validator, _KEYWORDS
)

_DEMANDS: Final = {
    "type": "must be of type {}",
    "enum": "must be one of {}",
    "const": "must be {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} entries",
    "maxItems": "must have at most {} entries",
    "minProperties": "must have at least {} keys",
    "maxProperties": "must have at most {} keys",
    "minimum": "must be at least {}",
    "exclusiveMinimum": "must be more than {}",
    "maximum": "must be at most {}",
    "exclusiveMaximum": "must be less than {}",
    "uniqueItems": "must not repeat an entry",
}


def _sentence(error: ValidationError) -> str:
    return f"{_path(error) or 'The value'} {_said(error)}."


def _path(error: "ValidationError | jsonschema.SchemaError") -> str:
    text = ""
    for part in error.absolute_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _said(error: "ValidationError | jsonschema.SchemaError") -> str:
    """Return what is wrong as the rest of a sentence, without repeating large values."""
    keyword = str(error.validator)
    if error.validator in _KEYWORDS:
        return error.message
    if keyword in {"anyOf", "oneOf"} and error.context:
        inner = "; or ".join(dict.fromkeys(_said(each) for each in error.context))
        return cut_text(inner, _REASON_BYTES_MAX)
    demand = _DEMANDS.get(keyword, f"does not satisfy {keyword} {{}}")
    return demand.format(_shown(keyword, error.validator_value))


def _shown(keyword: str, wanted: object) -> str:
    if isinstance(wanted, list) and keyword in {"enum", "type"}:
        text = ", ".join(each if keyword == "type" else json_text(each) for each in wanted)
    elif isinstance(wanted, str) and keyword == "type":
        text = wanted
    elif wanted is None or isinstance(wanted, bool | int | float | str | list | dict):
        text = json_text(wanted)
    else:
        text = ""
    return cut_text(text, _REASON_BYTES_MAX)

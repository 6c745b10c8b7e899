"""What a request says, read strictly: JSON that means one thing, and no field that means none."""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import msgspec
from starlette.requests import Request

from headway.application.requests import Json
from headway.web.refusals import BAD_REQUEST, NOT_JSON, TOO_LARGE, Refused, refused

T = TypeVar("T", bound=msgspec.Struct)

BODY_BYTES_MAX: Final = 256 * 1024
SHOWN_MAX: Final = 60
_UNKNOWN: Final = re.compile(r"unknown field `(.*?)`(?: - at `\$\.?(.*)`)?$", re.DOTALL)
_NOT_JSON_MESSAGE: Final = "The body is no JSON that means one thing"


async def read_body(request: Request, kind: type[T]) -> T:
    """Return the body as a struct; none at all counts as an object without fields.

    Raises Refused for another media type, a body that is too long, JSON with duplicate keys, lone
    surrogates or numbers that are none, unknown fields, and values of the wrong type.
    """
    data = await _bytes(request)
    named = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if (data or named) and named != "application/json":
        raise refused(
            NOT_JSON,
            "MEDIA_TYPE_UNSUPPORTED",
            "The content-type is not application/json.",
            "Send the request with content-type: application/json.",
        )
    return converted(_parsed(data) if data else {}, kind)


def read_query(request: Request, kind: type[T]) -> T:
    """Return the query as a struct. Raises Refused as `read_body`, also for a name given twice."""
    pairs = request.query_params.multi_items()
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _invalid(f"{twice[:SHOWN_MAX]!r} is given twice", "Give each name once.")
    return converted(dict(pairs), kind, strict=False)


def converted(value: Json, kind: type[T], *, strict: bool = True) -> T:
    """Return a value as a struct. Raises Refused with the nearest names to one that is unknown."""
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        unknown = _UNKNOWN.search(str(error))
        if unknown is None:
            raise _invalid(str(error), "docs/reference/http-runs.md has the fields.") from error
        name, known = unknown[1][:SHOWN_MAX], sorted(_names(kind))
        near = difflib.get_close_matches(name, known, n=2)
        meant = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(known)}."
        where = f" in {unknown[2]}" if unknown[2] else ""
        raise _invalid(f"{name!r} is not known here{where}", meant, near) from error


async def _bytes(request: Request) -> bytes:
    parts: list[bytes] = []
    length = 0
    async for part in request.stream():
        length += len(part)
        if length > BODY_BYTES_MAX:
            raise refused(
                TOO_LARGE,
                "BODY_TOO_LARGE",
                f"The body is longer than {BODY_BYTES_MAX // 1024} KiB.",
                "Put long material into a file of the workspace, and name the file.",
            )
        parts.append(part)
    return b"".join(parts)


def _parsed(data: bytes) -> Json:
    try:
        value: Json = json.loads(data, object_pairs_hook=_once, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is no text
    except (ValueError, RecursionError) as error:
        raise _invalid(f"{_NOT_JSON_MESSAGE} ({error})", "Send one JSON object.") from error
    return value


def _once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands there twice")
    return members


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no number of JSON")


def _names(kind: type[msgspec.Struct]) -> Iterable[str]:
    for field in msgspec.structs.fields(kind):
        yield field.encode_name
        for inner in getattr(field.type, "__args__", (field.type,)):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                yield from _names(inner)


def _invalid(what: str, remedy: str, near: Sequence[str] = ()) -> Refused:
    refusal = refused(BAD_REQUEST, "VALIDATION_ERROR", f"{what}.", remedy)
    details = refusal.body["details"]
    assert isinstance(details, dict)
    refusal.body["details"] = {**details, "didYouMean": list(near)}
    return refusal

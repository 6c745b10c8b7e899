"""Diagnostics as SARIF 2.1.0, the form in which code hosts and editors take findings in."""

from pathlib import Path, PurePath
from typing import Final
from urllib.parse import quote

from headway import __version__
from headway.application.lint_workflows import Linted
from headway.domain.diagnostics import Diagnostic, Severity
from headway.domain.linting.page import help_text
from headway.domain.linting.registry import ALL_CODES, Known
from headway.domain.values import Json, JsonObject

VERSION: Final = "2.1.0"
SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "note"}


def sarif_log(linted: Linted, relative_to: str) -> JsonObject:
    """Return a log of one run; files below the folder `relative_to` are named relative to it.

    Every code is described, met or not, so that a host can show what was looked for.
    """
    indices = {known.code: index for index, known in enumerate(ALL_CODES)}
    driver: JsonObject = {
        "name": "headway",
        "version": __version__,
        "rules": [_rule(known) for known in ALL_CODES],
    }
    results = [_result(each, indices[each.code], relative_to) for each in linted.diagnostics]
    run: JsonObject = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"uri": file_uri(relative_to) + "/"}},
        "results": results,
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def file_uri(path: str) -> str:
    """Return the URI of an absolute path."""
    return Path(path).as_uri()


def _rule(known: Known) -> JsonObject:
    rule: dict[str, Json] = {
        "id": known.code,
        "fullDescription": {"text": known.why},
        "help": {"text": help_text(known)},
        "defaultConfiguration": {"level": _LEVELS[known.severity]},
    }
    if known.title:
        rule["shortDescription"] = {"text": f"{known.title}."}
    return rule


def _result(diagnostic: Diagnostic, index: int, relative_to: str) -> JsonObject:
    location: JsonObject = {
        "physicalLocation": {
            "artifactLocation": _artifact(diagnostic.file, relative_to),
            "region": {"startLine": diagnostic.line, "startColumn": diagnostic.column},
        },
    }
    told = f"{diagnostic.what} {diagnostic.why} {diagnostic.remedy}"
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": told},
        "locations": [location],
    }


def _artifact(file: str, relative_to: str) -> JsonObject:
    path = PurePath(file)
    if path.is_relative_to(relative_to):
        relative = path.relative_to(relative_to).as_posix()
        return {"uri": quote(relative), "uriBaseId": "ROOT"}
    return {"uri": file_uri(file)}

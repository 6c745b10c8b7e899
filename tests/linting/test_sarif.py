"""The SARIF log holds to the standard, as far as a log of this kind uses it.

The schema here is written from the standard (OASIS SARIF 2.1.0, sections 3.13 to 3.52): the objects
a log of ours holds, closed, so that a misspelt property is found.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema

from headway.application.lint_workflows import Linted
from headway.cli.sarif import sarif_log
from headway.domain.diagnostics import Diagnostic
from headway.domain.linting.registry import ALL_CODES
from headway.domain.values import Json
from tests.linting.linted import linted, read

CASES = Path(__file__).parent / "cases"


def closed(*required: str, **properties: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


TEXT: Json = {"type": "string", "minLength": 1}
COUNT: Json = {"type": "integer", "minimum": 1}
LEVEL: Json = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = closed("text", text=TEXT)
RULE = closed(
    "id",
    id=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=closed("text", text=TEXT, markdown=TEXT),
    defaultConfiguration=closed(level=LEVEL),
)
ARTIFACT = closed("uri", uri={"type": "string", "format": "uri-reference"}, uriBaseId=TEXT)
LOCATION = closed(
    physicalLocation=closed(
        "artifactLocation",
        artifactLocation=ARTIFACT,
        region=closed("startLine", startLine=COUNT, startColumn=COUNT),
    )
)
RESULT = closed(
    "message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "minItems": 1, "items": LOCATION},
)
DRIVER = closed(
    "name",
    name=TEXT,
    version=TEXT,
    rules={"type": "array", "uniqueItems": True, "items": RULE},
)
RUN = closed(
    "tool",
    tool=closed("driver", driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    originalUriBaseIds={
        "type": "object",
        "additionalProperties": closed(
            uri={"type": "string", "pattern": "^[a-z][a-z0-9+.-]*:.*/$"}  # ends with a slash
        ),
    },
    results={"type": "array", "items": RESULT},
)
LOG_PROPERTIES: dict[str, Json] = {
    "$schema": {"type": "string", "format": "uri"},
    "version": {"const": "2.1.0"},
    "runs": {"type": "array", "items": RUN},
}
LOG = closed("version", "runs", **LOG_PROPERTIES)


def log_of_all_cases(relative_to: Path) -> dict[str, Any]:
    found: list[Diagnostic] = []
    for path in sorted(CASES.glob("*/fail.yaml")):
        found += linted(read(path.read_text("utf-8"), str(path)))
    log = sarif_log(Linted(files=(), diagnostics=tuple(found)), str(relative_to))
    read_back: dict[str, Any] = json.loads(json.dumps(log))
    return read_back


def test_a_log_of_every_rule_is_valid_and_every_result_has_its_rule_and_region() -> None:
    log = log_of_all_cases(CASES)
    jsonschema.Draft7Validator(LOG).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [known.code for known in ALL_CODES]
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert result["level"] == rule["defaultConfiguration"]["level"]
        assert rule["help"]["text"].endswith((".", ")."))


def test_files_are_named_relative_to_the_folder_and_others_by_their_uri() -> None:
    (run,) = log_of_all_cases(CASES)["runs"]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"].endswith("/fail.yaml")
    base = run["originalUriBaseIds"][artifact["uriBaseId"]]["uri"]
    assert base == CASES.as_uri() + "/"
    (elsewhere,) = log_of_all_cases(CASES / "else" / "where")["runs"]
    artifact = elsewhere["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"].startswith("file://")
    assert "uriBaseId" not in artifact

"""A tireless agent: reads a compiled step and hands in what passes it, whatever it demands."""

import re
from random import Random
from typing import Final

from headway.domain.contracts.judging import contract_for
from headway.domain.contracts.loop_control import LOOP_CONTROL_REF
from headway.domain.criteria import judge_notes
from headway.domain.json_limits import canonical
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import (
    Assessment,
    Criteria,
    EveryRule,
    NoRule,
    Rule,
    SomeRule,
    Step,
    Workflow,
)

PLAIN: Final = "Did what the step asks and found nothing else to tell."
_SAMPLES: Final = {r"\d+": "7", r"\d": "7", r"\s+": " ", r"\w+": "word", ".*": "", ".+": "x"}
_VALUES: Final[dict[str, Json]] = {
    "string": "x",
    "number": 1,
    "integer": 1,
    "boolean": True,
    "array": [],
    "null": None,
}


def passing_notes(step: Step, variables: JsonObject) -> str:
    """Return notes that the step's criteria let pass; the test fails where none are found."""
    if step.criteria is None:
        return PLAIN
    rules = _rules(step.criteria)
    words = [rule.value or "" for rule in rules if rule.type == "contains"]
    samples = [_sample(rule.pattern or "") for rule in rules if rule.type == "regex"]
    least = max((int(rule.min or 0) for rule in rules if rule.type == "length"), default=0)
    text = " ".join([*words, PLAIN])
    candidates = [
        *(canonical(instance(rule.schema or {}), "A test").decode() for rule in rules),
        *("\n".join([*samples, each]).ljust(least, ".") for each in (text, " ".join(words))),
        PLAIN,
    ]
    passing = (each for each in candidates if judge_notes(step.criteria, each, variables).valid)
    found = next(passing, None)
    assert found is not None, f"no notes pass the criteria of {step.id}"
    return found


def passing_artifacts(workflow: Workflow, step: Step, word: str, chance: Random) -> list[Json]:
    """Return artifacts that satisfy the step's contract and assessments and call for no more."""
    calling = {each.level for each in step.consequences}
    made: list[Json] = [
        assessment(each, calling, chance)
        for each in workflow.assessments
        if each.id in step.assessment_refs
    ]
    if step.output_contract is not None:
        contract = contract_for(step.output_contract.ref, workflow.contracts)
        assert contract is not None
        if contract.ref == LOOP_CONTROL_REF:
            made.append({"kind": contract.kind, "decision": word})
        else:
            made.append(contract.example)
    chance.shuffle(made)
    return made


def assessment(defined: Assessment, avoided: set[str], chance: Random) -> Json:
    """Return an assessment of levels that are none of those to be avoided."""
    dimensions: dict[str, Json] = {}
    for dimension in defined.dimensions:
        level = chance.choice([each for each in dimension.levels if each not in avoided])
        dimensions[dimension.id] = (
            {"level": f" {level.upper()} "} if chance.random() < 0.3 else level
        )
    return {"kind": "wr.assessment", "assessmentId": defined.id, "dimensions": dimensions}


def instance(schema: JsonObject) -> Json:
    """Return a small value that fits a plain schema: a type, and the members it requires."""
    kind, members, required = (schema.get(key) for key in ("type", "properties", "required"))
    if kind != "object" and isinstance(kind, str):
        return _VALUES[kind]
    known = members if isinstance(members, dict) else {}
    names = required if isinstance(required, list) else []
    return {
        str(name): instance(part if isinstance(part := known.get(str(name)), dict) else {})
        for name in names
    }


def _rules(criteria: Criteria) -> list[Rule]:
    """Return the rules that are to hold; what must not hold is left out."""
    match criteria:
        case Rule():
            return [criteria]
        case EveryRule(parts=parts):
            return [rule for part in parts for rule in _rules(part)]
        case SomeRule(parts=parts):
            return _rules(parts[0]) if parts else []
        case NoRule():
            return []


def _sample(pattern: str) -> str:
    """Return a text that a plain pattern matches."""
    text = pattern.strip("^$")
    for written, meant in _SAMPLES.items():
        text = text.replace(written, meant)
    return re.sub(r"\\(.)", r"\1", text)

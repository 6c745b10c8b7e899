"""What a step must come back with, told before the work starts.

Artifact, assessments, notes and checks: each rule the engine holds an attempt to, in few words.
"""

import json
from collections.abc import Iterator
from typing import Final

from headway.domain.contracts.builtin import BUILTIN_REFS
from headway.domain.contracts.contract import Contract
from headway.domain.contracts.judging import contract_for
from headway.domain.texts import cut_text
from headway.domain.workflow import (
    Assessment,
    Check,
    Consequence,
    OutputContract,
    Step,
    UserContract,
    Workflow,
)

SCHEMA_BYTES_MAX: Final = 4_096

_NOTES_LONG: Final = (
    "Notes are required: send them as Markdown in `output.notesMarkdown`. They are the memory of"
    " this session; whoever takes it up later, perhaps you without this conversation, has nothing"
    " else."
    " Say what you did, what you decided and why, what you found (exact names, paths, figures), and"
    " what is still open or uncertain."
)
_NOTES_SHORT: Final = "Notes are required: what you did, decided and found, and what is still open."
_CHECKS: Final = (
    "Before you may leave this step the engine itself runs these in the workspace, and each must"
    " pass (exit code 0):"
)


def render_contract(contract: OutputContract | None, own: tuple[UserContract, ...]) -> str:
    """Return which artifact to hand in and an example of it, "" without an output contract."""
    if contract is None:
        return ""
    rules = contract_for(contract.ref, own)
    assert rules is not None, "the compiler refuses unknown contracts"
    demand = (
        f"Required: one artifact of kind `{rules.kind}` in `output.artifacts`."
        if contract.required
        else f"If you have it, hand in one artifact of kind `{rules.kind}` in `output.artifacts`."
    )
    parts = [demand, rules.guidance.strip(), _schema(rules), _contract_example(rules)]
    return "\n".join(part for part in parts if part)


def render_assessments(workflow: Workflow, step: Step) -> str:
    """Return which judgements to hand in and what follows on which level, "" without any."""
    asked = [each for each in workflow.assessments if each.id in step.assessment_refs]
    if not asked:
        return ""
    # A step with an output contract is held to that alone, as recorded.
    verb = "If you can, hand in" if step.output_contract else "Required:"
    each = "one artifact" if len(asked) == 1 else "one artifact for each of these assessments,"
    lines = [f"{verb} {each} of kind `wr.assessment` in `output.artifacts`."]
    for assessment in asked:
        lines += _assessment(assessment)
    lines += [f"Example: {_compact(_example(asked[0]))}"]
    lines += [_consequence(consequence) for consequence in step.consequences]
    return "\n".join(lines)


def render_notes(step: Step, *, at_length: bool) -> str:
    """Return that notes are required and what they are for, "" where they are not."""
    if step.notes_optional or step.output_contract is not None:
        return ""
    return _NOTES_LONG if at_length else _NOTES_SHORT


def render_checks(checks: tuple[Check, ...]) -> str:
    """Return the commands the engine will run itself, "" without any."""
    if not checks:
        return ""
    lines = [_CHECKS]
    for check in checks:
        lines.append(f"- {check.id}: `{check.run}` (at most {check.timeout_seconds} s)")
        if check.protect:
            lines.append(f"  Do not change: {', '.join(check.protect)}")
    return "\n".join(lines)


def _schema(rules: Contract) -> str:
    """Return the schema of an author's own contract; the guidance of a built-in one says it all."""
    if rules.ref in BUILTIN_REFS:
        return ""
    return f"It must satisfy this JSON Schema: {cut_text(_compact(rules.schema), SCHEMA_BYTES_MAX)}"


def _contract_example(rules: Contract) -> str:
    """Return the example, unless there is none beyond the kind, which may well be refused."""
    return "" if rules.example == {"kind": rules.kind} else f"Example: {_compact(rules.example)}"


def _assessment(assessment: Assessment) -> Iterator[str]:
    yield f"Assessment `{assessment.id}`: {assessment.purpose}"
    for dimension in assessment.dimensions:
        optional = "" if dimension.required else ", optional"
        levels = " | ".join(dimension.levels)
        yield f"- `{dimension.id}` ({levels}{optional}): {dimension.purpose}"


def _example(assessment: Assessment) -> dict[str, object]:
    return {
        "kind": "wr.assessment",
        "assessmentId": assessment.id,
        "dimensions": {
            dimension.id: {"level": dimension.levels[0], "rationale": "why this level"}
            for dimension in assessment.dimensions
        },
    }


def _consequence(consequence: Consequence) -> str:
    where = f" of `{consequence.assessment}`" if consequence.assessment else ""
    return (
        f"When a dimension{where} comes out as `{consequence.level}`, the step stays open for this:"
        f" {consequence.guidance}"
    )


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

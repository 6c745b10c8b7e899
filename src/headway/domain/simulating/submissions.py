"""What an agent hands in at a step: something that passes, and something for each way to fail."""

from collections.abc import Iterator

from headway.domain.contracts.contract import Contract, Satisfied
from headway.domain.contracts.judging import contract_for, judge_contract
from headway.domain.contracts.loop_control import LOOP_CONTROL_REF
from headway.domain.criteria import judge_notes
from headway.domain.json_limits import canonical
from headway.domain.outputs import Submission
from headway.domain.simulating.samples import instance, sample
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import (
    Assessment,
    Consequence,
    Criteria,
    EveryRule,
    NoRule,
    Rule,
    SomeRule,
    Step,
    Workflow,
)

PLAIN = "Did what the step asks and found nothing else to tell."


def passing(workflow: Workflow, step: Step, variables: JsonObject, word: str) -> Submission | None:
    """Return what passes the step, a loop decision being `word`; None when none was found."""
    notes = passing_notes(step, variables)
    artifacts = _artifacts(workflow, step, word)
    if notes is None or artifacts is None:
        return None
    return Submission(notes=notes, artifacts=artifacts)


def passing_notes(step: Step, variables: JsonObject) -> str | None:
    """Return notes that the step's criteria let pass; None when none was found."""
    criteria = step.criteria
    if criteria is None:
        return PLAIN
    return next(
        (n for n in _candidates(criteria) if judge_notes(criteria, n, variables).valid), None
    )


def failing_notes(step: Step, variables: JsonObject) -> str | None:
    """Return notes that the step's criteria refuse; None when none was found."""
    criteria = step.criteria
    if criteria is None:
        return None
    banned = " ".join(
        sample(r.pattern or "") + (r.value or "") for r in _rules(criteria, outcome=False)
    )
    tried = ("x", f"{PLAIN} {banned}", PLAIN * 400, *_candidates(criteria))
    return next((n for n in tried if not judge_notes(criteria, n, variables).valid), None)


def wrong_artifact(workflow: Workflow, step: Step) -> Json:
    """Return an artifact of the right kind that the step's contract refuses, None if any passes."""
    contract = contract_of(workflow, step)
    if contract is None:
        return None
    tried: tuple[Json, ...] = (
        {"kind": contract.kind},
        {"kind": contract.kind, "decision": "perhaps"},
        {**dict.fromkeys(contract.example, None), "kind": contract.kind},
    )
    refused = (e for e in tried if not isinstance(judge_contract(contract, (e,)), Satisfied))
    return next(refused, None)


def assessed(
    workflow: Workflow, step: Step, consequence: Consequence | None = None
) -> tuple[Json, ...] | None:
    """Return the assessments a step asks for: with a level that fires `consequence`, or none does.

    None when every level of some dimension has a consequence, or the one wanted has no dimension.
    """
    made: list[Json] = []
    fired = consequence is None
    for each in _asked(workflow, step):
        levels: dict[str, Json] = {}
        for dimension in each.dimensions:
            calling = {c.level for c in step.consequences if c.assessment in (None, each.id)}
            calm = [level for level in dimension.levels if level not in calling]
            if not fired and _concerns(consequence, each, dimension.levels):
                assert consequence is not None
                levels[dimension.id], fired = consequence.level, True
            elif calm:
                levels[dimension.id] = calm[0]
            elif dimension.required:
                return None
        made.append({"kind": "wr.assessment", "assessmentId": each.id, "dimensions": levels})
    return tuple(made) if fired else None


def contract_of(workflow: Workflow, step: Step) -> Contract | None:
    """Return the contract of a step's output, if it has one."""
    wanted = step.output_contract
    return None if wanted is None else contract_for(wanted.ref, workflow.contracts)


def _artifacts(workflow: Workflow, step: Step, word: str) -> tuple[Json, ...] | None:
    made = assessed(workflow, step)
    contract = contract_of(workflow, step)
    if made is None or contract is None:
        return made
    if contract.ref == LOOP_CONTROL_REF:
        return (*made, {"kind": contract.kind, "decision": word})
    guess = instance(contract.schema)
    tried: list[Json] = [contract.example]
    if isinstance(guess, dict):
        tried.append({**guess, "kind": contract.kind})
    for each in tried:
        if isinstance(judge_contract(contract, (each,)), Satisfied):
            return (*made, each)
    return None


def _asked(workflow: Workflow, step: Step) -> Iterator[Assessment]:
    return (each for each in workflow.assessments if each.id in step.assessment_refs)


def _concerns(consequence: Consequence | None, each: Assessment, levels: tuple[str, ...]) -> bool:
    assert consequence is not None
    return consequence.assessment in (None, each.id) and consequence.level in levels


def _candidates(criteria: Criteria) -> Iterator[str]:
    rules = list(_rules(criteria, outcome=True))
    words = [rule.value or "" for rule in rules if rule.type == "contains"]
    samples = [sample(rule.pattern or "") for rule in rules if rule.type == "regex"]
    least = max((int(rule.min or 0) for rule in rules if rule.type == "length"), default=0)
    for rule in rules:
        if rule.type == "schema":
            yield canonical(instance(rule.schema or {}), "The notes").decode()
    for parts in ([*samples, *words, PLAIN], [*samples, *words], [PLAIN], ["x"]):
        yield "\n".join(parts).ljust(least, ".")
        yield " ".join(parts).ljust(least, ".")


def _rules(criteria: Criteria, *, outcome: bool) -> Iterator[Rule]:
    """Yield the rules that are to hold, or with `outcome` false those that must not."""
    match criteria:
        case Rule():
            if outcome:
                yield criteria
        case EveryRule(parts=parts):
            for part in parts:
                yield from _rules(part, outcome=outcome)
        case SomeRule(parts=parts):
            for part in parts[:1]:
                yield from _rules(part, outcome=outcome)
        case NoRule(part=part):
            yield from _rules(part, outcome=not outcome)

"""Finding the contract a step names, and judging what was handed in by it."""

from typing import Final

from headway.domain.contracts.builtin import BUILTIN
from headway.domain.contracts.contract import Contract, Invalid, Missing, Satisfied
from headway.domain.json_schema import schema_issues
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import UserContract

KINDS_SHOWN_MAX: Final = 10
_BY_REF: Final = {contract.ref: contract for contract in BUILTIN}


def contract_for(ref: str, user_contracts: tuple[UserContract, ...]) -> Contract | None:
    """Return the contract of a ref, a built-in one before the workflow's own; None if unknown."""
    builtin = _BY_REF.get(ref)
    if builtin is not None:
        return builtin
    own = next((each for each in user_contracts if each.id == ref), None)
    if own is None:
        return None
    return Contract(
        ref=own.id,
        kind=own.kind,
        schema=own.schema,
        example=_example(own),
        guidance=own.guidance,
    )


def judge_contract(
    contract: Contract, artifacts: tuple[Json, ...], *, required: bool = True
) -> Satisfied | Missing | Invalid:
    """Judge the first artifact of the kind; without one, only a required contract is missing."""
    candidates = artifacts_of(contract.kind, artifacts)
    if not candidates:
        return Missing(submitted_kinds=_kinds(artifacts)) if required else Satisfied()
    issues = schema_issues(contract.schema, candidates[0])
    return Invalid(issues=issues) if issues else Satisfied()


def artifacts_of(kind: str, artifacts: tuple[Json, ...]) -> tuple[JsonObject, ...]:
    """Return the artifacts of a kind in the order they were sent."""
    return tuple(each for each in artifacts if isinstance(each, dict) and each.get("kind") == kind)


def _kinds(artifacts: tuple[Json, ...]) -> tuple[str, ...]:
    """Return the kinds that were handed in, each once, at most ten."""
    kinds = dict.fromkeys(
        kind
        for each in artifacts
        if isinstance(each, dict) and isinstance(kind := each.get("kind"), str)
    )
    return tuple(kinds)[:KINDS_SHOWN_MAX]


def _example(own: UserContract) -> JsonObject:
    """Return the first example of an author's schema, else an object of just the kind."""
    examples = own.schema.get("examples")
    first = examples[0] if isinstance(examples, list) and examples else None
    return first if isinstance(first, dict) else {"kind": own.kind}

"""Loop decisions: whether the loop around a step goes on.

Law (D4): a decision counts only from a step whose contract asks for it. The first one handed in at
such a step must be well formed, as the contract demands; every well-formed one must speak of a loop
it can concern, and all must agree. After the first, what is not well formed is passed over, as
recorded.
"""

from typing import Final, Literal

from headway.domain.contracts.builtin import LOOP_CONTROL
from headway.domain.contracts.contract import Invalid
from headway.domain.contracts.judging import artifacts_of
from headway.domain.json_schema import schema_issues
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Step

LOOP_CONTROL_REF: Final = LOOP_CONTROL.ref


class Decision(Value):
    """Go on with the loop or leave it; `loop_id` only if the agent named one."""

    decision: Literal["continue", "stop"]
    loop_id: str | None = None


def judge_decision(
    artifacts: tuple[Json, ...], loop_ids: frozenset[str] | None
) -> Decision | Invalid | None:
    """Return the decision these artifacts hold, what is wrong with it, or None without one.

    `loop_ids` are the names a decision may use here; None when there is no loop it could concern,
    where any name passes.
    """
    candidates = artifacts_of(LOOP_CONTROL.kind, artifacts)
    if not candidates:
        return None
    issues = list(schema_issues(LOOP_CONTROL.schema, candidates[0]))
    decisions = [_read(each) for each in candidates if not schema_issues(LOOP_CONTROL.schema, each)]
    issues += [issue for each in decisions for issue in _foreign(each, loop_ids)]
    if len({each.decision for each in decisions}) > 1:
        issues.append("The decisions contradict each other: send one, either continue or stop.")
    if issues:
        return Invalid(issues=tuple(issues))
    loop_id = next((each.loop_id for each in decisions if each.loop_id is not None), None)
    return Decision(decision=decisions[0].decision, loop_id=loop_id)


def decision_of(step: Step, artifacts: tuple[Json, ...]) -> Decision | None:
    """Return the decision of a step that passed; None when its contract does not ask for one."""
    contract = step.output_contract
    if contract is None or contract.ref != LOOP_CONTROL_REF:
        return None
    judged = judge_decision(artifacts, None)
    return judged if isinstance(judged, Decision) else None


def _foreign(decision: Decision, loop_ids: frozenset[str] | None) -> tuple[str, ...]:
    name = decision.loop_id
    if loop_ids is None or name is None or name in loop_ids:
        return ()
    if not loop_ids:
        return (f'loopId "{name}" names no loop that can be decided here; leave loopId out.',)
    allowed = ", ".join(sorted(loop_ids))
    return (f'loopId "{name}" names another loop; leave loopId out, or use {allowed}.',)


def _read(candidate: JsonObject) -> Decision:
    decision, name = candidate.get("decision"), candidate.get("loopId")
    return Decision(
        decision="stop" if decision == "stop" else "continue",
        loop_id=name if isinstance(name, str) else None,
    )

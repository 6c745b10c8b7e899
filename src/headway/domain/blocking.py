"""What keeps an attempt from leaving its node besides its output: checks, gates, the breaker."""

from typing import Final

from headway.domain.blockers import GATE_REJECTED
from headway.domain.conditions import holds
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.events import Blocker, CheckResult, Gap, Pointer
from headway.domain.preferences import Preferences, never_stops
from headway.domain.texts import CUT_MARK, cut_text
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import Check, GateKind, Step

BLOCKS_MAX: Final = 10
BLOCKS_MAX_AUTONOMOUS: Final = 3
GAP_SUMMARY_BYTES_MAX: Final = 1024
CHECK_SAID_BYTES_MAX: Final = 560

_GAP_CATEGORY: Final = {
    "MISSING_REQUIRED_OUTPUT": "contract_violation",
    "INVALID_REQUIRED_OUTPUT": "contract_violation",
    "ASSESSMENT_FOLLOWUP_REQUIRED": "contract_violation",
    "MISSING_REQUIRED_NOTES": "contract_violation",
    "CHECK_FAILED": "contract_violation",
}


class GateNeed(Value):
    """Whether a passed step must wait for a decision, or goes on with a gap in its place."""

    gate: GateKind | None = None
    gaps: tuple[Gap, ...] = ()


def check_breaker(blocks: int, *, autonomous: bool) -> None:
    """Stop a chain of blocks that leads nowhere. Raises PreconditionFailed."""
    most = BLOCKS_MAX_AUTONOMOUS if autonomous else BLOCKS_MAX
    if blocks < most:
        return
    raise PreconditionFailed(
        f"This step was blocked {blocks} times in a row; this chain takes no further attempt.",
        remedy="Read the blockers again and tell the user. To go on, call continue_workflow with "
        "this token and intent rehydrate: the step is told anew with a fresh token.",
        details={"kind": "circuit_breaker", "blocks": blocks, "max": most},
    )


def check_results(step: Step, results: tuple[CheckResult, ...]) -> None:
    """Refuse results that are not one each of checks the step declares. Raises InvalidInput."""
    declared = [check.id for check in step.checks]
    named = [result.check for result in results]
    unknown = sorted(set(named) - set(declared))
    if not unknown and named and len(set(named)) == len(named):
        return
    problem = "Each result must name a check once; some name is missing or stands twice."
    if unknown:
        problem = f"The step {step.id} declares no check {', '.join(unknown)}."
    raise InvalidInput(
        cut_text(problem, 512),
        remedy="Send one result for each check that was run. "
        + (f"Declared here: {', '.join(declared)}." if declared else "This step declares none."),
        details={"kind": "unknown_check" if unknown else "check_results", "declared": declared},
    )


def judge_checks(
    step: Step, results: tuple[CheckResult, ...] | None
) -> tuple[tuple[Blocker, ...], tuple[Gap, ...]]:
    """Return a blocker for each failed check and a gap for each that did not run (D14)."""
    by_check = {result.check: result for result in results or ()}
    blockers, gaps = [], []
    for check in step.checks:
        result = by_check.get(check.id)
        if result is not None and result.failed:
            blockers.append(_failed(check, result))
        elif result is None or result.exit_code is None:
            summary = cut_text(f"Check {check.id} did not run: {check.run}", GAP_SUMMARY_BYTES_MAX)
            gaps.append(
                Gap(
                    code="CHECK_NOT_RUN", severity="warning", category="unverified", summary=summary
                )
            )
    return tuple(blockers), tuple(gaps)


def said_at_last(output: bytes) -> str:
    """Return the end of what a check printed, as much as its blocker has room for."""
    text = output[-CHECK_SAID_BYTES_MAX:].decode(errors="ignore").strip()
    return f"{CUT_MARK.strip()} {text}" if len(output) > CHECK_SAID_BYTES_MAX else text


def _failed(check: Check, result: CheckResult) -> Blocker:
    what = result.problem or f"It ended with exit code {result.exit_code}."
    wanted = cut_text(f"Make this command succeed, then use the retry token: {check.run}", 400)
    said = f"\nIt printed at last:\n{result.said}" if result.said else ""
    return Blocker(
        code="CHECK_FAILED",
        pointer=Pointer(kind="check", check_id=check.id),
        message=cut_text(f"Check {check.id} failed. {what}", 512),
        fix=cut_text(wanted + said, 1024),
    )


def gaps_for(blockers: tuple[Blocker, ...]) -> tuple[Gap, ...]:
    """Return the critical gaps that stand for blockers when a run never stops (D13)."""
    return tuple(
        Gap(
            code=blocker.code,
            severity="critical",
            category=_GAP_CATEGORY.get(blocker.code, "unexpected"),
            summary=cut_text(blocker.message, GAP_SUMMARY_BYTES_MAX),
        )
        for blocker in blockers
    )


def gate_need(
    step: Step,
    variables: tuple[JsonObject, JsonObject],
    preferences: Preferences,
    *,
    enforced: bool,
) -> GateNeed:
    """Tell what the step's confirmation asks for when gates are enforced (D11).

    `variables` are those the step was shown with and those it would be left with: a condition that
    holds with either asks, so that the work to be judged cannot talk its way past the judge.
    """
    asked = step.confirmation
    if not enforced or asked is None or not any(holds(asked.when, each) for each in variables):
        return GateNeed()
    if asked.kind == "coordinator_eval" and never_stops(preferences):
        gap = Gap(
            code="GATE_NOT_JUDGED",
            severity="critical",
            category="user_only_dependency",
            summary=cut_text(f"Nobody judged the step {step.title!r}.", GAP_SUMMARY_BYTES_MAX),
        )
        return GateNeed(gaps=(gap,))
    return GateNeed(gate=asked.kind)


def rejected_gate(rationale: str) -> Blocker:
    """Return the blocker an attempt gets when its gate was answered no."""
    said = rationale.strip() or "no reason was given"
    return Blocker(
        code=GATE_REJECTED,
        pointer=Pointer(kind="gate"),
        message=cut_text(f"The step was not approved: {said}", 512),
        fix="Rework what was rejected and hand it in with the retry token; it will be asked again.",
    )

"""Blockers: why an attempt was refused, said so that an agent can put it right.

Law (D7): what is asked for is a new submission with the retry token of the answer; the token of the
refused attempt only ever tells the same refusal again. Texts are bounded; what matters most, how to
go on, stands last and is never cut away.
"""

from typing import Final

from headway.domain.coercions import json_text
from headway.domain.contracts import Contract
from headway.domain.events import Blocker, Pointer
from headway.domain.texts import cut_list, cut_text
from headway.domain.values import Value

BLOCKERS_MAX: Final = 10
MESSAGE_BYTES_MAX: Final = 512
FIX_BYTES_MAX: Final = 1024
ISSUE_BYTES_MAX: Final = 512
SUGGESTION_BYTES_MAX: Final = 1024
FEEDBACK_BYTES_MAX: Final = 4096

CRITERIA_REF: Final = "wr.validationCriteria"
GATE_REJECTED: Final = "GATE_REJECTED"
STEP_REFUSED: Final = "STEP_REFUSED"  # how a refusal of any other kind is told later

_GO_ON: Final = " Send everything of this step again with the retry token of this answer."
PHRASES_OF_TOKENS: Final = (
    " with the retry token of this answer",
    " with the retry token",
    ", then use the retry token",
)
_WIRE_NAMES: Final = {
    "key": "key",
    "contract_ref": "contractRef",
    "assessment_id": "assessmentId",
    "dimension_id": "dimensionId",
    "step_id": "stepId",
    "capability": "capability",
    "check_id": "checkId",
}


class Said(Value):
    """The words of a blocker, of any length."""

    message: str
    fix: str


def blocker(code: str, pointer: Pointer, said: Said) -> Blocker:
    """Return a blocker with its texts bounded and the way to go on at the end."""
    room = FIX_BYTES_MAX - len(_GO_ON.encode())
    return Blocker(
        code=code,
        pointer=pointer,
        message=cut_text(said.message, MESSAGE_BYTES_MAX),
        fix=cut_text(said.fix, room) + _GO_ON,
    )


def missing_output(contract: Contract, submitted_kinds: tuple[str, ...], sent: int) -> Blocker:
    """Return the blocker for an artifact that was not among the `sent` ones."""
    if submitted_kinds:
        seen = f"Artifacts of other kinds were: {', '.join(submitted_kinds)}."
    elif sent:
        seen = (
            f"What was handed in names no kind ({sent} in all): an artifact is an object with one."
        )
    else:
        seen = "No artifact was."
    message = (
        f"This step needs an artifact of kind {contract.kind}, which was not handed in. {seen}"
    )
    said = Said(message=message, fix=_ask_for(contract))
    return blocker("MISSING_REQUIRED_OUTPUT", _contract(contract.ref), said)


def invalid_output(contract: Contract, issues: tuple[str, ...]) -> Blocker:
    """Return the blocker for an artifact that does not satisfy its contract."""
    message = f"The artifact of kind {contract.kind} is not right: {' '.join(issues)}"
    said = Said(message=message, fix=_ask_for(contract))
    return blocker("INVALID_REQUIRED_OUTPUT", _contract(contract.ref), said)


def invalid_assessment(ref: str, issues: tuple[str, ...], suggestions: tuple[str, ...]) -> Blocker:
    """Return the blocker for assessments that are missing or wrong."""
    said = Said(message=" ".join(issues), fix=" ".join(suggestions))
    return blocker("INVALID_REQUIRED_OUTPUT", _contract(ref), said)


def missing_criteria_notes() -> Blocker:
    """Return the blocker for a step with rules for its notes, left without any."""
    said = Said(
        message="This step has rules for its notes, and no notes were handed in.",
        fix="Put into output.notesMarkdown a text that passes the rules the step tells.",
    )
    return blocker("MISSING_REQUIRED_OUTPUT", _contract(CRITERIA_REF), said)


def failed_criteria(issues: tuple[str, ...], suggestions: tuple[str, ...]) -> Blocker:
    """Return the blocker for notes that fail the step's rules."""
    said = Said(
        message=f"The notes do not pass the rules of this step: {'; '.join(issues)}",
        fix=" ".join(["Rewrite output.notesMarkdown so that each rule passes.", *suggestions]),
    )
    return blocker("INVALID_REQUIRED_OUTPUT", _contract(CRITERIA_REF), said)


def missing_notes(step_id: str) -> Blocker:
    """Return the blocker for a step left without notes."""
    said = Said(
        message="This step needs notes, and none were handed in.",
        fix="Put into output.notesMarkdown what you did, found and decided, and what is open.",
    )
    pointer = Pointer(kind="workflow_step", step_id=step_id)
    return blocker("MISSING_REQUIRED_NOTES", pointer, said)


def followup(assessment: str, dimension: str, level: str, guidance: str) -> Blocker:
    """Return the blocker for a level that asks for more work before the step may be left."""
    pointer = Pointer(kind="assessment_dimension", assessment_id=assessment, dimension_id=dimension)
    said = Said(
        message=f"{dimension} of {assessment} came out as {level}, which asks for more work.",
        fix=f"{guidance.strip()} Then judge again.",
    )
    return blocker("ASSESSMENT_FOLLOWUP_REQUIRED", pointer, said)


def in_order(blockers: list[Blocker]) -> tuple[Blocker, ...]:
    """Return blockers by code, kind of pointer and what it points at, at most ten."""
    return tuple(sorted(blockers, key=_rank)[:BLOCKERS_MAX])


def bounded_issues(issues: tuple[str, ...]) -> tuple[str, ...]:
    """Return issues as feedback shows them."""
    return cut_list(issues, ISSUE_BYTES_MAX, FEEDBACK_BYTES_MAX)


def bounded_suggestions(suggestions: tuple[str, ...]) -> tuple[str, ...]:
    """Return suggestions as feedback shows them."""
    return cut_list(suggestions, SUGGESTION_BYTES_MAX, FEEDBACK_BYTES_MAX)


def without_token(text: str) -> str:
    """Return what a blocker says but for the token, for readers whose answer has none of that name.

    Whoever takes the step up later goes on with another one; a model of a run is told of none.
    """
    for phrase in PHRASES_OF_TOKENS:
        text = text.replace(phrase, "")
    return text


def wire_pointer(pointer: Pointer) -> dict[str, str]:
    """Return a pointer as answers show it: its kind and the fields that are set."""
    shown: dict[str, str] = {"kind": pointer.kind}
    for name, wire_name in _WIRE_NAMES.items():
        value = getattr(pointer, name)
        if value is not None:
            shown[wire_name] = value
    return shown


def _contract(ref: str) -> Pointer:
    return Pointer(kind="output_contract", contract_ref=ref)


def _ask_for(contract: Contract) -> str:
    guidance = f" {contract.guidance.strip()}" if contract.guidance.strip() else ""
    ask = f"Put one object of kind {contract.kind} into output.artifacts.{guidance}"
    if contract.example.keys() <= {"kind"}:
        return ask  # an object of nothing but its kind would show nothing, and be refused
    with_example = f"{ask} Example: {json_text(contract.example)}"
    # Half an example misleads; leave it out when it does not fit.
    fits = len((with_example + _GO_ON).encode("utf-8", "replace")) <= FIX_BYTES_MAX
    return with_example if fits else ask


def _rank(item: Blocker) -> tuple[str, str, str]:
    shown = wire_pointer(item.pointer)
    return item.code, item.pointer.kind, "|".join(shown[name] for name in sorted(shown))

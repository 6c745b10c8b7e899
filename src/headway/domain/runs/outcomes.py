"""How a run can end: a closed union. Paused and parked are a rest; the others are for good."""

from typing import Literal, TypeAlias, assert_never

from headway.domain.runs.limits import Limit
from headway.domain.values import Value

OutcomeKind: TypeAlias = Literal[
    "success", "error", "timeout", "stuck", "paused", "parked", "cancelled"
]
Sign: TypeAlias = Literal["repetition", "no_progress", "silence"]
ErrorReason: TypeAlias = Literal[
    "ended_early",
    "credential_expired",
    "credential_missing",
    "credit_spent",
    "context_overflow",
    "worktree_gone",
    "workers_lost",
    "model_refused",
    "model_unavailable",
    "model_unusable",
    "model_malformed",
    "tool_fatal",
    "fault",
]


class Success(Value, tag="success"):
    """The engine said that the workflow is complete; `commit` is None where nothing changed."""

    commit: str | None = None


class Failed(Value, tag="error"):
    """The run cannot go on. `code` says which fault it met, where the reason is one."""

    reason: ErrorReason
    message: str
    code: str | None = None


class TimedOut(Value, tag="timeout"):
    """A limit was reached, under the policy `end`."""

    limit: Limit


class Stuck(Value, tag="stuck"):
    """The run went on without getting on."""

    sign: Sign
    message: str


class Paused(Value, tag="paused"):
    """The run rests until somebody resumes it: by a person's wish, or under the policy `park`.

    There a limit was reached, or `failure` is what would have been its end otherwise.
    """

    limit: Limit | None = None
    by: str | None = None
    failure: Failed | None = None


class Parked(Value, tag="parked"):
    """The run rests until a gate is decided."""

    gate: str


class Cancelled(Value, tag="cancelled"):
    """A person ended the run."""

    by: str
    reason: str = ""


Outcome: TypeAlias = Success | Failed | TimedOut | Stuck | Paused | Parked | Cancelled


def kind_of(outcome: Outcome) -> OutcomeKind:
    """Return the outcome's name."""
    match outcome:
        case Success():
            return "success"
        case Failed():
            return "error"
        case TimedOut():
            return "timeout"
        case Stuck():
            return "stuck"
        case Paused():
            return "paused"
        case Parked():
            return "parked"
        case Cancelled():
            return "cancelled"
        case _:
            assert_never(outcome)


def is_rest(outcome: Outcome) -> bool:
    """Tell whether a run with this outcome can go on."""
    return isinstance(outcome, Paused | Parked)


def reason_of(outcome: Outcome) -> str | None:
    """Return why a run stopped, in one word; None where its outcome alone says it."""
    match outcome:
        case Failed(reason=reason, code=code):
            return code or reason
        case TimedOut(limit=limit):
            return limit
        case Stuck(sign=sign):
            return sign
        case Paused(limit=limit, failure=failure):
            return reason_of(failure) if failure else limit
        case Success() | Parked() | Cancelled():
            return None
        case _:
            assert_never(outcome)


def in_words(outcome: Outcome) -> str:
    """Return the outcome as the rest of a sentence that begins with "The run"."""
    match outcome:
        case Success(commit=commit):
            return f"succeeded with commit {commit}" if commit else "succeeded without a change"
        case Failed(message=message):
            return f"failed ({reason_of(outcome)}): {message}"
        case TimedOut(limit=limit):
            return f"reached its limit of {limit}"
        case Stuck(sign=sign, message=message):
            return f"was stuck ({sign}): {message}"
        case Paused(failure=Failed(message=message)):
            return f"is paused ({reason_of(outcome)}): {message}"
        case Paused(limit=limit, by=by):
            return f"is paused at its limit of {limit}" if limit else f"was paused by {by}"
        case Parked(gate=gate):
            return f"waits for a decision at {gate}"
        case Cancelled(by=by, reason=reason):
            return f"was cancelled by {by}" + (f": {reason}" if reason else "")
        case _:
            assert_never(outcome)

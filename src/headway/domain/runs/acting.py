"""What is to be done next in a run: it follows from the conversation alone.

Laws.
1. `next_action` is total: whatever happened, there is exactly one thing to do next.
2. A turn is never cut short for a limit, a sign of being stuck or a pause: the calls of the last
   reply are run first. No reply, and no summary, is asked for once a limit is reached.
3. A call that is not waiting is never run.
"""

from typing import Final, Literal, TypeAlias

from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import CallAsked, LimitNeared, StuckNoticed
from headway.domain.runs.limits import near, reached
from headway.domain.runs.outcomes import (
    Cancelled,
    ErrorReason,
    Failed,
    Outcome,
    Parked,
    Paused,
    Success,
    TimedOut,
)
from headway.domain.runs.stuck import signs
from headway.domain.values import Value

NUDGES_MAX: Final = 3
ERRORS_MAX: Final = 6  # in a row, before a model counts as unavailable
ERRORS_ONCE_HEARD_MAX: Final = 30  # where it has replied before: there is work to lose by then
LOSSES_MAX: Final = 10  # workers in a row, before what they did counts as what ended them
# What is amiss outside the run, and passes or can be mended there.
PASSING: Final[frozenset[ErrorReason]] = frozenset(
    {"credential_expired", "credential_missing", "credit_spent", "model_unavailable"}
)
TURNS_KEPT: Final = 4  # the newest, which a summary leaves as they are
TURNS_REPLACED_MIN: Final = 4  # fewer are not worth a summary while there is room


class CallModel(Value):
    """Ask the model, after a wait."""

    turn: int
    wait_ms: int = 0


class Compact(Value):
    """Have the model sum up the turns `first` to `last`, after a wait."""

    first: int
    last: int
    wait_ms: int = 0


class RunTools(Value):
    """Run these calls, in order."""

    calls: tuple[CallAsked, ...]


class Nudge(Value):
    """Tell the model that its turn is not over: work remains, or its reply was cut off."""

    why: Literal["work_remains", "cut"]


class Note(Value):
    """Record this, which nothing follows from."""

    event: StuckNoticed | LimitNeared


class Stop(Value):
    """Come to this end. It is to be recorded unless it is."""

    outcome: Outcome


Action: TypeAlias = CallModel | Compact | RunTools | Nudge | Note | Stop


def next_action(now: Conversation, room: int | None = None) -> Action:
    """Return the one thing to do next.

    `room` is how many tokens the conversation may have before its older turns are summed up; with
    None they are when the model says that it is too long.
    """
    if now.outcome is not None:
        return Stop(outcome=now.outcome)
    if now.abort is not None:
        return Stop(outcome=Cancelled(by=now.abort.by, reason=now.abort.reason))
    if now.complete:
        return Stop(outcome=Success(commit=now.committed.commit if now.committed else None))
    if now.gate is not None:
        return Stop(outcome=Parked(gate=now.gate))
    if now.losses >= LOSSES_MAX:
        message = f"{now.losses} workers in a row were lost while they drove it"
        return Stop(outcome=Failed(reason="workers_lost", message=message))
    waiting = tuple(call.asked for call in now.calls if call.state == "waiting")
    if waiting:
        return RunTools(calls=waiting)
    return _over(now) or _noted(now) or _go_on(now, room)


def brought_to(now: Conversation, failure: Failed) -> Failed | Paused:
    """Return what a failure brings a run to: its end, or a rest until what is amiss was mended.

    A model that was of use before and is not any more has changed, not the run. Where it never
    was, its name is wrong more likely than anything else, and there is nothing to lose.
    """
    once_used = failure.reason == "model_unusable" and now.spent.turns > 0
    mendable = once_used or failure.reason in PASSING
    return Paused(failure=failure) if mendable and now.limits.policy == "park" else failure


def _over(now: Conversation) -> Stop | None:
    """Return the end that a turn may have brought; the first of several that hold at once wins."""
    failure = _failure(now)
    if failure is not None:
        return Stop(outcome=brought_to(now, failure))
    found = signs(now.habit)
    if found and not _tells_only(now):
        return Stop(outcome=found[0])
    limit = reached(now.limits, now.spent)
    if limit is not None:
        parks = now.limits.policy == "park"
        return Stop(outcome=Paused(limit=limit) if parks else TimedOut(limit=limit))
    if now.pause is not None:
        return Stop(outcome=Paused(by=now.pause.by))
    return None


def _tells_only(now: Conversation) -> bool:
    return now.submitted is not None and now.submitted.stuck == "notify"


def _noted(now: Conversation) -> Note | None:
    """Return what is to be recorded once for as long as it holds."""
    for sign in signs(now.habit):
        if sign.sign not in now.habit.noticed:
            return Note(event=StuckNoticed(sign=sign.sign, message=sign.message))
    for limit in near(now.limits, now.spent):
        if limit not in now.neared:
            return Note(event=LimitNeared(limit=limit))
    return None


def _go_on(now: Conversation, room: int | None) -> Action:
    wait_ms = now.erred.wait_ms if now.erred else 0
    if now.compacting is not None:
        return Compact(first=now.compacting.first, last=now.compacting.last, wait_ms=wait_ms)
    if now.erred is not None:
        overflow = now.erred.problem == "overflow"
        shorter = _shorter(now) if overflow else None
        return shorter or CallModel(turn=now.turn, wait_ms=wait_ms)
    if now.said is not None and not now.calls and not now.untold:
        return Nudge(why="cut" if now.said.stop == "length" else "work_remains")
    return _roomier(now, room) or CallModel(turn=now.turn)


def _failure(now: Conversation) -> Failed | None:
    """Return the failure that the model has come to."""
    if now.said is not None and now.said.stop == "refused":
        return Failed(reason="model_refused", message="the model refused to go on")
    return _failed_reply(now) or _failed_turns(now)


def _failed_reply(now: Conversation) -> Failed | None:
    if now.erred is None:
        return None
    if now.erred.problem == "overflow":
        if now.compacting is None and _shorter(now) is not None:
            return None
        left = "the newest turn" if now.compacting is None else "what was to be summed up"
        message = f"{left} alone is longer than the model takes: {now.erred.message}"
        return Failed(reason="context_overflow", message=message)
    reasons: dict[str, ErrorReason] = {
        "expired": "credential_expired",
        "unpaid": "credit_spent",
        "refused": "model_refused",
        "unusable": "model_unusable",
    }
    reason = reasons.get(now.erred.problem)
    outage = now.erred.problem == "transient" and now.spent.turns > 0
    if reason is None and now.errors >= (ERRORS_ONCE_HEARD_MAX if outage else ERRORS_MAX):
        reason = "model_malformed" if now.erred.problem == "malformed" else "model_unavailable"
    return Failed(reason=reason, message=now.erred.message) if reason else None


def _failed_turns(now: Conversation) -> Failed | None:
    if now.said is None or now.untold:
        return None
    if not now.calls and now.nudges >= NUDGES_MAX:
        message = f"the model ended its turn {now.nudges + 1} times with work left to do"
        return Failed(reason="ended_early", message=message)
    if now.said.answered and now.nudges > NUDGES_MAX:
        message = f"what the model handed in was not taken {now.nudges} times in a row"
        return Failed(reason="ended_early", message=message)
    return None


def _shorter(now: Conversation) -> Compact | None:
    """Return the compaction that an overflow asks for; None when the newest turn alone is left.

    What is summed up was short enough for the model when it made the newest reply.
    """
    newest = now.spent.turns
    for last in (newest - TURNS_KEPT, newest - 1):
        if last > now.replaced:
            return Compact(first=now.replaced + 1, last=last)
    return None


def _roomier(now: Conversation, room: int | None) -> Compact | None:
    """Return the compaction that is due although the model has not complained yet."""
    last = now.spent.turns - TURNS_KEPT
    if room is None or now.size < room or last - now.replaced < TURNS_REPLACED_MIN:
        return None
    return Compact(first=now.replaced + 1, last=last)

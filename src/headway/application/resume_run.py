"""Resume a run: one at rest waits for a worker again; one whose worker died does so already.

One that was asked to pause and has not come to rest goes on as if it had not been.
"""

from typing import Final

from msgspec.structs import replace

from headway.application.checking_limits import Grant, check_limits
from headway.application.naming_runs import named_run
from headway.application.runs import Runs, append_outside, has_ended, is_driven, row_of
from headway.domain.errors import PreconditionFailed
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent, RunResumed
from headway.domain.runs.limits import Limits
from headway.domain.runs.outcomes import Paused
from headway.ports.queue import Move, Task

NOTHING: Final = Grant()


def resume_run(runs: Runs, name: str, by: str, grant: Grant = NOTHING) -> Task:
    """Have a run wait for a worker and return its row. A limit it rests at is granted once more.

    What `grant` says counts from what is spent now, and instead of what would be granted once more.
    Raises NotFound or InvalidInput, PreconditionFailed when it has ended or somebody drives it.
    """
    task = named_run(runs, name)
    check_limits(grant)

    def decide(now: Conversation, row: Task) -> tuple[tuple[RunEvent, ...], Move | None]:
        if row.state == "ended":
            raise has_ended(row.run, str(row.outcome))
        if row.state != "resting" and now.pause is not None:
            return (RunResumed(by=by, limits=_granted(now, grant)),), None
        if is_driven(runs, row):
            raise _is_driven(row)
        limits = _granted(now, grant)
        if row.state != "resting":
            return ((RunResumed(by=by, limits=limits),) if limits else ()), None
        return (RunResumed(by=by, limits=limits),), Move(state="queued")

    append_outside(runs, task.run, decide)
    return row_of(runs, task.run)


def _granted(now: Conversation, grant: Grant) -> Limits | None:
    """Return the limits as they are to be from now on, None for those there are."""
    spent, again = now.spent, _once_more(now)
    if grant == NOTHING:
        return again
    limits = again or now.limits
    worked = spent.worked_ms // 1_000
    return replace(
        limits,
        turns=limits.turns if grant.turns is None else spent.turns + grant.turns,
        tokens=limits.tokens if grant.tokens is None else spent.tokens + grant.tokens,
        money=limits.money if grant.money is None else spent.money + grant.money,
        seconds=limits.seconds if grant.seconds is None else worked + grant.seconds,
    )


def _once_more(now: Conversation) -> Limits | None:
    """Return the limits with the one that was reached moved on by what was granted at first."""
    outcome, first = now.outcome, now.submitted
    if not isinstance(outcome, Paused) or outcome.limit is None or first is None:
        return None
    begun, limits = first.limits, now.limits
    match outcome.limit:
        case "turns":
            return replace(limits, turns=now.spent.turns + (begun.turns or 0))
        case "tokens":
            return replace(limits, tokens=now.spent.tokens + (begun.tokens or 0))
        case "money":
            return replace(limits, money=now.spent.money + (begun.money or 0))
        case "time":
            worked = now.spent.worked_ms // 1_000
            return replace(limits, seconds=worked + (begun.seconds or 0))


def _is_driven(row: Task) -> PreconditionFailed:
    owner = row.owner
    where = f"process {owner.pid} on {owner.host.partition('/')[0]}" if owner else "another process"
    return PreconditionFailed(
        f"The run {row.run} is being driven by {where}.",
        remedy=f"`headway runs show {row.run}` tells how far it is; "
        "`headway runs steer` and `abort` reach it.",
        details={"kind": "run_driven", "run": row.run},
    )

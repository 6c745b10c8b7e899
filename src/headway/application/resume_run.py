"""Resume a run: one at rest waits for a worker again; one whose worker died does so already."""

from msgspec.structs import replace

from headway.application.runs import Runs, append_outside, has_ended, is_driven, named_run
from headway.domain.errors import PreconditionFailed
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent, RunResumed
from headway.domain.runs.limits import Limits
from headway.domain.runs.outcomes import Paused
from headway.ports.queue import Move, Task


def resume_run(runs: Runs, name: str, by: str) -> Task:
    """Have a run wait for a worker and return its row. A limit it rests at is granted once more.

    Raises NotFound or InvalidInput, PreconditionFailed when it has ended or somebody drives it.
    """
    task = named_run(runs, name)

    def decide(now: Conversation, row: Task) -> tuple[tuple[RunEvent, ...], Move | None]:
        if row.state == "ended":
            raise has_ended(row.run, str(row.outcome))
        if is_driven(runs, row):
            raise _is_driven(row)
        if row.state != "resting":
            return (), None
        return (RunResumed(by=by, limits=_granted(now)),), Move(state="queued")

    append_outside(runs, task.run, decide)
    (row,) = runs.queue.find(task.run, 1)
    return row


def _granted(now: Conversation) -> Limits | None:
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
    where = f"process {owner.pid} on {owner.host}" if owner else "another process"
    return PreconditionFailed(
        f"The run {row.run} is being driven by {where}.",
        remedy=f"`headway runs show {row.run}` tells how far it is; "
        "`headway runs steer` and `abort` reach it.",
        details={"kind": "run_driven", "run": row.run},
    )

"""Claim a run: the one named, or the next that waits. A dead owner's lease ends first, at once."""

from typing import Final

from headway.application.runs import Held, Runs, folded
from headway.domain.ids import RunId
from headway.ports.queue import Claiming

CLAIMED_LOOKED_AT_MAX: Final = 1_000


def claim_run(
    runs: Runs,
    run: RunId | None = None,
    *,
    per_workspace_max: int | None = None,
    claimed_max: int | None = None,
) -> Held | None:
    """Return the run that is now held by this process; None when there is none to be had."""
    now = runs.engine.clock.now_ms()
    for task in runs.queue.tasks(("claimed",), CLAIMED_LOOKED_AT_MAX):
        stands = task.lease_until > now and task.owner is not None
        if stands and task.owner is not None and runs.owners.is_gone(task.owner):
            runs.queue.expire(task.run, task.fence)
    claimed = runs.queue.claim(
        Claiming(
            owner=runs.owners.me(),
            ttl_ms=runs.terms.ttl_ms,
            run=run,
            per_workspace_max=per_workspace_max,
            claimed_max=claimed_max,
        )
    )
    if claimed is None:
        return None
    conversation = folded(runs.queue.scan(claimed.run))
    return Held(run=claimed.run, fence=claimed.fence, conversation=conversation)

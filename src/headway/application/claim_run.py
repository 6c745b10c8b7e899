"""Claim a run: the one named, or the next that waits.

The leases of processes that are gone end first, at once. What an earlier claim of the run left
running on this machine is ended before the run is handed out, so that nobody else works in its
place. A run whose stream is damaged is set aside, so that those behind it have their turn.
"""

from collections.abc import Callable

from headway.application.runs import Held, Runs, folded
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import RunId, StreamId, run_of
from headway.ports.queue import Claiming


def claim_run(  # noqa: PLR0913 - what a claim is narrowed by
    runs: Runs,
    run: RunId | None = None,
    *,
    per_workspace_max: int | None = None,
    claimed_max: int | None = None,
    without: tuple[str, ...] = (),
    tell: Callable[[RunId, SessionNotHealthy], None] | None = None,
) -> Held | None:
    """Return the run that is now held by this process; None when there is none to be had.

    The next is none whose model is of a provider in `without`. `tell` is told of each run that is
    set aside, and of what is wrong with it. Raises SessionNotHealthy when the run named is damaged.
    """
    for holder in runs.queue.holders():
        if runs.owners.is_gone(holder.owner):
            runs.queue.expire_all(holder.owner)
    claiming = Claiming(
        owner=runs.owners.me(),
        ttl_ms=runs.terms.ttl_ms,
        run=run,
        per_workspace_max=per_workspace_max,
        claimed_max=claimed_max,
        without=without,
    )
    aside: set[RunId] = set()
    while True:
        try:
            return _claimed(runs, claiming)
        except SessionNotHealthy as fault:
            damaged = run_of(StreamId(str(fault.details.get("stream"))))
            if damaged is None or run is not None or damaged in aside:
                raise
            runs.queue.set_aside(damaged)
            aside.add(damaged)
            if tell is not None:
                tell(damaged, fault)


def _claimed(runs: Runs, claiming: Claiming) -> Held | None:
    claimed = runs.queue.claim(claiming)
    if claimed is None:
        return None
    left = runs.owners.end_work_of(claimed.run, claimed.fence) if claimed.fence > 1 else 0
    conversation = folded(runs.queue.scan(claimed.run))
    return Held(run=claimed.run, fence=claimed.fence, conversation=conversation, left=left)

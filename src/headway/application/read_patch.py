"""Read the patch that was saved of a run's worktree before the worktree went."""

from headway.application.naming_runs import named_run
from headway.application.runs import Runs, folded
from headway.domain.errors import NotFound


def read_patch(runs: Runs, name: str) -> bytes:
    """Return a patch on the commit the worktree stood at.

    Raises NotFound when there is no such run, or nothing was saved of it; InvalidInput when several
    begin like this.
    """
    task = named_run(runs, name)
    saved = folded(runs.queue.scan(task.run)).saved
    if saved is None:
        raise NotFound(
            f"Nothing was saved of the worktree of {task.run}.",
            remedy="`headway worktrees list` shows the worktrees there are; "
            f"`headway runs show {task.run}` names the commit.",
            details={"run": task.run},
        )
    return runs.engine.ledger.blob(saved.patch)

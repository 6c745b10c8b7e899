"""Clear away what git still knows of a worktree that was removed under its run, as the run ends."""

import logging

from headway.application.runs import Runs
from headway.domain.errors import Fault
from headway.domain.runs.conversation import Conversation
from headway.ports.queue import Task

logger = logging.getLogger(__name__)


def clear_away(runs: Runs, now: Conversation, row: Task) -> None:
    """Leave nothing of a worktree that is gone. It goes before the end is recorded, and may again.

    Only the machine that drove the run can tell that its worktree is gone. What cannot be cleared
    away is told in the log, and keeps no run from its end.
    """
    if now.submitted is None or now.worktree is None or row.owner is None:
        return
    if row.owner.host != runs.owners.me().host:
        return
    try:
        if not runs.places.is_there(now.worktree):
            runs.places.forget(now.submitted, now.worktree)
    except Fault as fault:
        logger.warning("of the worktree of %s is left: %s", row.run, fault)

"""Replays: a call repeated after its answer was lost, or a second try at a step that has ended.

Both get the recorded outcome and change nothing. Only the second is worth a line in the log: it
sends something else than was recorded, as if that could still count.
"""

import logging

from headway.application.loading import Loaded
from headway.application.requests import ContinueWorkflow
from headway.domain.errors import InvalidInput
from headway.domain.state import Outcome
from headway.domain.submission import store_output

logger = logging.getLogger(__name__)


def log_replay(loaded: Loaded, request: ContinueWorkflow, outcome: Outcome) -> None:
    """Write a line when an attempt that has ended was sent something else than ended it."""
    if not _differs(request, outcome):
        return
    facts = {
        "session": loaded.row.session,
        "attempt": loaded.row.attempt,
        "outcome": type(outcome).__name__,
        "version": loaded.row.outcome_at,
    }
    told = " ".join(f"{name}={value}" for name, value in facts.items())
    extra = {"action": "replayed_with_other_content", "facts": facts}
    logger.warning("replayed with other content %s", told, extra=extra)


def _differs(request: ContinueWorkflow, outcome: Outcome) -> bool:
    if request.notes is None and not request.artifacts and not request.context:
        return False  # asks for the answer alone, as one does at a gate
    context = outcome.context.delta if outcome.context else {}
    if dict(request.context or {}) != context:
        return True
    try:
        return store_output(request.notes, request.artifacts).output != outcome.output
    except InvalidInput:  # what cannot be kept was not kept
        return True

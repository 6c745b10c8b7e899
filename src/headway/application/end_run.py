"""End a run, or bring it to a rest: its last event, and its row, in one write."""

from functools import partial

from msgspec.structs import replace

from headway.application.record_turn import record_turn, refresh_run
from headway.application.runs import Held, Runs, folded, stop_at
from headway.domain.runs.events import RunEnded
from headway.domain.runs.outcomes import Outcome
from headway.ports.ledger import Conflict
from headway.ports.queue import RunWrite


def end_run(runs: Runs, held: Held, outcome: Outcome) -> Held:
    """Record how the run ended. Raises LeaseLost when it is not held any more."""
    move = partial(stop_at, outcome=outcome)  # of the run as it is then: `held` may be older
    return record_turn(runs, held, RunEnded(outcome=outcome), move=move)


def rest_run(runs: Runs, held: Held, outcome: Outcome) -> Held:
    """Record that the run rests, or return it with what others recorded first.

    That may be its abort, or that it is not to rest after all. Raises LeaseLost.
    """
    rest = RunWrite(
        run=held.run,
        expected_version=held.conversation.version,
        events=(RunEnded(outcome=outcome),),
        fence=held.fence,
        move=stop_at(held.conversation, outcome),
    )
    try:
        written = runs.queue.append(rest)
    except Conflict:
        return refresh_run(runs, held)
    return replace(held, conversation=folded(written, held.conversation))

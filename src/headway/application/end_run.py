"""End a run, or bring it to a rest: its last event, and its row, in one write."""

from headway.application.record_turn import record_turn
from headway.application.runs import Held, Runs
from headway.domain.runs.events import RunEnded
from headway.domain.runs.outcomes import Outcome, is_rest, kind_of
from headway.ports.queue import Move


def end_run(runs: Runs, held: Held, outcome: Outcome) -> Held:
    """Record how the run ended. Raises LeaseLost when it is not held any more."""
    move = Move(state="resting" if is_rest(outcome) else "ended", outcome=kind_of(outcome))
    return record_turn(runs, held, RunEnded(outcome=outcome), move=move)

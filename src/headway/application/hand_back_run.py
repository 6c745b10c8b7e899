"""Hand a run back: it waits again at once, and whoever looks next goes on with it."""

from headway.application.runs import Held, Runs


def hand_back_run(runs: Runs, held: Held) -> None:
    """End the lease on a run that is not driven here any more; one that has ended stays so."""
    runs.queue.hand_back(held.run, held.fence)

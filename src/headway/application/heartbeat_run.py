"""Prolong the lease on a run."""

from headway.application.runs import Held, Runs


def heartbeat_run(runs: Runs, held: Held) -> None:
    """Prolong the lease from now on. Raises LeaseLost when another worker has the run."""
    runs.queue.renew(held.run, held.fence, runs.terms.ttl_ms)

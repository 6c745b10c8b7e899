"""Diagnose the runs of a home: those nobody goes on with, and the worktrees that were left."""

from collections.abc import Iterator, Mapping

from headway.application.describe_home import RunsStatus, runs_status
from headway.application.findings import Finding
from headway.application.home import Home
from headway.domain.runs.acting import PASSING
from headway.ports.onlooker import StoreFacts


def run_findings(home: Home, facts: StoreFacts) -> Iterator[Finding]:
    """Yield what there is to say of runs; nothing where there were never any."""
    if facts.runs:
        yield _queue(runs_status(home, facts))
        yield from _amiss(facts.resting)
    left = [run for run in home.machine.names(home.worktrees) if run not in facts.unended]
    if left:
        yield Finding(
            part="worktrees",
            level="ok",
            told=f"{len(left)} of runs that are over, or of another store; "
            "headway worktrees list tells what would be lost with each",
        )


def _queue(runs: RunsStatus) -> Finding:
    told = f"{runs.running} driven, {runs.waiting} waiting, {runs.resting} at rest"
    if runs.stalled:
        told += f"; {runs.stalled} lost their worker and wait for another"
    if (runs.waiting or runs.stalled) and not runs.running:
        return Finding(
            part="runs",
            level="warning",
            told=f"{told}; nobody drives any",
            remedy="Start a worker: headway worker, or headway up, which brings its own.",
        )
    return Finding(part="runs", level="ok", told=told)


def _amiss(resting: Mapping[str, int]) -> Iterator[Finding]:
    """Yield what keeps runs from their models, and perhaps others of the same provider waiting."""
    found = [(reason, resting[reason]) for reason in sorted(PASSING) if reason in resting]
    if found:
        told = ", ".join(
            f"{count} {'run rests' if count == 1 else 'runs rest'} for {reason}"
            for reason, count in found
        )
        yield Finding(
            part="models",
            level="warning",
            told=f"{told}; workers try others of the same provider only now and then",
            remedy="See to the key or the account where the worker runs, and start it again if it "
            "needs another key; then `headway runs resume RUN --queue` for each that rests.",
        )

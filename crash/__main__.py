"""`python -m crash`: kills servers under load; exit code 1 when a promise was broken."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from crash.running import Outcome, Plan, run

PROGRESS_SECONDS = 5.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and report; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m crash", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="which moments (default: 1)")
    parser.add_argument("--kills", type=int, default=50, help="how many kills (default: 50)")
    parser.add_argument("--agents", type=int, default=32, help="sessions at once (default: 32)")
    parser.add_argument("--keep", type=Path, help="a new folder to work in, and to leave there")
    given = parser.parse_args(arguments)
    plan = Plan(seed=given.seed, kills=given.kills, agents=given.agents)
    telling = Telling()
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        outcome = run(plan, given.keep or Path(folder) / "run", telling.moved_on)
    print(report(outcome))
    if not outcome.problems:
        print(f"\nNothing lost, nothing doubled (seed {given.seed}).")
        return 0
    print(f"\n{len(outcome.problems)} promises broken (seed {given.seed}):")
    for problem in outcome.problems[:20]:
        print(f"  {problem}")
    return 1


class Telling:
    """Prints now and then how far a run is."""

    def __init__(self) -> None:
        self._told = 0.0

    def moved_on(self, text: str) -> None:
        if perf_counter() - self._told >= PROGRESS_SECONDS:
            self._told = perf_counter()
            print(f"... {text}", flush=True)


def report(outcome: Outcome) -> str:
    """Return the figures of a run as a table."""
    tally = outcome.tally
    rows: list[tuple[str, float]] = [
        *sorted(tally.counts.items()),
        ("sessions begun", len(tally.acknowledged)),
        ("longest wait of a call, s", tally.longest_wait[0]),
        ("seconds", outcome.seconds),
    ]
    lines = [f"{name:<42}{number:>10,.1f}".removesuffix(".0") for name, number in rows]
    return "\n".join([*lines, f"(it was that of {tally.longest_wait[1]})"])


if __name__ == "__main__":
    sys.exit(main())

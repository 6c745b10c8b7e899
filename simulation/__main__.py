"""`python -m simulation`: simulates agents and faults; exit code 1 when a promise was broken.

The same seed simulates the same worlds, event for event, on every machine.
"""

import argparse
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from time import perf_counter

from simulation.choices import drawn_in
from simulation.disks import SqliteDisk
from simulation.postgres_disk import postgres_server
from simulation.process import Setting
from simulation.running import Failure, Tally, run
from simulation.servers import LOCAL, NAMED

PROGRESS_SECONDS = 10.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and report; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="which worlds (default: 1)")
    parser.add_argument("--events", type=int, default=100_000, help="how much (default: 100000)")
    parser.add_argument("--world", type=int, default=1, help="the first world (default: 1)")
    parser.add_argument("--store", choices=("memory", "sqlite", "postgres"), default="memory")
    given = parser.parse_args(arguments)
    telling = Telling()
    with _quiet(), _setting(given.store) as setting:
        tally, failure = run(given.seed, given.events, setting, first=given.world, listener=telling)
    print(report(tally, perf_counter() - telling.begun))
    if failure is None:
        print(f"\nEvery promise held (seed {given.seed}).")
        return 0
    print("\n" + tell(failure, given.seed, given.store))
    return 1


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep faults out of the log meanwhile: what agents do wrong by chance is no news."""
    logger = logging.getLogger("headway")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


class Telling:
    """Prints now and then how far a run is."""

    def __init__(self) -> None:
        self.begun = self._told = perf_counter()

    def moved_on(self, tally: Tally) -> None:
        now = perf_counter()
        if now - self._told >= PROGRESS_SECONDS:
            self._told = now
            rate = tally.events / (now - self.begun)
            told = f"{tally.events:,} events, {tally.worlds:,} worlds, {rate:,.0f} events/s"
            print(f"... {told}", flush=True)

    def failed(self, world: int, problem: str) -> None:
        print(f"... world {world} failed: {problem}; looking for the shortest history", flush=True)


@contextmanager
def _setting(store: str) -> Iterator[Setting]:
    """Yield what worlds stand on: memory, files of this run, or schemas of this run on a server."""
    numbers = count()
    match store:
        case "sqlite":
            with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
                yield Setting(disk=lambda: SqliteDisk(Path(folder) / f"{next(numbers)}.db"))
        case "postgres":
            with postgres_server(NAMED or LOCAL) as server:
                yield Setting(disk=server.disk)
        case _:
            yield Setting()


def report(tally: Tally, seconds: float) -> str:
    """Return the figures of a run as a table."""
    rows: list[tuple[str, float]] = [
        ("events simulated", tally.events),
        ("worlds", tally.worlds),
        ("sessions", tally.counts["sessions"]),
        ("attempts", tally.counts["attempts"]),
        ("events recorded", tally.recorded),
        *((name, tally.counts[name]) for name in ("calls", "jumps", "rotations", "restarts")),
        *((f"fault: {name}", number) for name, number in sorted(tally.faults.items())),
        ("seconds", seconds),
        ("events a second", tally.events / seconds),
    ]
    return "\n".join(f"{name:<22}{number:>14,.0f}" for name, number in rows)


def tell(failure: Failure, seed: int, store: str) -> str:
    """Return a failure with the shortest history that shows it, and how to see it again."""
    size = f"{drawn_in(failure.choices)} of {failure.choices_found} choices"
    lines = [
        f"World {failure.world} of seed {seed} broke a promise.",
        f"The shortest history found that shows it, {size}:",
        "",
        *(f"  {line}" for line in failure.history),
        "",
        failure.problem,
        "",
        "To see it again:",
        f"  python -m simulation --seed {seed} --world {failure.world} --events 1 --store {store}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

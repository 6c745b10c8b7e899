"""A scripted run on a real repository, killed everywhere; a zombie; workers that compete.

`python -m crash.runs` takes some minutes for each store; tests/integration/test_run_crash.py is a
sample of it. The run is killed with SIGKILL after each event, on both sides of each effect and of
each commit of the store, inside each git command of its own, and in the middle and at the end of
the command of a check. It must end as if undisturbed.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg

from crash.rivals import compete
from simulation.servers import LOCAL, NAMED, schema
from tests.support.crashed_runs import Left, MomentNotMet, crashed_at, stopped_at

STORES = ("sqlite", "postgres")
FIRST_EVENT = 3  # the first that is recorded by the loop: a kill before it is one before any effect
PROGRESS_SECONDS = 5.0
RIVAL_RUNS = 6
RIVAL_FAULTS = 12


def problems(left: Left, calm: Left) -> list[str]:
    """Return what differs from the undisturbed run, and which calls were run twice."""
    found = [
        f"{name} is {getattr(left, name)!r}, not {getattr(calm, name)!r}"
        for name in ("outcome", "tree", "commits", "session")
        if getattr(left, name) != getattr(calm, name)
    ]
    twice = [name for name, times in left.effects.items() if name[:4] == "call" and times > 1]
    return found + [f"{name} was run twice" for name in twice]


def moments_of(calm: Left) -> list[str]:
    """Return every moment that the undisturbed run has."""
    effects = sum(calm.effects.values())
    sides = (
        ("before", effects),
        ("after", effects),
        ("uncommitted", calm.store_commits),
        ("committed", calm.store_commits),
        ("git", calm.git_commands),
        ("gitcut", calm.git_commands),
        ("check", calm.checks),
        ("checked", calm.checks),
    )
    killed = [f"event:{number}" for number in range(FIRST_EVENT, calm.events)]
    killed += [f"{side}:{at}" for side, most in sides for at in range(1, most + 1)]
    return killed + [f"stop-event:{number}" for number in range(FIRST_EVENT, calm.events)]


def tried(folder: Path, moment: str, store: str, calm: Left) -> list[str] | None:
    """Return what was wrong with a run that met a moment; None when the moment never came."""
    try:
        with url_of(store) as url:
            if not moment.startswith("stop-"):
                return problems(crashed_at(folder, moment, url=url), calm)
            before, after, said = stopped_at(folder, moment.removeprefix("stop-"), url)
            wrote = [] if before == after else [f"the zombie wrote: {before} became {after}"]
            spoke = [] if said.endswith("lost") else [f"the zombie said {said!r}"]
            return problems(after, calm) + wrote + spoke
    except MomentNotMet:
        return None
    except (AssertionError, OSError, ValueError) as error:
        return [f"{type(error).__name__}: {error}"]


def matrix(folder: Path, store: str, jobs: int, every: int, kind: str) -> int:
    """Try every moment, or every so-many-th of a kind; print what was wrong, return how often."""
    began = told = time.monotonic()
    with url_of(store) as url:
        calm = crashed_at(folder / "calm", url=url)
    moments = [each for each in moments_of(calm) if each.startswith(kind)][::every]
    print(
        f"runs, {store}: {calm.events} events, {sum(calm.effects.values())} effects, "
        f"{calm.store_commits} commits, {calm.git_commands} git commands, {calm.checks} checks: "
        f"{len(moments)} moments to die or stop at",
        flush=True,
    )
    failed = unmet = 0
    with ThreadPoolExecutor(jobs) as pool:
        places = [folder / str(number) for number in range(len(moments))]
        results = pool.map(partial(tried, store=store, calm=calm), places, moments)
        for number, (moment, found) in enumerate(zip(moments, results, strict=True), 1):
            unmet += found is None
            failed += bool(found)
            for problem in found or ():
                print(f"runs, {store}: at {moment}: {problem}", flush=True)
            if time.monotonic() - told >= PROGRESS_SECONDS:
                told = time.monotonic()
                print(f"... {number} of {len(moments)} moments on {store}", flush=True)
    print(
        f"runs, {store}: {len(moments) - failed - unmet} of {len(moments)} ended as the "
        f"undisturbed run, {unmet} moments did not come, {time.monotonic() - began:.0f} s",
        flush=True,
    )
    return failed + rivals(folder / "rivals", store, calm)


def rivals(folder: Path, store: str, calm: Left) -> int:
    """Have workers compete through faults; return how many runs did not end as they should."""
    with url_of(store) as url:
        found = [
            problems(each, calm)
            for each in compete(folder, url, seed=1, runs=RIVAL_RUNS, faults=RIVAL_FAULTS)
        ]
    for problem in (problem for each in found for problem in each):
        print(f"runs, {store}: two workers: {problem}", flush=True)
    wrong = sum(map(bool, found))
    print(
        f"runs, {store}: {len(found) - wrong} of {len(found)} runs of two workers through "
        f"{RIVAL_FAULTS} kills and stops ended as the undisturbed run",
        flush=True,
    )
    return wrong


@contextmanager
def url_of(store: str) -> Iterator[str | None]:
    """Yield the address of a fresh schema, None for a store in a file."""
    if store == "sqlite":
        yield None
        return
    with schema(NAMED or LOCAL) as url:
        yield url


def served() -> bool:
    """Tell whether there is a PostgreSQL to try this on."""
    try:
        psycopg.connect(NAMED or LOCAL).close()
    except psycopg.OperationalError:
        return False
    return True


def main() -> int:
    """Kill the run everywhere; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m crash.runs", description=__doc__)
    parser.add_argument("--store", choices=STORES, help="one store (default: both)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once (default: 2)")
    parser.add_argument("--every", type=int, default=1, help="only every so-many-th moment")
    parser.add_argument("--kind", default="", help="only moments whose name begins so")
    given = parser.parse_args()
    failed = 0
    for store in (given.store,) if given.store else STORES:
        if store == "postgres" and not given.store and not served():
            print(
                "runs, postgres: left out, no server answers; HEADWAY_TEST_DATABASE_URL names one"
            )
            continue
        with tempfile.TemporaryDirectory(prefix="crash-runs-") as folder:
            failed += matrix(Path(folder), store, given.jobs, given.every, given.kind)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

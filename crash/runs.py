"""A scripted run on a real repository, killed after each event and on both sides of each effect.

`python -m crash.runs` takes a few minutes; `tests/integration/test_run_crash.py` is a sample of it.
"""

import sys
import tempfile
from pathlib import Path

from tests.support.crashed_runs import Left, crashed_at

FIRST_EVENT = 3  # the first that is recorded by the loop: a kill before it is one before any effect


def problems(left: Left, calm: Left) -> list[str]:
    """Return what differs from the undisturbed run, and which calls were run twice."""
    found = [
        f"{name} is {getattr(left, name)!r}, not {getattr(calm, name)!r}"
        for name in ("outcome", "tree", "commits", "session")
        if getattr(left, name) != getattr(calm, name)
    ]
    twice = [name for name, times in left.effects.items() if name[:4] == "call" and times > 1]
    return found + [f"{name} was run twice" for name in twice]


def main() -> int:
    """Kill the run everywhere; return the exit code."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        calm = crashed_at(Path(folder) / "calm")
        effects = sum(calm.effects.values()) - calm.effects[""]
        moments = [f"event:{number}" for number in range(FIRST_EVENT, calm.events)]
        moments += [f"{side}:{at}" for at in range(1, effects + 1) for side in ("before", "after")]
        print(f"runs: {calm.events} events, {effects} effects, {len(moments)} moments to die at")
        for number, moment in enumerate(moments):
            try:
                found = problems(crashed_at(Path(folder) / str(number), moment), calm)
            except AssertionError as error:
                found = [str(error)]
            failed += bool(found)
            for problem in found:
                print(f"runs: killed at {moment}: {problem}")
    print(f"runs: {len(moments) - failed} of {len(moments)} ended as the undisturbed run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

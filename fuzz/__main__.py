"""`python -m fuzz`: fuzzes the doors; exit code 1 when a promise was broken.

Equal seeds put the same cases to the server, as far as the tokens it gave out allow.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzz.running import DOORS, fuzz


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz and report; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all doors (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="which cases (default: 1)")
    parser.add_argument("--door", choices=tuple(DOORS), help="this one alone")
    given = parser.parse_args(arguments)
    doors = [given.door] if given.door else list(DOORS)
    failed = False
    for door in doors:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            outcome = fuzz(door, given.seed, given.seconds / len(doors), Path(folder))
        print(outcome.told(), flush=True)
        failed = failed or outcome.problem is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The README's picture of the demo: a real run, as far as its verdict.

`python -m tests.support.readme_demo` runs the demo and writes it anew; a test holds the README to a
run, but for what is another each time: processes, ids, times.
"""

import os
import re
import subprocess
import sys

from bench.readme import README, replaced
from tests.support.patience import SECONDS_MAX

MARK = "demo"
ENDS = "\nGive it a job of yours\n"
CHANGING = (
    (r"process \d+", "process PID"),
    (r"kill -9 \d+", "kill -9 PID"),
    (r"goes on where \d+", "goes on where PID"),
    (r"(task|sess)_\w+", "ID"),
    (r"commit [0-9a-f]{40}", "commit ID"),
    (r"\d+ ms", "N ms"),
    (r"in [\d.]+s", "in Ns"),
    (r" +[\d.]+ s\b", " N s"),
    (r"money +time", "money time"),  # as wide as the times below it
)


def picture(told: str) -> str:
    """Return what a demo says as far as its verdict, as a fenced block."""
    return f"```\n$ make demo\n{told.partition(ENDS)[0].strip()}\n```"


def run() -> str:
    """Run the demo; return what it says."""
    ran = subprocess.run(
        [sys.executable, "-m", "headway", "demo"],
        env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},  # noqa: TID251
        capture_output=True,
        check=True,
        timeout=SECONDS_MAX,
    )
    return ran.stdout.decode("utf-8")


def masked(text: str) -> str:
    """Return a picture without what is another each time."""
    for pattern, word in CHANGING:
        text = re.sub(pattern, word, text)
    return text


if __name__ == "__main__":
    README.write_text(replaced(README.read_text("utf-8"), MARK, picture(run())), "utf-8")

"""Watching runs from any process: their log as it grows, and how they end.

Nothing is held: whoever watches reads what is recorded, so a worker may die and another go on.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

from headway.application.list_runs import RunState, state_of
from headway.application.naming_runs import exact_run
from headway.application.runs import Runs
from headway.cli.run_exits import EXIT_CODES, EXIT_WAITED
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation, evolve
from headway.ports.queue import RunRecorded, Task

LOOK_SECONDS: Final = 0.3
STOPPED: Final = ("resting", "ended")

# Is given an event with the conversation after it.
Shown = Callable[[Conversation, RunRecorded], None]


def follow(runs: Runs, run: RunId, show: Shown, notice: Callable[[RunState], None]) -> Task:
    """Show the log of a run as it grows until the run rests or ends; return its row.

    `notice` is told each time the run begins or ceases to be in anybody's hands.
    """
    now, state = Conversation(), ""
    while True:
        row = exact_run(runs, run)  # before the events: when it says ended, they are all there
        for recorded in runs.queue.scan(run, now.version):
            now = evolve(now, recorded.event)
            show(now, recorded)
        if row.state in STOPPED:
            return row
        found = state_of(runs, row)
        if found != state:
            notice(found)
        state = found
        time.sleep(LOOK_SECONDS)


def wait(
    runs: Runs, names: Sequence[RunId], *, first: bool, seconds: float | None
) -> tuple[tuple[Task, ...], bool]:
    """Wait until all of the runs rest or have ended, or the first; return the rows, and if so."""
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        rows = tuple(exact_run(runs, name) for name in names)
        done = [row.state in STOPPED for row in rows]
        if any(done) if first else all(done):
            return rows, True
        left = LOOK_SECONDS if until is None else until - time.monotonic()
        if left <= 0:
            return rows, False
        time.sleep(min(left, LOOK_SECONDS))


def exit_code(rows: Sequence[Task], *, first: bool, in_time: bool) -> int:
    """Return the code that says how runs ended: the first that was waited for, or the first bad."""
    stopped = [row for row in rows if row.state in STOPPED and row.outcome is not None]
    codes = [EXIT_CODES[row.outcome] for row in stopped if row.outcome is not None]
    if not in_time:
        return EXIT_WAITED
    return codes[0] if first else next((code for code in codes if code), 0)

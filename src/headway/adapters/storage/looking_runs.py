"""What the onlookers read of runs, and the values in it."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, get_args

import msgspec

from headway.adapters.storage.database import Row
from headway.adapters.storage.rows import OF_A_RUN, checked, damaged_row
from headway.ports.onlooker import Claim, RunRow
from headway.ports.queue import Tally, TaskState

STATES: Final = "SELECT state, count(*) FROM tasks GROUP BY state"
CLAIMS: Final = (
    "SELECT run, owner, lease_until FROM tasks"
    " WHERE state = 'claimed' AND owner IS NOT NULL ORDER BY run"
)
TALLIES: Final = "SELECT run, tally FROM tasks WHERE state = 'resting' AND tally IS NOT NULL"
UNENDED: Final = "SELECT run FROM tasks WHERE state <> 'ended'"
LATEST: Final = (
    "SELECT run, state, workflow_id, goal FROM tasks ORDER BY submitted_at DESC, position DESC"
    " LIMIT ?"
)


def states_of(rows: Iterable[Row]) -> dict[TaskState, int]:
    """Return how many runs are in each state there is."""
    found = {str(state): int(count) for state, count in rows}
    known: tuple[TaskState, ...] = get_args(TaskState)
    return {state: found[state] for state in known if state in found}


def tally_of(row: Row) -> Tally:
    """Return what a run took until its rest. Raises SessionNotHealthy for what makes no sense."""
    run, tally = row
    try:
        return msgspec.json.decode(str(tally), type=Tally)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise damaged_row(run, str(error), OF_A_RUN) from error


def reasons_of(tallies: Iterable[Tally]) -> dict[str, int]:
    """Return how many runs rest for each reason."""
    return dict(Counter(each.reason for each in tallies if each.reason is not None))


def claim_of(row: Row) -> Claim:
    """Return a claim. Raises SessionNotHealthy for one that makes no sense."""
    run, owner, until = row
    try:
        held = {"run": run, "owner": msgspec.json.decode(str(owner)), "lease_until": until}
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise damaged_row(run, str(error), OF_A_RUN) from error
    return checked(Claim, held, run, OF_A_RUN)


def run_of(row: Row) -> RunRow:
    """Return a run. Raises SessionNotHealthy for a row that makes no sense."""
    return checked(RunRow, dict(zip(RunRow.__struct_fields__, row, strict=True)), row[0], OF_A_RUN)

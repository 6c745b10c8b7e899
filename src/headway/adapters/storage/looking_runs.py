"""What the onlookers read of runs, and the values in it."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, get_args

import msgspec

from headway.adapters.storage.database import Row
from headway.domain.errors import SessionNotHealthy
from headway.domain.runs.events import Owner
from headway.ports.onlooker import Claim, RunRow
from headway.ports.queue import Tally, TaskState

STATES: Final = "SELECT state, count(*) FROM tasks GROUP BY state"
CLAIMS: Final = (
    "SELECT run, owner, lease_until FROM tasks"
    " WHERE state = 'claimed' AND owner IS NOT NULL ORDER BY run"
)
TALLIES: Final = "SELECT tally FROM tasks WHERE state = 'resting' AND tally IS NOT NULL"
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


def reasons_of(rows: Iterable[Row]) -> dict[str, int]:
    """Return how many runs rest for each reason. Raises SessionNotHealthy for a damaged tally."""
    try:
        found = [msgspec.json.decode(str(row[0]), type=Tally).reason for row in rows]
    except msgspec.MsgspecError as error:
        raise _damaged(error) from error
    return dict(Counter(reason for reason in found if reason is not None))


def claims_of(rows: Iterable[Row]) -> tuple[Claim, ...]:
    """Return the claims. Raises SessionNotHealthy for an owner that makes no sense."""
    try:
        return tuple(
            Claim(
                run=str(run),
                owner=msgspec.json.decode(str(owner), type=Owner),
                lease_until=int(until),
            )
            for run, owner, until in rows
        )
    except msgspec.MsgspecError as error:
        raise _damaged(error) from error


def runs_of(rows: Iterable[Row]) -> tuple[RunRow, ...]:
    """Return the runs. Raises SessionNotHealthy for a row that makes no sense."""
    try:
        return tuple(
            msgspec.convert(dict(zip(RunRow.__struct_fields__, row, strict=True)), RunRow)
            for row in rows
        )
    except msgspec.ValidationError as error:
        raise _damaged(error) from error


def _damaged(error: msgspec.MsgspecError) -> SessionNotHealthy:
    return SessionNotHealthy(
        f"A row of the queue is damaged: {error}.",
        remedy="Restore the store from a backup; runs with sound rows are not affected.",
        details={"kind": "damaged_row"},
    )

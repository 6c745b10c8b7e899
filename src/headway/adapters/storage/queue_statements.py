"""The SQL texts of the queue.

Plain SQL that every supported database takes, with `?` for values.
"""

from typing import Final

_FIELDS: Final = (
    "run, workflow_id, workspace, goal, priority, dedupe, position, state, outcome, fence,"
    " owner, lease_until, submitted_at, updated_at"
)

# Keep a new row, unless an unfinished run has its dedupe key.
SUBMIT: Final = (
    "INSERT INTO tasks (run, workflow_id, workspace, goal, priority, dedupe, state, fence,"
    " lease_until, submitted_at, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?, 'queued', 0, 0, ?, ?) ON CONFLICT DO NOTHING RETURNING position"
)

# The run that has a dedupe key.
WITH_DEDUPE: Final = "SELECT run FROM tasks WHERE dedupe = ?"

# A row.
TASK: Final = f"SELECT {_FIELDS} FROM tasks WHERE run = ?"  # noqa: S608 - names of fields alone

# How many are claimed, in all and for a workspace.
CLAIMED: Final = "SELECT COUNT(*) FROM tasks WHERE state = 'claimed' AND lease_until > ?"

# A row that may be claimed: named, or the next in turn of a workspace that has room.
CLAIMABLE: Final = (
    " FROM tasks t WHERE (t.state = 'queued' OR (t.state = 'claimed' AND t.lease_until <= ?))"
)
THIS: Final = f"SELECT t.run{CLAIMABLE} AND t.run = ?"
NEXT: Final = (
    f"SELECT t.run{CLAIMABLE}"  # noqa: S608 - as above
    " AND (? < 0 OR (SELECT COUNT(*) FROM tasks c WHERE c.workspace = t.workspace"
    " AND c.state = 'claimed' AND c.lease_until > ?) < ?)"
    " ORDER BY t.priority DESC, t.position LIMIT 1"
)

# PostgreSQL: take the row for this transaction, waiting for others or leaving theirs to them.
WAIT_FOR_ROW: Final = " FOR UPDATE"
SKIP_HELD_ROWS: Final = " FOR UPDATE SKIP LOCKED"

# Claim a row.
CLAIM: Final = (
    "UPDATE tasks SET state = 'claimed', fence = fence + 1, owner = ?, lease_until = ?,"
    " updated_at = ? WHERE run = ? RETURNING fence"
)

# Prolong a lease; end one at once.
RENEW: Final = "UPDATE tasks SET lease_until = ? WHERE run = ? AND fence = ? AND state = 'claimed'"

# Hold a row, or one claimed with this fence, against every other claim until the transaction ends.
# The row is taken before its stream, always: two writes never wait for each other in a ring.
HOLD: Final = "UPDATE tasks SET updated_at = ? WHERE run = ?"
HOLD_CLAIMED: Final = (
    "UPDATE tasks SET updated_at = ? WHERE run = ? AND fence = ? AND state = 'claimed'"
)

# What becomes of a row with an append; a run that has ended keeps no dedupe key.
MOVE: Final = (
    "UPDATE tasks SET state = ?, outcome = ?, updated_at = ?,"
    " dedupe = CASE WHEN ? = 'ended' THEN NULL ELSE dedupe END WHERE run = ?"
)

# Rows by the beginning of their run's id.
FIND: Final = (
    f"SELECT {_FIELDS} FROM tasks"  # noqa: S608 - as above
    " WHERE run >= ? AND run < ? ORDER BY run LIMIT ?"
)


def tasks_in(states: int) -> str:
    """Return the text that reads the rows in some states, the last submitted first."""
    marks = ", ".join("?" * states)
    return (
        f"SELECT {_FIELDS} FROM tasks"  # noqa: S608 - as above, and question marks
        f" WHERE state IN ({marks}) ORDER BY position DESC LIMIT ?"
    )

"""The SQL texts of the queue.

Plain SQL that every supported database takes, with `?` for values.
"""

from dataclasses import dataclass
from typing import Final

_FIELDS: Final = (
    "run, workflow_id, workspace, goal, priority, dedupe, position, state, outcome, fence,"
    " owner, lease_until, submitted_at, updated_at, tally, provider"
)

# Keep a new row, unless an unfinished run has its dedupe key.
SUBMIT: Final = (
    "INSERT INTO tasks (run, workflow_id, workspace, goal, priority, dedupe, state, fence,"
    " lease_until, submitted_at, updated_at, provider)"
    " VALUES (?, ?, ?, ?, ?, ?, 'queued', 0, 0, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING position"
)

# The run that has a dedupe key, or an id.
DUPLICATE: Final = "SELECT run FROM tasks WHERE dedupe = ? OR run = ?"

# A row.
TASK: Final = f"SELECT {_FIELDS} FROM tasks WHERE run = ?"  # noqa: S608 - names of fields alone

# How many are claimed, in all and for a workspace.
CLAIMED: Final = "SELECT COUNT(*) FROM tasks WHERE state = 'claimed' AND lease_until > ?"

# A row that may be claimed: named, or the next in turn of a workspace that has room.
CLAIMABLE: Final = (
    " FROM tasks t WHERE (t.state = 'queued' OR (t.state = 'claimed' AND t.lease_until <= ?))"
)
THIS: Final = f"SELECT t.run{CLAIMABLE} AND t.run = ?"
_ROOM: Final = (
    " AND (? < 0 OR (SELECT COUNT(*) FROM tasks c WHERE c.workspace = t.workspace"
    " AND c.state = 'claimed' AND c.lease_until > ?) < ?)"
)
_FIRST: Final = " ORDER BY t.priority DESC, t.position LIMIT 1"


@dataclass(frozen=True, slots=True)
class Manners:
    """What a database with many writers at once is asked besides; one with a single writer nothing.

    `wait` and `skip` take the row for the transaction, waiting for others or leaving theirs to
    them. `alone` has claims that name a bound come one after the other, so that each counts those
    before it. `ring` tells workers on every machine, when the transaction is committed.
    """

    wait: str = ""
    skip: str = ""
    alone: str = ""
    ring: str = ""


ONE_WRITER: Final = Manners()
CHANNEL: Final = "headway_queue"
MANY_WRITERS: Final = Manners(
    wait=" FOR UPDATE",
    skip=" FOR UPDATE SKIP LOCKED",
    alone="SELECT pg_advisory_xact_lock(7238112, hashtext(current_schema()))",
    ring=f"SELECT pg_notify('{CHANNEL}', current_schema())",
)

# Claim a row.
CLAIM: Final = (
    "UPDATE tasks SET state = 'claimed', fence = fence + 1, owner = ?, lease_until = ?,"
    " updated_at = ? WHERE run = ? RETURNING fence"
)

# Prolong a lease; end one at once.
RENEW: Final = "UPDATE tasks SET lease_until = ? WHERE run = ? AND fence = ? AND state = 'claimed'"

# Have a row wait again that is held with this fence.
HAND_BACK: Final = (
    "UPDATE tasks SET state = 'queued', lease_until = 0, updated_at = ?"
    " WHERE run = ? AND fence = ? AND state = 'claimed'"
)

# The processes whose leases stand; end all those of one.
HOLDERS: Final = (
    "SELECT owner, COUNT(*) FROM tasks WHERE state = 'claimed' AND lease_until > ?"
    " AND owner IS NOT NULL GROUP BY owner ORDER BY owner"
)
EXPIRE_ALL: Final = "UPDATE tasks SET lease_until = 0 WHERE state = 'claimed' AND owner = ?"

# Hold a row, or one claimed with this fence, against every other claim until the transaction ends.
# The row is taken before its stream, always: two writes never wait for each other in a ring.
HOLD: Final = "UPDATE tasks SET updated_at = ? WHERE run = ?"
HOLD_CLAIMED: Final = (
    "UPDATE tasks SET updated_at = ? WHERE run = ? AND fence = ? AND state = 'claimed'"
)

# What becomes of a row with an append; a run that has ended keeps no dedupe key.
MOVE: Final = (
    "UPDATE tasks SET state = ?, outcome = ?, updated_at = ?, tally = COALESCE(?, tally),"
    " dedupe = CASE WHEN ? = 'ended' THEN NULL ELSE dedupe END WHERE run = ?"
)

# The rows that are queued, in an order that is the same for all who hold them.
QUEUED: Final = f"SELECT {_FIELDS} FROM tasks WHERE state = 'queued' ORDER BY run"  # noqa: S608 - as above

# The queued rows that are next in turn.
QUEUED_IN_TURN: Final = (
    f"SELECT {_FIELDS} FROM tasks"  # noqa: S608 - as above
    " WHERE state = 'queued' ORDER BY priority DESC, position LIMIT ?"
)

# Give a row another position. Positions are unique: all that move first step out of the way.
STEP_ASIDE: Final = "UPDATE tasks SET position = -position WHERE run = ?"
REPOSITION: Final = "UPDATE tasks SET priority = ?, position = ?, updated_at = ? WHERE run = ?"

# A row that nobody can go on with, by its run or, where that cannot be named, its position.
_END_AS_FAILED: Final = (
    "UPDATE tasks SET state = 'ended', outcome = 'error', dedupe = NULL, updated_at = ? WHERE"
)
SET_ASIDE: Final = f"{_END_AS_FAILED} run = ?"
SET_ASIDE_AT: Final = f"{_END_AS_FAILED} position = ?"

# Rows by the beginning of their run's id.
FIND: Final = (
    f"SELECT {_FIELDS} FROM tasks"  # noqa: S608 - as above
    " WHERE run >= ? AND run < ? ORDER BY run LIMIT ?"
)


def next_in_turn(without: int) -> str:
    """Return the text that finds the next row in turn, but for those of so many providers.

    The values are the time, the providers, the bound of a workspace, the time, the bound.
    """
    marks = ", ".join("?" * without)
    others = f" AND (t.provider IS NULL OR t.provider NOT IN ({marks}))" if without else ""
    return f"SELECT t.run, t.position{CLAIMABLE}{others}{_ROOM}{_FIRST}"


def tasks_in(states: int, *equal: str) -> str:
    """Return the text that reads the rows in some states, or any, the last submitted first.

    `equal` names fields that have to have a value. The values are those of the states, the moment
    of submission, the fields, the limit.
    """
    stands = f"state IN ({', '.join('?' * states)}) AND " if states else ""
    wanted = "".join(f" AND {name} = ?" for name in equal)
    return (
        f"SELECT {_FIELDS} FROM tasks"  # noqa: S608 - as above, and question marks
        f" WHERE {stands}submitted_at >= ?{wanted}"
        " ORDER BY submitted_at DESC, position DESC LIMIT ?"
    )

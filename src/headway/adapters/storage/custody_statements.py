"""The SQL texts of custody: whole streams looked at, placed, mended and removed.

Plain SQL that every supported database takes, with `?` for values.
"""

from typing import Final

# The names of all streams.
STREAMS: Final = "SELECT name FROM streams ORDER BY name"

# Where every stream stands, by id.
STREAM_ENDS: Final = "SELECT id, name, version FROM streams ORDER BY id"

# A stream's end with its summary, then with each of its attempts: one statement sees one state.
STANDING: Final = (
    "SELECT 0 AS part, s.version, s.head_hash, s.name, x.workflow, x.workflow_id, x.workflow_name,"
    " x.goal, x.workspace, x.repository, x.branch, x.git_head, x.status, x.step_id, x.step_title,"
    " x.nonce, x.depth, x.recap, x.started_at, x.updated_at, x.stream,"
    " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    " FROM streams s LEFT JOIN sessions x ON x.stream = s.id WHERE s.name = ?"
    " UNION ALL "
    "SELECT 1, s.version, s.head_hash, s.name, NULL, NULL, NULL,"
    " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
    " NULL, NULL, NULL, NULL, NULL, NULL,"
    " a.nonce, a.node, a.attempt, a.opened_at, a.blocks, a.outcome_at, a.checkpoint_at, a.checks_at"
    " FROM streams s JOIN attempts a ON a.stream = s.id WHERE s.name = ?"
)

# The gates of a stream that wait, in order.
GATES: Final = (
    "SELECT g.version, g.nonce, g.recorded_at FROM gates g"
    " WHERE g.stream = (SELECT s.id FROM streams s WHERE s.name = ?) ORDER BY g.version"
)

# Some events of a stream, in order.
EVENTS: Final = (
    "SELECT e.version, e.recorded_at, e.hash, e.data FROM events e"
    " WHERE e.stream = (SELECT s.id FROM streams s WHERE s.name = ?)"
    " AND e.version > ? ORDER BY e.version LIMIT ?"
)

# The bytes of some events of a stream, in order.
EVENT_BYTES: Final = (
    "SELECT version, data FROM events WHERE stream = ? AND version > ? ORDER BY version LIMIT ?"
)

# The names of all blobs.
BLOBS: Final = "SELECT digest FROM blobs"

# What stands without a stream, counted.
STRAYS: Final = (
    (
        "event",
        "SELECT COUNT(*) FROM events e LEFT JOIN streams s ON s.id = e.stream WHERE s.id IS NULL",
    ),
    (
        "attempt",
        "SELECT COUNT(*) FROM attempts a LEFT JOIN streams s ON s.id = a.stream WHERE s.id IS NULL",
    ),
    (
        "summary",
        "SELECT COUNT(*) FROM sessions x LEFT JOIN streams s ON s.id = x.stream WHERE s.id IS NULL",
    ),
    (
        "waiting word",
        (
            "SELECT COUNT(*) FROM unsearched u"
            " LEFT JOIN streams s ON s.id = u.stream WHERE s.id IS NULL"
        ),
    ),
    (
        "searched word",
        (
            "SELECT COUNT(*) FROM searched w"
            " LEFT JOIN streams s ON s.id = w.id >> 20 WHERE s.id IS NULL"
        ),
    ),
    (
        "gate",
        "SELECT COUNT(*) FROM gates g LEFT JOIN streams s ON s.id = g.stream WHERE s.id IS NULL",
    ),
    (
        "queue",
        (
            "SELECT COUNT(*) FROM tasks t"
            " LEFT JOIN streams s ON s.name = 'run:' || t.run WHERE s.id IS NULL"
        ),
    ),
)

# PostgreSQL: hold the blobs against everyone who adds some, until the transaction ends.
HOLD_BLOBS: Final = "LOCK TABLE blobs IN EXCLUSIVE MODE"

# Remove an attempt; all attempts, gates, summary and events of a stream; the stream; a blob.
DROP_ATTEMPT: Final = "DELETE FROM attempts WHERE nonce = ?"
DROP_ATTEMPTS: Final = "DELETE FROM attempts WHERE stream = ?"
DROP_GATES: Final = "DELETE FROM gates WHERE stream = ?"
DROP_SUMMARY: Final = "DELETE FROM sessions WHERE stream = ?"
DROP_EVENTS: Final = "DELETE FROM events WHERE stream = ?"
DROP_STREAM: Final = "DELETE FROM streams WHERE id = ?"
DROP_BLOB: Final = "DELETE FROM blobs WHERE digest = ?"

# What a run's row in the queue says of its stream.
TASK: Final = "SELECT state, outcome, fence, tally FROM tasks WHERE run = ?"

# Remove the row of a run that has ended.
DROP_ENDED_TASK: Final = "DELETE FROM tasks WHERE run = ? AND state = 'ended'"

# Keep a tombstone, and the keys of the attempts that go with it.
BURY: Final = "INSERT INTO tombstones (session, purged_at, reason) VALUES (?, ?, ?)"
BURY_ATTEMPTS: Final = (
    "INSERT INTO buried (nonce, tombstone)"
    " SELECT a.nonce, t.id FROM attempts a, tombstones t WHERE a.stream = ? AND t.session = ?"
)

# The tombstone of a session, or of a purged attempt.
TOMBSTONE: Final = "SELECT session, purged_at, reason FROM tombstones WHERE session = ?"
TOMBSTONE_OF: Final = (
    "SELECT t.session, t.purged_at, t.reason"
    " FROM buried b JOIN tombstones t ON t.id = b.tombstone WHERE b.nonce = ?"
)

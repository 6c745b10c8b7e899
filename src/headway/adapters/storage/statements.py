"""The SQL texts of the hot paths, each with what it is for.

Plain SQL that every supported database takes, with `?` for values.
"""

from functools import lru_cache
from typing import Final

# Where a stream stands: its id, version and last hash.
STREAM_HEAD: Final = "SELECT id, version, head_hash FROM streams WHERE name = ?"

# The same, with the hash of the event that is last in fact.
STREAM_END: Final = (
    "SELECT s.id, s.version, s.head_hash, e.hash FROM streams s"
    " LEFT JOIN events e ON e.stream = s.id AND e.version = s.version WHERE s.name = ?"
)

# Hold a stream until the transaction ends; what is read of it afterwards stays as it is.
HOLD_STREAM: Final = "UPDATE streams SET version = version WHERE name = ?"

# Begin a stream at the version its first append reaches, unless another append was first.
BEGIN_STREAM: Final = (
    "INSERT INTO streams (name, version, head_hash) VALUES (?, ?, ?)"
    " ON CONFLICT (name) DO NOTHING RETURNING id"
)

# Move a stream on, unless another append was first. The id of a purged one may name another by now,
# and of a store that was restored the version another event.
MOVE_STREAM: Final = (
    "UPDATE streams SET version = ?, head_hash = ?"
    " WHERE id = ? AND version = ? AND head_hash = ? AND name = ?"
)

# Keep an event.
KEEP_EVENT: Final = (
    "INSERT INTO events (stream, version, recorded_at, hash, data) VALUES (?, ?, ?, ?, ?)"
)

# The proof of one event.
EVENT_HASH: Final = (
    "SELECT e.hash FROM streams s JOIN events e ON e.stream = s.id"
    " WHERE s.name = ? AND e.version = ?"
)

# Keep a blob unless it is there.
KEEP_BLOB: Final = "INSERT INTO blobs (digest, data) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"

# Keep an attempt; what it is stays, what became of it is replaced.
KEEP_ATTEMPT: Final = (
    "INSERT INTO attempts"
    " (nonce, stream, node, attempt, opened_at, blocks, outcome_at, checkpoint_at, checks_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (nonce) DO UPDATE SET"
    " opened_at = excluded.opened_at, blocks = excluded.blocks, outcome_at = excluded.outcome_at,"
    " checkpoint_at = excluded.checkpoint_at, checks_at = excluded.checks_at"
)

# Keep a fresh attempt unless it is there.
MINT_ATTEMPT: Final = (
    "INSERT INTO attempts"
    " (nonce, stream, node, attempt, opened_at, blocks, outcome_at, checkpoint_at, checks_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (nonce) DO NOTHING"
)

# Keep a session's summary; what it began with stays, how far it has come is replaced.
KEEP_SUMMARY: Final = (
    "INSERT INTO sessions (stream, workflow, workflow_id, workflow_name, goal, workspace,"
    " repository, branch, git_head, status, step_id, step_title, nonce, depth, recap,"
    " started_at, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (stream) DO UPDATE SET"
    " status = excluded.status, step_id = excluded.step_id, step_title = excluded.step_title,"
    " nonce = excluded.nonce, depth = excluded.depth, recap = excluded.recap,"
    " updated_at = excluded.updated_at"
)

# Summaries of sessions, the stream's name in the place of its session.
SUMMARIES: Final = (
    "SELECT s.name, x.workflow, x.workflow_id, x.workflow_name, x.goal, x.workspace, x.repository,"
    " x.branch, x.git_head, x.status, x.step_id, x.step_title, x.nonce, x.depth, x.recap,"
    " x.started_at, x.updated_at FROM sessions x JOIN streams s ON s.id = x.stream"
)

# A session's summary.
SUMMARY: Final = f"{SUMMARIES} WHERE s.name = ?"

# The head read: an attempt, its stream's name and version.
HEAD: Final = (
    "SELECT s.version, a.nonce, s.name, a.node, a.attempt, a.opened_at, a.blocks, a.outcome_at,"
    " a.checkpoint_at, a.checks_at"
    " FROM attempts a JOIN streams s ON s.id = a.stream WHERE a.nonce = ?"
)

# The attempts on a node, ended ones first.
ATTEMPTS_ON: Final = (
    "SELECT a.nonce, s.name, a.node, a.attempt, a.opened_at, a.blocks, a.outcome_at,"
    " a.checkpoint_at, a.checks_at"
    " FROM streams s JOIN attempts a ON a.stream = s.id WHERE s.name = ? AND a.node = ?"
    " ORDER BY a.outcome_at IS NULL, a.outcome_at, a.nonce"
)

# How a node stands, as any attempt on it has it.
STANDING: Final = "SELECT opened_at FROM attempts WHERE stream = ? AND node = ? LIMIT 1"

# A node stands otherwise from now on, for every attempt on it.
MOVE_STANDING: Final = "UPDATE attempts SET opened_at = ? WHERE stream = ? AND node = ?"

# Keep a gate that waits.
KEEP_GATE: Final = "INSERT INTO gates (stream, version, nonce, recorded_at) VALUES (?, ?, ?, ?)"

# A gate waits no longer.
CLOSE_GATE: Final = "DELETE FROM gates WHERE stream = ? AND version = ?"

# The gates that wait, the longest first.
GATES: Final = (
    "SELECT s.name, g.version, g.nonce, g.recorded_at"
    " FROM gates g JOIN streams s ON s.id = g.stream"
    " ORDER BY g.recorded_at, s.name, g.version LIMIT ?"
)

# All events from a version on, and the stream's own idea of its end, as one state of the database.
SCAN: Final = (
    "SELECT e.version, e.recorded_at, e.hash, e.data, s.version, s.head_hash"
    " FROM streams s LEFT JOIN events e ON e.stream = s.id AND e.version >= ?"
    " WHERE s.name = ? ORDER BY e.version"
)

# A blob.
BLOB: Final = "SELECT data FROM blobs WHERE digest = ?"

# The live keys, the signing one first.
KEYS: Final = "SELECT key FROM keys ORDER BY position"

# Keep the first key unless another process was first.
FIRST_KEY: Final = (
    "INSERT INTO keys (position, key) VALUES (0, ?) ON CONFLICT (position) DO NOTHING"
)

# Have the keys for this transaction alone until it ends.
HOLD_KEYS: Final = "UPDATE keys SET key = key WHERE position = 0"

# Put a key in its place.
KEEP_KEY: Final = (
    "INSERT INTO keys (position, key) VALUES (?, ?)"
    " ON CONFLICT (position) DO UPDATE SET key = excluded.key"
)

# The attached folders.
SOURCES: Final = "SELECT path FROM sources ORDER BY position"

# Attach a folder unless it is attached.
ATTACH: Final = "INSERT INTO sources (path) VALUES (?) ON CONFLICT (path) DO NOTHING"

# Detach a folder.
DETACH: Final = "DELETE FROM sources WHERE path = ?"

# The git repositories, in the order they were added.
GIT_SOURCES: Final = "SELECT id, url, ref, path, pin FROM git_sources ORDER BY position"

# Keep a repository, in the place of one with its id.
PIN: Final = (
    "INSERT INTO git_sources (id, url, ref, path, pin) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (id) DO UPDATE SET url = excluded.url, ref = excluded.ref, path = excluded.path,"
    " pin = excluded.pin"
)

# Forget a repository.
DROP: Final = "DELETE FROM git_sources WHERE id = ?"


@lru_cache(maxsize=128)
def read_events(count: int) -> str:
    """Return the text that reads `count` events of a stream, each with the hash before it.

    In front of each stands the stream's id.
    """
    marks = ", ".join("?" * count)
    return (  # question marks alone are put in
        "SELECT s.id, e.version, e.recorded_at, e.hash, e.data, p.hash"  # noqa: S608
        " FROM streams s JOIN events e ON e.stream = s.id"
        " LEFT JOIN events p ON p.stream = e.stream AND p.version = e.version - 1"
        f" WHERE s.name = ? AND e.version IN ({marks})"
    )

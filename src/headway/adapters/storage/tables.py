"""The tables, the same for every database. A change here is one of `schema.py`.

Streams have short integer ids, so that their names stand in one place. A stream's row holds its
version and the hash of its last event: the compare-and-set of every append. An event's predecessor
is found by its version, so its hash is stored once. Byte strings are raw, never their text.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

METADATA: Final = MetaData()

# SQLite has one kind of integer, and its short ids must be called so.
NUMBER: Final = BigInteger().with_variant(Integer(), "sqlite")
# Compared by code point everywhere, whatever the language of the server.
TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")

# What the store says of itself: `ledger` (its id) and `schema` (its version).
META: Final = Table(
    "meta",
    METADATA,
    Column("name", TEXT, primary_key=True),
    Column("value", TEXT, nullable=False),
)

STREAMS: Final = Table(
    "streams",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("name", TEXT, nullable=False, unique=True),
    Column("version", NUMBER, nullable=False),
    Column("head_hash", LargeBinary, nullable=False),
)

# `hash` stands before `data`, so that checking the next event need not read a long one.
EVENTS: Final = Table(
    "events",
    METADATA,
    Column("stream", NUMBER, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
    Column("version", NUMBER, primary_key=True, autoincrement=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# `digest` is the 32 bytes of the SHA-256.
BLOBS: Final = Table(
    "blobs",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

# Small rows found by a random key: the key's tree is the table where the database can do that.
ATTEMPTS: Final = Table(
    "attempts",
    METADATA,
    Column("nonce", LargeBinary, primary_key=True),
    Column("stream", NUMBER, ForeignKey("streams.id"), nullable=False),
    Column("node", TEXT, nullable=False),
    Column("attempt", TEXT, nullable=False),
    Column("opened_at", NUMBER, nullable=False),
    Column("blocks", NUMBER, nullable=False),
    Column("outcome_at", NUMBER),
    Column("checkpoint_at", NUMBER),
    Column("checks_at", NUMBER),
    Index("attempts_by_node", "stream", "node"),
    sqlite_with_rowid=False,
)

SESSIONS: Final = Table(
    "sessions",
    METADATA,
    Column("stream", NUMBER, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
    Column("workflow", TEXT, nullable=False),
    Column("workflow_id", TEXT, nullable=False),
    Column("workflow_name", TEXT, nullable=False),
    Column("goal", TEXT, nullable=False),
    Column("workspace", TEXT, nullable=False),
    Column("repository", TEXT),
    Column("branch", TEXT),
    Column("git_head", TEXT),
    Column("status", TEXT, nullable=False),
    Column("step_id", TEXT),
    Column("step_title", TEXT),
    Column("nonce", LargeBinary, nullable=False),
    Column("depth", NUMBER, nullable=False),
    Column("recap", TEXT, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("sessions_by_time", "updated_at"),
    Index("sessions_by_workspace", "workspace"),
    Index("sessions_by_repository", "repository"),
    Index("sessions_by_branch", "branch"),
    Index("sessions_by_git_head", "git_head"),
)

# The gates that wait: a row goes when its gate is decided, so there are never many.
GATES: Final = Table(
    "gates",
    METADATA,
    Column("stream", NUMBER, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
    Column("version", NUMBER, primary_key=True, autoincrement=False),
    Column("nonce", LargeBinary, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Index("gates_by_time", "recorded_at"),
)

# The words of appends that wait to be folded into the index, parted by blanks.
UNSEARCHED: Final = Table(
    "unsearched",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("stream", NUMBER, ForeignKey("streams.id"), nullable=False),
    Column("words", TEXT, nullable=False),
    Index("unsearched_by_stream", "stream"),
)

# The words of an entry of the search index; `id` is that of its stream and its number there.
SEARCHED: Final = Table(
    "searched",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=False),
    Column("words", LargeBinary().with_variant(TSVECTOR(), "postgresql"), nullable=False),
)

# What each product has of its own for full text; made after the tables. `search_terms` tells what
# stands in `search`.
FULL_TEXT: Final = {
    "sqlite": (
        (
            "CREATE VIRTUAL TABLE search USING fts5"
            "(words, content='', detail=none, columnsize=0, tokenize='ascii')"
        ),
        "CREATE VIRTUAL TABLE search_terms USING fts5vocab('search', 'row')",
    ),
    "postgresql": (
        "CREATE INDEX searched_by_words ON searched USING gin (words) WITH (fastupdate = off)",
    ),
}

# `position` 0 is the key that signs, 1 the one before it.
KEYS: Final = Table(
    "keys",
    METADATA,
    Column("position", NUMBER, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, nullable=False),
)

SOURCES: Final = Table(
    "sources",
    METADATA,
    Column("position", NUMBER, primary_key=True),
    Column("path", TEXT, nullable=False, unique=True),
)

# Git repositories of workflow files; `pin` is the commit that is used.
GIT_SOURCES: Final = Table(
    "git_sources",
    METADATA,
    Column("position", NUMBER, primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("url", TEXT, nullable=False),
    Column("ref", TEXT, nullable=False),
    Column("path", TEXT, nullable=False),
    Column("pin", TEXT, nullable=False),
)

# The queue: one row for each run, kept when it has ended. `dedupe` goes with the end of its run.
TASKS: Final = Table(
    "tasks",
    METADATA,
    Column("position", NUMBER, primary_key=True),
    Column("run", TEXT, nullable=False, unique=True),
    Column("workflow_id", TEXT, nullable=False),
    Column("workspace", TEXT, nullable=False),
    Column("goal", TEXT, nullable=False),
    Column("priority", NUMBER, nullable=False),
    Column("dedupe", TEXT, unique=True),
    Column("state", TEXT, nullable=False),
    Column("outcome", TEXT),
    Column("fence", NUMBER, nullable=False),
    Column("owner", TEXT),
    Column("lease_until", BigInteger, nullable=False),
    Column("submitted_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("tally", TEXT),
    Column("provider", TEXT),
    Index("tasks_by_turn", "state", "priority", "position"),
)

# What stays of a purged session.
TOMBSTONES: Final = Table(
    "tombstones",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("session", TEXT, nullable=False, unique=True),
    Column("purged_at", BigInteger, nullable=False),
    Column("reason", TEXT, nullable=False),
)

# The keys of purged attempts, so that their tokens can be told what became of them.
BURIED: Final = Table(
    "buried",
    METADATA,
    Column("nonce", LargeBinary, primary_key=True),
    Column("tombstone", NUMBER, ForeignKey("tombstones.id"), nullable=False),
    sqlite_with_rowid=False,
)

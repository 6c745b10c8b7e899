"""Version 1: streams, events, blobs, attempts, sessions, keys, sources."""

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, Text

revision = "1"
down_revision = None

NUMBER = BigInteger().with_variant(Integer(), "sqlite")
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    _streams()
    _sessions()
    _others()


def _streams() -> None:
    op.create_table(
        "streams",
        Column("id", NUMBER, primary_key=True),
        Column("name", TEXT, nullable=False, unique=True),
        Column("version", NUMBER, nullable=False),
        Column("head_hash", LargeBinary, nullable=False),
    )
    op.create_table(
        "events",
        Column("stream", NUMBER, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
        Column("version", NUMBER, primary_key=True, autoincrement=False),
        Column("recorded_at", BigInteger, nullable=False),
        Column("hash", LargeBinary, nullable=False),
        Column("data", LargeBinary, nullable=False),
    )
    op.create_table(
        "blobs",
        Column("digest", LargeBinary, primary_key=True),
        Column("data", LargeBinary, nullable=False),
    )
    op.create_table(
        "attempts",
        Column("nonce", LargeBinary, primary_key=True),
        Column("stream", NUMBER, ForeignKey("streams.id"), nullable=False),
        Column("node", TEXT, nullable=False),
        Column("attempt", TEXT, nullable=False),
        Column("opened_at", NUMBER, nullable=False),
        Column("blocks", NUMBER, nullable=False),
        Column("outcome_at", NUMBER),
        Column("checkpoint_at", NUMBER),
        Column("checks_at", NUMBER),
        sqlite_with_rowid=False,
    )
    op.create_index("attempts_by_node", "attempts", ["stream", "node"])


def _sessions() -> None:
    op.create_table(
        "sessions",
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
    )
    op.create_index("sessions_by_time", "sessions", ["updated_at"])
    op.create_index("sessions_by_workspace", "sessions", ["workspace"])
    op.create_index("sessions_by_repository", "sessions", ["repository"])
    op.create_index("sessions_by_branch", "sessions", ["branch"])
    op.create_index("sessions_by_git_head", "sessions", ["git_head"])


def _others() -> None:
    op.create_table(
        "meta",
        Column("name", TEXT, primary_key=True),
        Column("value", TEXT, nullable=False),
    )
    op.create_table(
        "keys",
        Column("position", NUMBER, primary_key=True, autoincrement=False),
        Column("key", LargeBinary, nullable=False),
    )
    op.create_table(
        "sources",
        Column("position", NUMBER, primary_key=True),
        Column("path", TEXT, nullable=False, unique=True),
    )

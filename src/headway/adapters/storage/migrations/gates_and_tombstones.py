"""Version 2: the gates that wait, and what stays of purged sessions."""

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, Text

revision = "2"
down_revision = "1"

NUMBER = BigInteger().with_variant(Integer(), "sqlite")
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "gates",
        Column("stream", NUMBER, ForeignKey("streams.id"), primary_key=True, autoincrement=False),
        Column("version", NUMBER, primary_key=True, autoincrement=False),
        Column("nonce", LargeBinary, nullable=False),
        Column("recorded_at", BigInteger, nullable=False),
    )
    op.create_index("gates_by_time", "gates", ["recorded_at"])
    op.create_table(
        "tombstones",
        Column("id", NUMBER, primary_key=True),
        Column("session", TEXT, nullable=False, unique=True),
        Column("purged_at", BigInteger, nullable=False),
        Column("reason", TEXT, nullable=False),
    )
    op.create_table(
        "buried",
        Column("nonce", LargeBinary, primary_key=True),
        Column("tombstone", NUMBER, ForeignKey("tombstones.id"), nullable=False),
        sqlite_with_rowid=False,
    )

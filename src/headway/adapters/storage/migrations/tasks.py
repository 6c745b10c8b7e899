"""Version 5: the queue of runs."""

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, Text

revision = "5"
down_revision = "4"

NUMBER = BigInteger().with_variant(Integer(), "sqlite")
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "tasks",
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
    )
    op.create_index("tasks_by_turn", "tasks", ["state", "priority", "position"])

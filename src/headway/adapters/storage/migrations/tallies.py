"""Version 6: what a run took stands in its row once it rests or has ended."""

from alembic import op
from sqlalchemy import Column, Text

revision = "6"
down_revision = "5"

TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("tasks", Column("tally", TEXT))

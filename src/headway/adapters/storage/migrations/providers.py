"""Version 7: the provider of a run's model stands in its row, so that a claim can leave it out."""

from alembic import op
from sqlalchemy import Column, Text

revision = "7"
down_revision = "6"

TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("tasks", Column("provider", TEXT))

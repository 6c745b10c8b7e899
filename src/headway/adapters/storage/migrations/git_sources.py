"""Version 4: git repositories of workflow files."""

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, Text

revision = "4"
down_revision = "3"

NUMBER = BigInteger().with_variant(Integer(), "sqlite")
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "git_sources",
        Column("position", NUMBER, primary_key=True),
        Column("id", TEXT, nullable=False, unique=True),
        Column("url", TEXT, nullable=False),
        Column("ref", TEXT, nullable=False),
        Column("path", TEXT, nullable=False),
        Column("pin", TEXT, nullable=False),
    )

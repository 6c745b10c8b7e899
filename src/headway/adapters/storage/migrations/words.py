"""Version 3: the words that sessions are found by, taken from what is recorded."""

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import TSVECTOR

from headway.domain.errors import SessionNotHealthy
from headway.domain.event_codec import decode
from headway.domain.events import AdvanceBlocked, GateOpened, SessionStarted, StepAdvanced
from headway.domain.words import words_of

revision = "3"
down_revision = "2"

NUMBER = BigInteger().with_variant(Integer(), "sqlite")
TEXT = Text().with_variant(Text(collation="C"), "postgresql")
WORDS = LargeBinary().with_variant(TSVECTOR(), "postgresql")
PAGE = 500


def upgrade() -> None:
    op.create_table(
        "unsearched",
        Column("id", NUMBER, primary_key=True),
        Column("stream", NUMBER, ForeignKey("streams.id"), nullable=False),
        Column("words", TEXT, nullable=False),
    )
    op.create_index("unsearched_by_stream", "unsearched", ["stream"])
    op.create_table(
        "searched",
        Column("id", NUMBER, primary_key=True, autoincrement=False),
        Column("words", WORDS, nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE search USING fts5"
            "(words, content='', detail=none, columnsize=0, tokenize='ascii')"
        )
        op.execute("CREATE VIRTUAL TABLE search_terms USING fts5vocab('search', 'row')")
    else:
        op.execute(
            "CREATE INDEX searched_by_words ON searched USING gin (words) WITH (fastupdate = off)"
        )
    _take_words()


def _take_words() -> None:
    """Have every session's words wait for the next fold; what is damaged has none."""
    core = op.get_bind()
    sessions = core.execute(text("SELECT stream, workflow_name FROM sessions ORDER BY stream"))
    for stream, name in sessions.all():
        found, after = set(words_of(str(name))), 0
        while True:
            rows = core.execute(
                text(
                    "SELECT version, data FROM events WHERE stream = :stream AND version > :after"
                    " ORDER BY version LIMIT :page"
                ),
                {"stream": stream, "after": after, "page": PAGE},
            ).all()
            for row in rows:
                found |= _words(row.data)
            if len(rows) < PAGE:
                break
            after = rows[-1].version
        core.execute(
            text("INSERT INTO unsearched (stream, words) VALUES (:stream, :words)"),
            {"stream": stream, "words": " ".join(sorted(found))},
        )


def _words(stored: bytes) -> frozenset[str]:
    try:
        event = decode(stored)
    except SessionNotHealthy:
        return frozenset()  # `headway verify` names it
    if isinstance(event, SessionStarted):
        return words_of(f"{event.goal}\n{event.workflow_id}")
    if not isinstance(event, StepAdvanced | AdvanceBlocked | GateOpened):
        return frozenset()
    notes = event.output.notes
    if notes is None or not notes.blob:
        return words_of(str(notes.inline)) if notes else frozenset()
    digest = bytes.fromhex(notes.digest.removeprefix("sha256:"))
    query = text("SELECT data FROM blobs WHERE digest = :digest")
    data = op.get_bind().execute(query, {"digest": digest}).scalar()
    return words_of(data.decode(errors="replace")) if isinstance(data, bytes) else frozenset()

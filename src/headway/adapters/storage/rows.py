"""Rows to values and back: the edge where what a driver returns becomes a checked value."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import msgspec

from headway.adapters.storage.database import Cursor, Row, SqlValue
from headway.adapters.storage.store_faults import DAMAGED_ROW
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import Digest, SessionId, StreamId, session_stream
from headway.domain.tokens import NONCE_BYTES
from headway.ports.ledger import AttemptRow, Head
from headway.ports.listing import Listing
from headway.ports.sessions import GateRow, SessionSummary

T = TypeVar("T")

DIGEST_PREFIX: Final = "sha256:"
NAME_SHOWN_MAX: Final = 100

# What can be done about a damaged row, by what it belongs to.
OF_A_SESSION: Final = (
    "`headway rebuild` makes it anew from the events of its session; others are not affected."
)
OF_A_RUN: Final = "Restore the store from a backup; runs with sound rows are not affected."
OF_A_SOURCE: Final = "Attach the folder, or add the repository, once more."

_SESSION_PREFIX: Final = session_stream(SessionId(""))
_ATTEMPT_FIELDS: Final = AttemptRow.__struct_fields__
_GATE_FIELDS: Final = GateRow.__struct_fields__
_SUMMARY_FIELDS: Final = SessionSummary.__struct_fields__


def attempt_of(row: Row) -> AttemptRow:
    """Return an attempt from its fields in order, the stream's name in the place of its session."""
    nonce, stream, *rest = row
    session = session_of(stream)
    return _value(AttemptRow, _ATTEMPT_FIELDS, (nonce, session, *rest), session)


def head_of(row: Row) -> Head:
    """Return an attempt from its fields in order, after the version of its stream."""
    version, *fields = row
    attempt = attempt_of(tuple(fields))
    return _value(Head, ("version", "row"), (version, attempt), attempt.session)


def attempt_values(stream: int, row: AttemptRow) -> tuple[SqlValue, ...]:
    """Return the values of an attempt's row."""
    return (
        row.nonce,
        stream,
        row.node,
        row.attempt,
        row.opened_at,
        row.blocks,
        row.outcome_at,
        row.checkpoint_at,
        row.checks_at,
    )


def summary_of(row: Row) -> SessionSummary:
    """Return a summary from its fields in order, the stream's name in the place of its session."""
    stream, *rest = row
    session = session_of(stream)
    summary = _value(SessionSummary, _SUMMARY_FIELDS, (session, *rest), session)
    if summary.nonce:  # where no step applied there is none
        _check_nonce(summary.nonce, summary.session)
    return summary


def summary_values(stream: int, summary: SessionSummary, now_ms: int) -> tuple[SqlValue, ...]:
    """Return the values of a session's row, touched now."""
    return (
        stream,
        summary.workflow,
        summary.workflow_id,
        summary.workflow_name,
        summary.goal,
        summary.workspace,
        summary.repository,
        summary.branch,
        summary.git_head,
        summary.status,
        summary.step_id,
        summary.step_title,
        summary.nonce,
        summary.depth,
        summary.recap,
        now_ms,
        now_ms,
    )


def gate_of(row: Row) -> GateRow:
    """Return a gate from its fields in order, the stream's name in the place of its session."""
    stream, *rest = row
    session = session_of(stream)
    gate = _value(GateRow, _GATE_FIELDS, (session, *rest), session)
    _check_nonce(gate.nonce, gate.session)
    return gate


def session_of(stream: object) -> object:
    """Return the session of a stream's name; anything else is left for the check."""
    return stream.removeprefix(_SESSION_PREFIX) if isinstance(stream, str) else stream


def stream_of(row: AttemptRow) -> StreamId:
    """Return the stream an attempt belongs to."""
    return session_stream(row.session)


def raw_digest(digest: Digest) -> bytes:
    """Return the 32 bytes that a digest spells."""
    assert digest.startswith(DIGEST_PREFIX)
    return bytes.fromhex(digest.removeprefix(DIGEST_PREFIX))


def read_listed(
    cursor: Cursor, sql: str, values: Sequence[SqlValue], limit: int, of: Callable[[Row], T]
) -> Listing[T]:
    """Return what a statement finds, whose last value is how many rows it may.

    Those that cannot be read take no place: it is asked for more until there are as many others.
    """
    asked = limit
    while True:
        cursor.execute(sql, (*values, asked))
        rows = cursor.fetchall()
        found = listed(rows, of)
        if len(found.rows) >= limit or len(rows) < asked:
            return Listing(found.rows[:limit], found.unreadable)
        asked *= 2


def listed(rows: Iterable[Row], of: Callable[[Row], T]) -> Listing[T]:
    """Return the rows that can be read, and the names of the others: what stands first in each."""
    found: list[T] = []
    unreadable: dict[str, None] = {}
    for row in rows:
        try:
            found.append(of(row))
        except SessionNotHealthy:
            unreadable.setdefault(_shown(session_of(row[0])))
    return Listing(tuple(found), tuple(unreadable))


def checked(kind: type[T], held: object, name: object, remedy: str) -> T:
    """Return what the row of a name holds as a value. Raises SessionNotHealthy."""
    try:
        return msgspec.convert(held, kind, builtin_types=(bytes,))
    except msgspec.ValidationError as error:
        raise damaged_row(name, str(error), remedy) from error


def damaged_row(name: object, problem: str, remedy: str) -> SessionNotHealthy:
    """Return the fault of a row that cannot be read, with one of the remedies above."""
    return SessionNotHealthy(
        f"A stored row of {_shown(name)} is damaged: {problem}.",
        remedy=remedy,
        details={"kind": DAMAGED_ROW},
    )


def _value(
    kind: type[T], fields: tuple[str, ...], values: tuple[object, ...], session: object
) -> T:
    return checked(kind, dict(zip(fields, values, strict=True)), session, OF_A_SESSION)


def _check_nonce(nonce: bytes, session: SessionId) -> None:
    if len(nonce) != NONCE_BYTES:
        raise damaged_row(session, f"its nonce has {len(nonce)} bytes", OF_A_SESSION)


def _shown(name: object) -> str:
    return (name if isinstance(name, str) else ascii(name))[:NAME_SHOWN_MAX]

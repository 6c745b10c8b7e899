"""Rows to values and back: the edge where what a driver returns becomes a checked value."""

from typing import Final, TypeVar

import msgspec

from headway.adapters.storage.database import Row, SqlValue
from headway.adapters.storage.store_faults import DAMAGED_ROW
from headway.domain.errors import SessionNotHealthy
from headway.domain.ids import Digest, SessionId, StreamId, session_stream
from headway.ports.ledger import AttemptRow, Head
from headway.ports.sessions import GateRow, SessionSummary

T = TypeVar("T", AttemptRow, GateRow, SessionSummary, Head)

DIGEST_PREFIX: Final = "sha256:"
_SESSION_PREFIX: Final = session_stream(SessionId(""))
_ATTEMPT_FIELDS: Final = AttemptRow.__struct_fields__
_GATE_FIELDS: Final = GateRow.__struct_fields__
_SUMMARY_FIELDS: Final = SessionSummary.__struct_fields__


def attempt_of(row: Row) -> AttemptRow:
    """Return an attempt from its fields in order, the stream's name in the place of its session."""
    nonce, stream, *rest = row
    return _checked(AttemptRow, _ATTEMPT_FIELDS, (nonce, session_of(stream), *rest))


def head_of(row: Row) -> Head:
    """Return an attempt from its fields in order, after the version of its stream."""
    version, *fields = row
    return _checked(Head, ("version", "row"), (version, attempt_of(tuple(fields))))


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
    return _checked(SessionSummary, _SUMMARY_FIELDS, (session_of(stream), *rest))


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
    return _checked(GateRow, _GATE_FIELDS, (session_of(stream), *rest))


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


def _checked(kind: type[T], fields: tuple[str, ...], values: tuple[object, ...]) -> T:
    try:
        return msgspec.convert(dict(zip(fields, values, strict=True)), kind)
    except msgspec.ValidationError as error:
        raise SessionNotHealthy(
            f"A stored row is damaged: {error}.",
            remedy="Restore the store from a backup; sessions with sound rows are not affected.",
            details={"kind": DAMAGED_ROW},
        ) from error

"""Writes to a ledger, made with a word or two."""

from typing import TypedDict, Unpack

from msgspec.structs import replace

from headway.domain.events import CheckpointSaved, Event, GapRecorded
from headway.domain.ids import (
    AttemptId,
    Digest,
    NodeId,
    SessionId,
    WorkflowHash,
    digest,
    encode_id,
    session_id,
    session_stream,
)
from headway.domain.tokens import nonce_of
from headway.ports.ledger import AttemptRow, Blob, Write
from headway.ports.sessions import SessionSummary

SESSION = session_id(bytes(16))
STREAM = session_stream(SESSION)
NODE = NodeId(encode_id("node", b"n" * 16))


def a_session(number: int) -> SessionId:
    return session_id(number.to_bytes(16, "big"))


def an_attempt(number: int) -> AttemptId:
    return AttemptId(encode_id("attempt", number.to_bytes(16, "big")))


def an_event(number: int = 0, text: str = "c") -> Event:
    return CheckpointSaved(
        node=NODE, attempt=an_attempt(number), opened_at=1, checkpoint=NodeId(text)
    )


def a_blob(data: bytes) -> Blob:
    return Blob(digest=digest(data), data=data)


def a_row(
    number: int,
    *,
    session: SessionId = SESSION,
    node: NodeId = NODE,
    outcome_at: int | None = None,
    blocks: int = 0,
) -> AttemptRow:
    attempt = an_attempt(number)
    return AttemptRow(
        nonce=nonce_of(session, attempt),
        session=session,
        node=node,
        attempt=attempt,
        opened_at=1,
        blocks=blocks,
        outcome_at=outcome_at,
    )


class Origin(TypedDict, total=False):
    """What a test may say of the session it needs."""

    goal: str
    recap: str
    workspace: str
    branch: str | None
    git_head: str | None
    repository: Digest | None


def a_summary(session: SessionId = SESSION, **given: Unpack[Origin]) -> SessionSummary:
    plain = SessionSummary(
        session=session,
        workflow=WorkflowHash(digest(b"workflow")),
        workflow_id="hw.bug-fix",
        workflow_name="Fix a bug",
        goal="Mend the login page",
        workspace="/home/me/project",
        repository=None,
        branch="main",
        git_head=None,
        status="in_progress",
        step_id="step-1",
        step_title="Look",
        nonce=nonce_of(session, an_attempt(0)),
    )
    return replace(plain, **given)


def a_write(version: int = 0, *events: Event, session: SessionId = SESSION) -> Write:
    return Write(
        stream=session_stream(session),
        expected_version=version,
        events=events or (GapRecorded(gaps=()),),
    )

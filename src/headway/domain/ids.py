"""Identifiers: what they look like and how the derived ones come about.

Form: a prefix and 26 characters of lower-case RFC 4648 base32 without padding, coding 16 bytes.
Only session ids and the attempts minted by a rehydrate are drawn at random (by an adapter); every
other id is derived by hash from what it follows, so that a decision replayed names the same things.
"""

import base64
import hashlib
from typing import Final, NewType

SessionId = NewType("SessionId", str)
NodeId = NewType("NodeId", str)
AttemptId = NewType("AttemptId", str)
StreamId = NewType("StreamId", str)
WorkflowHash = NewType("WorkflowHash", str)
Digest = NewType("Digest", str)
RunId = NewType("RunId", str)

ID_BYTES: Final = 16
GATE_CHARACTERS: Final = 20  # of the 12 bytes of a nonce


def encode_id(prefix: str, raw: bytes) -> str:
    """Return `<prefix>_` and the base32 text of the first 16 bytes of `raw`."""
    assert len(raw) >= ID_BYTES
    text = base64.b32encode(raw[:ID_BYTES]).decode("ascii").rstrip("=").lower()
    return f"{prefix}_{text}"


def session_id(raw: bytes) -> SessionId:
    """Name a new session from 16 random bytes."""
    return SessionId(encode_id("sess", raw))


def fresh_attempt(raw: bytes) -> AttemptId:
    """Name an attempt minted by a rehydrate from 16 random bytes: the start of a possible fork."""
    return AttemptId(encode_id("attempt", raw))


def first_attempt(session: SessionId) -> AttemptId:
    """Name the attempt on the root node of a session."""
    return AttemptId(_derived("attempt", "hw_attempt_first_v1", session))


def next_attempt(attempt: AttemptId) -> AttemptId:
    """Name the attempt that follows: on the next node, or after a block on the same."""
    return AttemptId(_derived("attempt", "hw_attempt_next_v1", attempt))


def root_node(session: SessionId) -> NodeId:
    """Name the first node of a session."""
    return NodeId(_derived("node", "hw_node_root_v1", session))


def node_after(attempt: AttemptId) -> NodeId:
    """Name the node that a successful attempt opens."""
    return NodeId(_derived("node", "hw_node_v1", attempt))


def checkpoint_node(attempt: AttemptId) -> NodeId:
    """Name the checkpoint saved under an attempt."""
    return NodeId(_derived("node", "hw_checkpoint_v1", attempt))


def run_id(session: SessionId) -> str:
    """Return the wire's `runId` of a session: `run_` and the session's suffix."""
    return "run_" + session.removeprefix("sess_")


def gate_id(nonce: bytes) -> str:
    """Return the name of the gate an attempt opened: `gate_` and the base32 text of its nonce."""
    return "gate_" + base64.b32encode(nonce).decode("ascii").rstrip("=").lower()


def gate_nonce(name: str) -> bytes | None:
    """Return the nonce of the attempt a gate is named for, None when it is no name of a gate."""
    prefix, _, text = name.partition("_")
    if len(text) != GATE_CHARACTERS:
        return None
    try:
        nonce = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
    except ValueError:
        return None
    return nonce if prefix == "gate" and gate_id(nonce) == name else None


def session_stream(session: SessionId) -> StreamId:
    """Return the stream that holds a session's events."""
    return StreamId(f"session:{session}")


def task_id(raw: bytes) -> RunId:
    """Name a new run, and the queue row that is its task, from 16 random bytes."""
    return RunId(encode_id("task", raw))


def run_stream(run: RunId) -> StreamId:
    """Return the stream that holds a run's events."""
    return StreamId(f"run:{run}")


def digest(data: bytes) -> Digest:
    """Return `sha256:` and the lower-case hex SHA-256 of `data`."""
    return Digest("sha256:" + hashlib.sha256(data).hexdigest())


def _derived(prefix: str, label: str, source: str) -> str:
    return encode_id(prefix, hashlib.sha256(f"{label}:{source}".encode()).digest())

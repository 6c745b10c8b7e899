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

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS: Final = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
_PAIR_BITS: Final = 10
_PAIR_SHIFTS: Final = range(8 * ID_BYTES + 2 - _PAIR_BITS, -1, -_PAIR_BITS)  # 13 pairs are 130 bits


def encode_id(prefix: str, raw: bytes) -> str:
    """Return `<prefix>_` and the base32 text of the first 16 bytes of `raw`."""
    assert len(raw) >= ID_BYTES
    # Not `base64.b32encode`: it is written for long texts, and an advance names two ids.
    bits = int.from_bytes(raw[:ID_BYTES]) << 2
    return f"{prefix}_" + "".join([_PAIRS[bits >> shift & 1023] for shift in _PAIR_SHIFTS])


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


def session_called(ledger_id: str, call_key: str) -> SessionId:
    """Name the session that a start with this call key begins in a ledger."""
    text = f"hw_session_called_v1\0{ledger_id}\0{call_key}"
    return session_id(hashlib.sha256(text.encode()).digest())


def session_stream(session: SessionId) -> StreamId:
    """Return the stream that holds a session's events."""
    return StreamId(f"session:{session}")


def task_id(raw: bytes) -> RunId:
    """Name a new run, and the queue row that is its task, from 16 random bytes."""
    return RunId(encode_id("task", raw))


def run_stream(run: RunId) -> StreamId:
    """Return the stream that holds a run's events."""
    return StreamId(f"run:{run}")


def run_of(stream: StreamId) -> RunId | None:
    """Return the run whose events a stream holds, None for a stream of another kind."""
    kind, _, name = stream.partition(":")
    return RunId(name) if kind == "run" else None


def digest(data: bytes) -> Digest:
    """Return `sha256:` and the lower-case hex SHA-256 of `data`."""
    return Digest("sha256:" + hashlib.sha256(data).hexdigest())


def _derived(prefix: str, label: str, source: str) -> str:
    return encode_id(prefix, hashlib.sha256(f"{label}:{source}".encode()).digest())
